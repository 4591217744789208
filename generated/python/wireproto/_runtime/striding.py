"""Goes past the good items of a long list where only a fault is looked for: plain fields, measured and not made.

Without it a peer could ask, with one bad item at the end of many, for the careful reading of all of them.
"""

from __future__ import annotations

from typing import Any, TypeAlias

from .layout import Type
from .reader import Reader
from .schema.protocol import Schema
from .text import decode_text
from .tree import MOST_SHOWN, Cut
from .window import Place

__all__ = ["Stride", "stride_of"]

Step: TypeAlias = tuple[Any, ...]
"""`("fixed", size)`, `("flag", is_lenient)`, `("sized", prefix, unit, text)`: what one field takes."""


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
            match step:
                case ("fixed", size):
                    position += size
                case ("flag", is_lenient):
                    position += 1
                    if position > end or (data[start] > 1 and not is_lenient):
                        return None
                case (_, (size, is_signed, endian), unit, text):
                    start += size
                    length = int.from_bytes(data[position:start], endian, signed=is_signed)
                    position = start + length * unit
                    if start > end or length < 0 or position > end:
                        return None
                    if text is not None and not _is_text(bytes(data[start:position]), text):
                        return None
            if position > end:
                return None
        return position


def _is_text(data: bytes, text: tuple[str, bool, str]) -> bool:
    encoding, is_lenient, endian = text
    try:
        decode_text(data, encoding, is_lenient, endian)
    except UnicodeDecodeError:
        return False
    return True


def _is_asked(plan: Schema, name: str) -> bool:
    """Tell whether some expression of a protocol speaks of a field of that name."""
    waiting: list[Any] = [plan]
    while waiting:
        part = waiting.pop()
        if isinstance(part, dict):
            waiting += part.values()
        elif isinstance(part, tuple):
            if part[:1] == ("field",) and len(part) == 3 and name in part[1]:
                return True
            waiting += [each for each in part if isinstance(each, tuple | dict)]
    return False


def stride_of(reader: Reader, item: Type, length: tuple[Any, ...], name: str) -> Stride | None:
    """Return how to go past the items of a list; None: each is read and kept."""
    if not reader.is_quick or length[0] == "until":
        return None
    return Stride(reader, name, _steps(reader, item) or None)


def _steps(reader: Reader, type_: Type) -> tuple[Step, ...] | None:
    """Return what an item takes; None where that is more than plain fields."""
    if type_[0] != "struct":
        step = _step(reader, type_)
        return None if step is None else (step,)
    found = []
    for _, _, inner, value, condition, where, *_ in reader.schema.structs[type_[1]]:
        is_plain = condition is None and where is None and (value is None or value[0] == "default")
        step = _step(reader, inner) if is_plain else None
        if step is None:
            return None
        found.append(step)
    return tuple(found)


def _step(reader: Reader, type_: Type) -> Step | None:
    is_tolerant = not reader.schema.strict
    match type_:
        case ("int" | "float", size, *_):
            return ("fixed", size)
        case ("uuid",):
            return ("fixed", 16)
        case ("bool", is_lenient):
            return ("flag", is_lenient and is_tolerant)
        case ("bytes", ("prefix", ("int", *prefix), *_)):
            return ("sized", tuple(prefix), 1, None)
        case ("text", encoding, ("prefix", ("int", *prefix), *_), is_lenient, endian):
            unit = 2 if encoding == "utf16" else 1
            return ("sized", tuple(prefix), unit, (encoding, is_lenient and is_tolerant, endian))
        case _:
            return None
