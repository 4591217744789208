"""Frames and messages as they are given to `encode` and `send`, of the caller's own subclasses too, with fields of the header."""

from __future__ import annotations

from .classes import Envelope, in_class
from .errors import EncodeError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any, TypeAlias

    FrameClass: TypeAlias = (
        Any  # a class of a generated package: its arguments are the message and the header
    )

__all__ = ["in_frame", "in_its_frame"]


def in_its_frame(value: object, given: Mapping[str, object], frames: Mapping[type, FrameClass]) -> FrameClass:
    """Return a message in its frame, or a frame, with the given fields of its header; None for other values.

    `frames`: the class of the frame of each message, and of each frame.

    Raises:
        EncodeError: As by `in_frame`.
    """
    kind = type(value)
    if type(kind) is type and kind in frames:  # a class of a metaclass may raise where its hash is asked
        frame = frames[kind]
        if frame is kind and not given:
            return value
    else:
        frame = next((frame for each, frame in frames.items() if issubclass(kind, each)), None)
    return None if frame is None else in_frame(frame, value, given)


def in_frame(frame: FrameClass, value: object, given: Mapping[str, object]) -> FrameClass:
    """Return a message in a frame with the given fields of its header; a frame, or preamble, with these changed.

    A value of a subclass of `frame` becomes one of `frame` itself: each of its attributes is read once.

    Raises:
        EncodeError: The frame has no such field, a field that must be given is missing, or an attribute cannot be read.
    """
    if issubclass(type(value), frame):
        error = _foreign(frame, given) if given else None
        if error is None:
            return in_class(frame, value, given)
        raise error
    try:
        return frame(value, **given)
    except TypeError:
        error = _foreign(frame, given) or _missing(frame, value, given)
    raise error


def _name(frame: FrameClass) -> str:
    name: str = frame._NAME or frame.__name__
    return name


def _header(frame: FrameClass) -> tuple[str, ...]:
    """Return the fields of a frame's header; a preamble has none."""
    fields: tuple[str, ...] = frame.__match_args__[1:] if issubclass(frame, Envelope) else ()
    return fields


def _foreign(frame: FrameClass, given: Mapping[str, object]) -> EncodeError | None:
    """Return the error of a given field that a frame does not have."""
    fields = _header(frame)
    foreign = sorted(given.keys() - set(fields))
    if not foreign:
        return None
    expected = f"fields of its header: {', '.join(fields)}" if fields else "no field of a header"
    return EncodeError("invalid_value", path=_name(frame), expected=expected, found=foreign[0])


def _missing(frame: FrameClass, message: object, given: Mapping[str, object]) -> EncodeError:
    """Return the error of a field that must be given: no frame can be made without it."""
    fields = _header(frame)
    for missing in fields:
        others = {field: None for field in fields if field != missing or field in given}
        try:
            frame(message, **others)
        except TypeError:
            path, expected = f"{_name(frame)}.{missing}", f"encode(message, {missing}=…)"
            return EncodeError("invalid_value", path=path, expected=expected, found="nothing")
    raise AssertionError("a frame refuses the fields of its header")
