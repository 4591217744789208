"""What is chosen by a number: unions, arms of a match, messages by their code."""

from __future__ import annotations

from functools import partial
from typing import Any

from .access import kind_of, unknown_of
from .cells import UNSEEN, Spot
from .errors import EncodeError
from .expressions import Undefined, evaluate
from .row_scope import RowScope
from .rows import Row
from .scalars import scalar
from .schema import Type
from .tree import Unknown
from .writer import Writer
from .writing_records import write_message

__all__ = ["write_match", "write_message_match", "write_union"]

_ANY = object()
"""Stands for a subject that only a context could tell."""


def write_union(writer: Writer, type_: Type, value: Any, spot: Spot) -> bytes:
    _, name, only, _ = type_
    code_type, varieties, _ = writer.schema.plan["unions"][name]
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
    is_open = "context" in writer.unknowable
    number = spot.row.worth_at(subject, spot.path, spot.start, otherwise=_ANY if is_open else UNSEEN)
    for patterns, arm in arms:
        if number is _ANY:
            data = spot.row.attempt(partial(writer.write, arm, value, spot))
            if data is not None:
                return data
        elif not patterns or _covers(patterns, number):
            return writer.write(arm, value, spot)
    if number is _ANY:
        return writer.write(arms[-1][1], value, spot)
    raise EncodeError("unknown_code", path=_place(spot), expected="a known choice", found="another")


def _covers(patterns: tuple[tuple[int, int], ...], number: Any) -> bool:
    return isinstance(number, int) and any(low <= number <= high for low, high in patterns)


def _place(spot: Spot) -> str:
    return spot.path or spot.row.path


def write_message_match(writer: Writer, type_: Type, value: Any, spot: Spot) -> bytes:
    """Return the bytes of a message that a reader finds by its code."""
    _, subject, only, _ = type_
    unknown = unknown_of(value, writer.schema.messages, _place(spot))
    if unknown is not None:
        return _unknown(unknown, subject, spot)
    name = writer.message_name(value)
    if name is None:
        raise EncodeError("invalid_value", path=_place(spot), expected="a message", found=kind_of(value))
    if only is not None and name not in only:
        raise EncodeError("constraint", path=_place(spot), expected=f"only {', '.join(only)}", found=name)
    code, role, _ = writer.schema.messages[name]
    if code is None or writer.schema.message_of(code, writer.sender or role) != name:
        raise EncodeError(
            "unknown_code", path=_place(spot), expected="a message with a code here", found=name
        )
    _check_subject(subject, code, spot)
    return write_message(writer, ("message", name), value, spot)


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


def _unknown(unknown: Unknown, subject: Any, spot: Spot) -> bytes:
    if not (spot.around.is_bounded and spot.around.is_last):
        raise EncodeError("undelimitable", path=_place(spot), expected="a known message", found="Unknown")
    if unknown.code is not None:
        _check_subject(subject, unknown.code, spot)
    return unknown.data
