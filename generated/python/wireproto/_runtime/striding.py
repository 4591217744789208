"""Goes past the good items of a long list where only a fault is looked for: plain fields, measured and not made.

Without it a peer could ask, with one bad item at the end of many, for the careful reading of all of them.
"""

from __future__ import annotations

from typing import NamedTuple

from .reader import Reader
from .schema.declarations import Default
from .schema.expressions import FieldReference
from .schema.node import nodes_in
from .schema.protocol import Schema
from .schema.types import (
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
from .text import decode_text
from .tree import MOST_SHOWN, Cut
from .window import Place

__all__ = ["Stride", "stride_of"]


class Step(NamedTuple):
    """The bytes that one plain field takes: a fixed size, or a prefix and as many bytes or pairs of bytes as it says."""

    size: int
    is_strict_flag: bool = False
    prefix: Integer | None = None
    text: Text | None = None
    is_lenient: bool = False


class Stride:
    """One list whose first items are shown: those that follow are passed, or read and not kept.

    Attributes:
        keeps: The node and the value of an item that is read are kept.
    """

    __slots__ = ("_has_begun", "_left", "_name", "_reader", "_steps", "keeps")

    def __init__(self, reader: Reader, name: str, steps: tuple[Step, ...] | None) -> None:
        """`steps`: None where an item is more than plain fields, so that each is read."""
        self._reader = reader
        self._name = name
        self._steps = steps
        self._left = MOST_SHOWN
        self._has_begun = False
        self.keeps = True

    def is_past(self, place: Place) -> bool:
        """Go past the next item and say so; else it is bad, cut or to be shown, and nothing has changed."""
        if self._left:
            self._left -= 1
            return False
        if not self._has_begun:
            self._begin()
        window = self._reader.window
        position = None if self._steps is None else self._behind(window.position, self._steps)
        if position is None:
            return False
        self._reader.spend_work(1, place)
        window.position = position
        return True

    def _begin(self) -> None:
        """Stop showing items, unless an expression asks for the list itself."""
        self._has_begun = True
        if _is_asked(self._reader.schema.plan, self._name):
            self._steps = None
            return
        self.keeps = False
        name, values = self._reader.building[-1]
        assert isinstance(values, list)
        self._reader.building[-1] = (name, Cut(values))

    def _behind(self, position: int, steps: tuple[Step, ...]) -> int | None:
        """Return where an item that begins here ends; None: the careful reading has something to say."""
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
            length = int.from_bytes(data[start:position], step.prefix.endian, signed=step.prefix.is_signed)
            start = position
            position += length * (2 if step.text is not None and step.text.encoding == "utf16" else 1)
            if length < 0 or position > end:
                return None
            if step.text is not None and not _is_text(bytes(data[start:position]), step):
                return None
        return position


def _is_text(data: bytes, step: Step) -> bool:
    assert step.text is not None
    try:
        decode_text(data, step.text.encoding, step.is_lenient, step.text.endian)
    except UnicodeDecodeError:
        return False
    return True


def _is_asked(plan: Schema, name: str) -> bool:
    """Tell whether some expression of a protocol speaks of a field of that name."""
    return any(isinstance(node, FieldReference) and name in node.path for node in nodes_in(plan))


def stride_of(reader: Reader, type_: List, name: str) -> Stride | None:
    """Return how to go past the items of a list; None: each is read and kept."""
    if not reader.is_quick or isinstance(type_.length, Until):
        return None
    return Stride(reader, name, _steps(reader, type_.item) or None)


def _steps(reader: Reader, type_: Type) -> tuple[Step, ...] | None:
    """Return what an item takes; None where that is more than plain fields."""
    if not isinstance(type_, StructReference):
        step = _step(reader, type_)
        return None if step is None else (step,)
    found = []
    for field in reader.schema.structs[type_.name]:
        is_plain = field.condition is None and field.where is None
        is_plain = is_plain and (field.value is None or isinstance(field.value, Default))
        step = _step(reader, field.type) if is_plain else None
        if step is None:
            return None
        found.append(step)
    return tuple(found)


def _step(reader: Reader, type_: Type) -> Step | None:
    is_tolerant = not reader.schema.strict
    match type_:
        case Integer(size) | Float(size):
            return Step(size)
        case Uuid():
            return Step(16)
        case Boolean(is_lenient):
            return Step(1, is_strict_flag=not (is_lenient and is_tolerant))
        case Bytes(Prefix(Integer() as prefix)):
            return Step(prefix.size, prefix=prefix)
        case Text(_, Prefix(Integer() as prefix), is_lenient):
            return Step(prefix.size, prefix=prefix, text=type_, is_lenient=is_lenient and is_tolerant)
        case _:
            return None
