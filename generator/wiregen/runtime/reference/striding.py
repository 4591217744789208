"""Skips the valid items of a list while searching for an error: plain fields are measured, without values.

The values of other items are dropped. Without this a peer could, with one bad item after many good ones,
make the reference codec read all of them.
"""

from __future__ import annotations

from typing import NamedTuple

from ..codec.text import decode_text
from ..schema.declarations import Default
from ..schema.types import (
    Boolean,
    Bytes,
    Float,
    Integer,
    List,
    Prefix,
    StructReference,
    Text,
    Type,
    Until,
    Uuid,
)
from .reading.reader import Reader
from .tree import Cut
from .window import Place

__all__ = ["Stride", "stride_of"]


class StrideStep(NamedTuple):
    """The bytes that one plain field takes: a fixed size, or a prefix and as many bytes or pairs of bytes as it gives."""

    size: int
    is_strict_flag: bool = False
    prefix: Integer | None = None
    text: Text | None = None
    is_lenient: bool = False


class Stride:
    """One list whose first items are shown; later ones are skipped, or read and not kept. Nodes of items are not kept.

    Attributes:
        shows: The value of the item that is read now is kept.
    """

    __slots__ = ("_hidden_from", "_is_asked", "_reader", "_steps", "shows")

    def __init__(self, reader: Reader, steps: tuple[StrideStep, ...] | None) -> None:
        """`steps`: the sizes of an item's plain fields, or None if it has others, so that each item is read."""
        self._reader = reader
        self._steps = steps
        self._hidden_from = reader.hidden_from
        self._is_asked: bool | None = None
        self.shows = True

    def is_past(self, place: Place) -> bool:
        """Skip the next item and return True; if it is bad, cut off or to be shown, it must be read."""
        reader = self._reader
        if reader.items_left and not self._hidden_from:
            reader.items_left -= 1
            return False
        if self.shows and not self._hides():
            return False
        position = None if self._steps is None else self._behind(reader.window.position, self._steps)
        if position is None:
            return False
        reader.spend_work(1, place)
        reader.window.position = position
        return True

    def end(self) -> None:
        """Show the elements after the list again."""
        self._reader.hidden_from = self._hidden_from

    def _hides(self) -> bool:
        """Stop showing items and return True; not if an expression needs their values, or the element that
        holds the list.
        """
        reader = self._reader
        if self._is_asked is None:
            around = reader.building[self._hidden_from :]
            self._is_asked = reader.is_kept or any(reader.asks_for(name) for name, _ in around)
        if self._is_asked:
            return False
        self.shows = False
        reader.has_dropped = True
        reader.hidden_from = len(reader.building)
        name, values = reader.building[-1]
        assert isinstance(values, list)
        reader.building[-1] = (name, Cut(values))
        return True

    def _behind(self, position: int, steps: tuple[StrideStep, ...]) -> int | None:
        """Return the end of an item that begins here, or None if the reference codec must examine it."""
        window = self._reader.window
        data, end = window.data, min(window.available, window.frame_end)
        end = end if window.end is None else min(end, window.end)
        for step in steps:
            start = position
            position += step.size
            if position > end or (step.is_strict_flag and data[start] > 1):
                return None
            if step.prefix is None:
                continue
            length = step.prefix.decode(data[start:position])
            start = position
            position += length * (2 if step.text is not None and step.text.encoding == "utf16" else 1)
            if length < 0 or position > end:
                return None
            if step.text is not None and not _is_text(bytes(data[start:position]), step):
                return None
        return position


def _is_text(data: bytes, step: StrideStep) -> bool:
    assert step.text is not None
    try:
        decode_text(data, step.text.encoding, step.is_lenient, step.text.endian)
    except UnicodeDecodeError:
        return False
    return True


def stride_of(reader: Reader, type_: List) -> Stride | None:
    """Return the object that skips the items of a list, or None if each is read and kept."""
    if not reader.is_quick:
        return None
    is_judged = type_.where is not None or isinstance(type_.length, Until)
    return Stride(reader, None if is_judged else _steps(reader, type_.item) or None)


def _steps(reader: Reader, type_: Type) -> tuple[StrideStep, ...] | None:
    """Return the steps of an item, or None if it has fields that are not plain."""
    if not isinstance(type_, StructReference):
        step = _step(reader, type_)
        return None if step is None else (step,)
    found = []
    for field in reader.layout.structs[type_.name]:
        is_plain = field.condition is None and field.where is None
        is_plain = is_plain and (field.value is None or isinstance(field.value, Default))
        step = _step(reader, field.type) if is_plain else None
        if step is None:
            return None
        found.append(step)
    return tuple(found)


def _step(reader: Reader, type_: Type) -> StrideStep | None:
    is_tolerant = not reader.layout.strict
    match type_:
        case Integer() | Float() | Uuid():
            return StrideStep(type_.size)
        case Boolean(is_lenient):
            return StrideStep(1, is_strict_flag=not (is_lenient and is_tolerant))
        case Bytes(Prefix(Integer() as prefix)):
            return StrideStep(prefix.size, prefix=prefix)
        case Text(_, Prefix(Integer() as prefix), is_lenient):
            return StrideStep(prefix.size, prefix=prefix, text=type_, is_lenient=is_lenient and is_tolerant)
        case _:
            return None
