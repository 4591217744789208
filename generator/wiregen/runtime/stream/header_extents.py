"""The ends of a sender's frames if the first bytes of each give its size; `sender_extents` finds those of others."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..lazy import Lazy
from ..reference.layout import Layout
from ..schema.declarations import Field, Trailing
from ..schema.expressions import Number
from ..schema.types import Bytes, Computed, Float, InSize, Integer, Prefix, Region, Uuid
from .header import Header, header_of
from .number_steps import BYTES, SKIP, EndUnknown, Step, Wrong, constant_of, length_step, number_step

if TYPE_CHECKING:
    from ..codec.options import Options
    from ..schema.protocol import Schema
    from .extent_interface import Extents

__all__ = ["EndUnknown", "HeaderExtents", "extents_of", "header_of_frame"]

_EXTENTS = Lazy("stream.sender_extents", "SenderExtents")


class HeaderExtents:
    """The ends of frames of one sender whose first bytes always give their size."""

    __slots__ = ("_header",)
    end_unknown: type[Exception] = EndUnknown
    wrong: type[Exception] = Wrong

    def __init__(self, header: Header) -> None:
        self._header = header

    def begin(self, data: bytes | bytearray, start: int) -> Header:
        """Return the object that measures a frame."""
        return self._header


def extents_of(schema: Schema, options: Options) -> Extents:
    """Return the object that finds the ends of one sender's frames."""
    layout = Layout(schema, options)
    header = header_of_frame(layout, layout.frame_of(options.from_role))
    if header is not None:
        return HeaderExtents(header)
    extents: Extents = _EXTENTS.load()(schema, options)
    return extents


def header_of_frame(layout: Layout, name: str) -> Header | None:
    """Return how the first numbers of a frame give its size, or None if they do not."""
    steps = [_step(layout, field) for field in layout.frames[name].fields]
    known = tuple(step for step in steps if step is not None)
    return header_of(known, layout.frame) if len(known) == len(steps) else None


def _step(layout: Layout, field: Field) -> Step | None:
    """Return the step of a number, of a fixed size or of a size given by a number; None for other fields."""
    if field.condition is not None or isinstance(field.value, Trailing):
        return None
    match field.type:
        case Uuid() | Float():
            return (SKIP, field.type.size)
        case Bytes(Computed(expression)) | Region(_, InSize(expression)):
            return (SKIP, expression.value) if isinstance(expression, Number) else (BYTES, expression, 1)
        case Bytes(Prefix(Integer() as length)) | Region(_, Prefix(Integer() as length)):
            return length_step(length, 1)
        case type_:
            return number_step(layout, type_, field.name, constant_of(field.value))
