"""What was written is read back, where some condition asked what only a reader knows."""

from __future__ import annotations

from .access import declared_name
from .errors import DecodeError, EncodeError
from .options import Options, Plan
from .records import frame_record
from .tree import FrameValue

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

__all__ = ["refuse_unreadable"]


def refuse_unreadable(plan: Plan, name: str, value: Any, data: bytes, options: Options) -> None:
    """Refuse bytes that come back as an error or as another value: with them all there a condition says otherwise.

    Raises:
        EncodeError: constraint.
    """
    from .explain import explain

    role = plan["preambles"].get(name, (None,))[0]
    sent = Options(role or options.from_role, context=options.context, variant=options.variant)
    try:
        node = explain(plan, data, 0, len(data), sent, is_preamble=role is not None)
    except DecodeError as error:
        expected = error.expected or "what can be read"
        raise EncodeError("constraint", path=error.path, expected=expected) from None
    shown = value if declared_name(value) == name else FrameValue(name, {}, value)
    is_same = _fields(plan, node.value, options) == _fields(plan, shown, options)
    if node.end != len(data) or not is_same:
        raise EncodeError("constraint", path=name, expected="what is read as the same", found="another value")


def _fields(plan: Plan, value: Any, options: Options) -> Any:
    return frame_record(plan, value, variant=options.variant)["fields"]
