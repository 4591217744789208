"""What was written is read back, where some condition asked what only a reader knows."""

from __future__ import annotations

from ...codec.errors import DecodeError, EncodeError
from ...codec.options import Options
from ...records.frames import frame_record
from ...schema.protocol import Schema
from ..access import declared_name
from ..tree import FrameValue

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

__all__ = ["refuse_unreadable"]


def refuse_unreadable(plan: Schema, name: str, value: Any, data: bytes, options: Options) -> None:
    """Refuse bytes that come back as an error or as another value: with them all there a condition says otherwise.

    Raises:
        EncodeError: constraint.
    """
    from ..explain import explain

    shown = value if declared_name(value) == name else FrameValue(name, {}, value)
    sent = Options(_sender(plan, name, shown, options), context=options.context, variant=options.variant)
    try:
        node = explain(plan, data, 0, len(data), sent, is_preamble=name in plan.preambles)
    except DecodeError as error:
        expected = error.expected or "what can be read"
        raise EncodeError("constraint", path=error.path, expected=expected) from None
    is_same = _fields(plan, node.value, options) == _fields(plan, shown, options)
    if node.end != len(data) or not is_same:
        raise EncodeError("constraint", path=name, expected="what is read as the same", found="another value")


def _sender(plan: Schema, name: str, value: Any, options: Options) -> str | None:
    """Return the role that sends a preamble or a frame: the one that is told, else the only one that may."""
    if name in plan.preambles:
        return plan.preambles[name].role
    message = plan.messages.get(declared_name(getattr(value, "message", None)))
    return options.from_role or plan.frames[name].role or (None if message is None else message.role)


def _fields(plan: Schema, value: Any, options: Options) -> Any:
    return frame_record(plan, value, variant=options.variant)["fields"]
