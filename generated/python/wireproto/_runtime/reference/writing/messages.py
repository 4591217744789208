"""Messages that a reader finds by their codes."""

from __future__ import annotations

from typing import Any

from ...codec.errors import EncodeError
from ...schema.expressions import Expression
from ...schema.types import MessageMatch, MessageReference
from ..access import kind_of, unknown_of
from ..expressions import Undefined, evaluate
from ..tree import Unknown
from .cells import Spot
from .records import write_message
from .row_scope import RowScope
from .writer import Writer

__all__ = ["place_of", "write_message_match"]


def place_of(spot: Spot) -> str:
    """Return the path of a value for errors, or that of its row if the value has no path."""
    return spot.path or spot.row.path


def write_message_match(writer: Writer, type_: MessageMatch, value: Any, spot: Spot) -> bytes:
    """Return the bytes of a message that a reader finds by its code."""
    subject, only = type_.subject, type_.only
    unknown = unknown_of(value, writer.layout.messages, place_of(spot))
    if unknown is not None:
        return _unknown(writer, unknown, subject, spot)
    name = writer.message_name(value)
    if name is None:
        raise EncodeError("invalid_value", path=place_of(spot), expected="a message", found=kind_of(value))
    if only is not None and name not in only:
        raise EncodeError("constraint", path=place_of(spot), expected=f"only {', '.join(only)}", found=name)
    code, role = writer.layout.messages[name].code, writer.layout.messages[name].role
    _refuse_foreign(writer, role, name, spot)
    if code is None or writer.layout.message_of(code, writer.sender or role, writer.frame) != name:
        raise EncodeError(
            "unknown_code", path=place_of(spot), expected="a message with a code here", found=name
        )
    _check_subject(subject, code, spot)
    return write_message(writer, MessageReference(name), value, spot)


def _refuse_foreign(writer: Writer, role: str | None, name: str, spot: Spot) -> None:
    """Refuse a message of the other role, which has frames of its own.

    Raises:
        EncodeError: unknown_code.
    """
    if role is None or writer.frame is None or writer.layout.frame_of(role) == writer.frame:
        return
    expected = f"a message that {writer.layout.frames[writer.frame].role} sends"
    raise EncodeError("unknown_code", path=place_of(spot), expected=expected, found=name)


def _check_subject(subject: Expression, code: int, spot: Spot) -> None:
    """Check the code against the subject that a reader will use; if only a context has it, the message's
    code is accepted.
    """

    def check() -> None:
        try:
            found = evaluate(subject, RowScope(spot.row, spot.start))
        except Undefined:
            return
        if found != code:
            raise EncodeError("unknown_code", path=place_of(spot), expected=f"code {code}", found="another")

    spot.row.later(check)


def _unknown(writer: Writer, unknown: Unknown, subject: Expression, spot: Spot) -> bytes:
    known = None if unknown.code is None else _known(writer, unknown.code)
    if known is not None:  # a reader would take the bytes for that message
        expected, found = "a code that no message has", f"that of {known}"
        raise EncodeError("unknown_code", path=place_of(spot), expected=expected, found=found)
    if not (spot.around.is_bounded and spot.around.is_last):
        raise EncodeError("undelimitable", path=place_of(spot), expected="a known message", found="Unknown")
    if unknown.code is not None:
        _check_subject(subject, unknown.code, spot)
    return unknown.data


def _known(writer: Writer, code: int) -> str | None:
    """Return the message with a code: a reader decodes it as that message, or refuses it as the other role's."""
    known = writer.layout.message_of(code, writer.sender, writer.frame)
    return (
        known if known is not None or writer.frame is None else writer.layout.foreign_of(code, writer.frame)
    )
