"""Messages put into frames whose header must be given, at least in part."""

from __future__ import annotations

from .errors import EncodeError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any, TypeAlias

    FrameClass: TypeAlias = (
        Any  # a class of a generated package: its arguments are the message and the header
    )

__all__ = ["in_frame"]


def in_frame(frame: FrameClass, message: object, given: Mapping[str, object]) -> FrameClass:
    """Return a message in a frame with the given fields of its header.

    Raises:
        EncodeError: The frame has no such field, or a field that must be given is missing.
    """
    try:
        return frame(message, **given)
    except TypeError:
        error = _fault(frame, message, given)
    raise error


def _fault(frame: FrameClass, message: object, given: Mapping[str, object]) -> EncodeError:
    """Return why a frame takes no such header: a field must be given if no frame can be made without it."""
    name, fields = frame._NAME or frame.__name__, frame.__match_args__[1:]
    foreign = sorted(given.keys() - set(fields))
    if foreign:
        expected = f"fields of its header: {', '.join(fields)}" if fields else "no field of a header"
        return EncodeError("invalid_value", path=name, expected=expected, found=foreign[0])
    for missing in fields:
        others = {field: None for field in fields if field != missing or field in given}
        try:
            frame(message, **others)
        except TypeError:
            path, expected = f"{name}.{missing}", f"encode(message, {missing}=…)"
            return EncodeError("invalid_value", path=path, expected=expected, found="nothing")
    raise AssertionError("a frame refuses the fields of its header")
