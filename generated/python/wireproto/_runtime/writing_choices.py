"""What is chosen by a number: unions, arms of a match, messages by their code."""

from __future__ import annotations

from functools import partial
from typing import Any

from .access import kind_of, unknown_of
from .cells import UNSEEN, Spot, is_flat
from .errors import EncodeError
from .expressions import Circular, Undefined, evaluate
from .layout import Type
from .record_types import accepts
from .row_scope import RowScope
from .rows import Row
from .scalars import scalar
from .schema.types import MessageReference
from .tree import Unknown
from .writer import Writer
from .writing_records import write_message

__all__ = ["write_match", "write_message_match", "write_union"]

_ANY = object()
"""Stands for a subject that only a context could tell."""


def write_union(writer: Writer, type_: Type, value: Any, spot: Spot) -> bytes:
    _, name, only, _ = type_
    code_type, varieties, _ = writer.schema.plan.unions[name]
    variety = writer.variety(name, value, spot.path)
    if only is not None and variety.name not in only:
        raise EncodeError(
            "constraint", path=spot.path, expected=f"only {', '.join(only)}", found=variety.name
        )
    writer.enter("union", name, spot.path)
    fields = next(fields for _, other, fields, _ in varieties if other == variety.name)
    if writer.schema.fields_reach_end(fields) and not (spot.around.is_last and spot.around.has_end):
        raise EncodeError(
            "undelimitable", path=spot.path, expected="a variety with an end", found=variety.name
        )
    code = scalar(writer.schema.plan, code_type, variety.code, spot.path)
    row = Row(writer, fields, value, f"{spot.path}.{variety.name}", frame=spot.row.frame)
    spot.cell.inner = row
    data = code + row.write(spot.behind(len(code)), spot.around)
    writer.leave("union", name)
    return data


def write_match(writer: Writer, type_: Type, value: Any, spot: Spot) -> bytes:
    """Return the bytes of the arm that takes the subject."""
    _, subject, arms = type_
    try:
        is_open = "context" in writer.unknowable
        number = spot.row.worth_at(subject, spot.path, spot.start, otherwise=_ANY if is_open else UNSEEN)
    except Circular:
        return _write_sized_arm(writer, type_, value, spot)
    if number is _ANY:
        return _write_fitting(writer, arms, value, spot)
    for patterns, arm in arms:
        if not patterns or _covers(patterns, number):
            return writer.write(arm, value, spot)
    raise _no_arm(spot)


def _write_fitting(writer: Writer, arms: Any, value: Any, spot: Spot) -> bytes:
    """Return the bytes of the first arm that takes the value."""
    for _, arm in arms[:-1]:
        data = spot.row.attempt(partial(writer.write, arm, value, spot))
        if data is not None:
            return data
    return writer.write(arms[-1][1], value, spot)


def _write_sized_arm(writer: Writer, type_: Type, value: Any, spot: Spot) -> bytes:
    """Return the bytes of the arm that takes the value, where its size decides the arm: that is compared afterwards."""
    _, subject, arms = type_
    fitting = [
        (patterns, arm) for patterns, arm in arms if is_flat(arm) or accepts(writer.schema, arm, value)
    ]
    chosen: list[Type] = []

    def write(arm: Type) -> bytes:
        chosen[:] = [arm]
        return writer.write(arm, value, spot)

    def compare() -> None:
        number = spot.row.worth_at(subject, spot.path, spot.start)
        taken = next((arm for patterns, arm in arms if not patterns or _covers(patterns, number)), None)
        if taken is None:
            raise _no_arm(spot)
        if taken is not chosen[0]:
            expected = "a value of the size that chooses its layout"
            raise EncodeError("constraint", path=_place(spot), expected=expected, found=f"size {number}")

    for _, arm in fitting[:-1]:
        data = spot.row.attempt(partial(write, arm))
        if data is not None:
            spot.row.later(compare)
            return data
    data = write(fitting[-1][1] if fitting else arms[-1][1])
    spot.row.later(compare)
    return data


def _no_arm(spot: Spot) -> EncodeError:
    return EncodeError("unknown_code", path=_place(spot), expected="a known choice", found="another")


def _covers(patterns: tuple[tuple[int, int], ...], number: Any) -> bool:
    return isinstance(number, int) and any(low <= number <= high for low, high in patterns)


def _place(spot: Spot) -> str:
    return spot.path or spot.row.path


def write_message_match(writer: Writer, type_: Type, value: Any, spot: Spot) -> bytes:
    """Return the bytes of a message that a reader finds by its code."""
    _, subject, only, _ = type_
    unknown = unknown_of(value, writer.schema.messages, _place(spot))
    if unknown is not None:
        return _unknown(writer, unknown, subject, spot)
    name = writer.message_name(value)
    if name is None:
        raise EncodeError("invalid_value", path=_place(spot), expected="a message", found=kind_of(value))
    if only is not None and name not in only:
        raise EncodeError("constraint", path=_place(spot), expected=f"only {', '.join(only)}", found=name)
    code, role, _ = writer.schema.messages[name]
    _refuse_foreign(writer, role, name, spot)
    if code is None or writer.schema.message_of(code, writer.sender or role, writer.frame) != name:
        raise EncodeError(
            "unknown_code", path=_place(spot), expected="a message with a code here", found=name
        )
    _check_subject(subject, code, spot)
    return write_message(writer, MessageReference(name), value, spot)


def _refuse_foreign(writer: Writer, role: str | None, name: str, spot: Spot) -> None:
    """Refuse a message of the other role, which has frames of its own.

    Raises:
        EncodeError: unknown_code.
    """
    if role is None or writer.frame is None or writer.schema.frame_of(role) == writer.frame:
        return
    expected = f"a message that {writer.schema.frames[writer.frame][0]} sends"
    raise EncodeError("unknown_code", path=_place(spot), expected=expected, found=name)


def _check_subject(subject: Any, code: int, spot: Spot) -> None:
    """Compare the code with what a reader will look at; where only a context tells, the message names itself."""

    def check() -> None:
        try:
            found = evaluate(subject, RowScope(spot.row, spot.start))
        except Undefined:
            return
        if found != code:
            raise EncodeError("unknown_code", path=_place(spot), expected=f"code {code}", found="another")

    spot.row.later(check)


def _unknown(writer: Writer, unknown: Unknown, subject: Any, spot: Spot) -> bytes:
    known = None if unknown.code is None else _known(writer, unknown.code)
    if known is not None:  # a reader would take the bytes for that message
        expected, found = "a code that no message has", f"that of {known}"
        raise EncodeError("unknown_code", path=_place(spot), expected=expected, found=found)
    if not (spot.around.is_bounded and spot.around.is_last):
        raise EncodeError("undelimitable", path=_place(spot), expected="a known message", found="Unknown")
    if unknown.code is not None:
        _check_subject(subject, unknown.code, spot)
    return unknown.data


def _known(writer: Writer, code: int) -> str | None:
    """Return the message that has a code: a reader takes it for that, or refuses it as the other role's."""
    known = writer.schema.message_of(code, writer.sender, writer.frame)
    return (
        known if known is not None or writer.frame is None else writer.schema.foreign_of(code, writer.frame)
    )
