"""What is chosen by a number: unions, arms of a match, messages by their code."""

from __future__ import annotations

from functools import partial
from typing import Any

from ...codec.errors import EncodeError
from ...records.types import accepts
from ...schema.expressions import Expression
from ...schema.shapes import is_flat
from ...schema.types import Arm, Match, MessageMatch, MessageReference, Span, Type, UnionReference
from ..access import kind_of, unknown_of
from ..expressions import Circular, Undefined, evaluate
from ..scalars import scalar
from ..tree import Unknown
from .cells import UNSEEN, Spot
from .records import write_message
from .row_scope import RowScope
from .rows import Row
from .writer import Writer

__all__ = ["write_match", "write_message_match", "write_union"]

_ANY = object()
"""Stands for a subject that only a context could tell."""


def write_union(writer: Writer, type_: UnionReference, value: Any, spot: Spot) -> bytes:
    name, only = type_.name, type_.only
    union = writer.schema.plan.unions[name]
    variety = writer.variety(name, value, spot.path)
    if only is not None and variety.name not in only:
        raise EncodeError(
            "constraint", path=spot.path, expected=f"only {', '.join(only)}", found=variety.name
        )
    writer.enter("union", name, spot.path)
    fields = next(each.fields for each in union.varieties if each.name == variety.name)
    if writer.schema.fields_reach_end(fields) and not (spot.around.is_last and spot.around.has_end):
        raise EncodeError(
            "undelimitable", path=spot.path, expected="a variety with an end", found=variety.name
        )
    code = scalar(writer.schema.plan, union.type, variety.code, spot.path)
    row = Row(writer, fields, value, f"{spot.path}.{variety.name}", frame=spot.row.frame)
    spot.cell.inner = row
    data = code + row.write(spot.behind(len(code)), spot.around)
    writer.leave("union", name)
    return data


def write_match(writer: Writer, type_: Match, value: Any, spot: Spot) -> bytes:
    """Return the bytes of the arm that takes the subject."""
    try:
        is_open = "context" in writer.unknowable
        number = spot.row.worth_at(
            type_.subject, spot.path, spot.start, otherwise=_ANY if is_open else UNSEEN
        )
    except Circular:
        return _write_sized_arm(writer, type_, value, spot)
    if number is _ANY:
        return _write_fitting(writer, type_.arms, value, spot)
    arm = _arm_of(type_, number)
    if arm is None:
        raise _no_arm(spot)
    return writer.write(arm.type, value, spot)


def _write_fitting(writer: Writer, arms: tuple[Arm, ...], value: Any, spot: Spot) -> bytes:
    """Return the bytes of the first arm that takes the value."""
    for arm in arms[:-1]:
        data = spot.row.attempt(partial(writer.write, arm.type, value, spot))
        if data is not None:
            return data
    return writer.write(arms[-1].type, value, spot)


def _write_sized_arm(writer: Writer, type_: Match, value: Any, spot: Spot) -> bytes:
    """Return the bytes of the arm that takes the value, where its size decides the arm: that is compared afterwards."""
    types = [arm.type for arm in type_.arms]
    fitting = [each for each in types if is_flat(each) or accepts(writer.schema, each, value)]
    chosen: list[Type] = []

    def write(arm: Type) -> bytes:
        chosen[:] = [arm]
        return writer.write(arm, value, spot)

    def compare() -> None:
        number = spot.row.worth_at(type_.subject, spot.path, spot.start)
        taken = _arm_of(type_, number)
        if taken is None:
            raise _no_arm(spot)
        if taken.type is not chosen[0]:
            expected = "a value of the size that chooses its layout"
            raise EncodeError("constraint", path=_place(spot), expected=expected, found=f"size {number}")

    for each in fitting[:-1]:
        data = spot.row.attempt(partial(write, each))
        if data is not None:
            spot.row.later(compare)
            return data
    data = write(fitting[-1] if fitting else types[-1])
    spot.row.later(compare)
    return data


def _no_arm(spot: Spot) -> EncodeError:
    return EncodeError("unknown_code", path=_place(spot), expected="a known choice", found="another")


def _arm_of(type_: Match, number: Any) -> Arm | None:
    """Return the first arm that has a value of the subject."""
    return next((arm for arm in type_.arms if not arm.spans or _covers(arm.spans, number)), None)


def _covers(spans: tuple[Span, ...], number: Any) -> bool:
    return isinstance(number, int) and any(span.low <= number <= span.high for span in spans)


def _place(spot: Spot) -> str:
    return spot.path or spot.row.path


def write_message_match(writer: Writer, type_: MessageMatch, value: Any, spot: Spot) -> bytes:
    """Return the bytes of a message that a reader finds by its code."""
    subject, only = type_.subject, type_.only
    unknown = unknown_of(value, writer.schema.messages, _place(spot))
    if unknown is not None:
        return _unknown(writer, unknown, subject, spot)
    name = writer.message_name(value)
    if name is None:
        raise EncodeError("invalid_value", path=_place(spot), expected="a message", found=kind_of(value))
    if only is not None and name not in only:
        raise EncodeError("constraint", path=_place(spot), expected=f"only {', '.join(only)}", found=name)
    code, role = writer.schema.messages[name].code, writer.schema.messages[name].role
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
    expected = f"a message that {writer.schema.frames[writer.frame].role} sends"
    raise EncodeError("unknown_code", path=_place(spot), expected=expected, found=name)


def _check_subject(subject: Expression, code: int, spot: Spot) -> None:
    """Compare the code with what a reader will look at; where only a context tells, the message names itself."""

    def check() -> None:
        try:
            found = evaluate(subject, RowScope(spot.row, spot.start))
        except Undefined:
            return
        if found != code:
            raise EncodeError("unknown_code", path=_place(spot), expected=f"code {code}", found="another")

    spot.row.later(check)


def _unknown(writer: Writer, unknown: Unknown, subject: Expression, spot: Spot) -> bytes:
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
