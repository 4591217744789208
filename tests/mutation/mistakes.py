"""A caller's mistakes: frames with one value of it of another type."""

from __future__ import annotations

import copy
from array import array
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from types import SimpleNamespace
from typing import Any, Final
from uuid import UUID

__all__ = ["OTHER_CODES", "OTHER_COUNTS", "OTHER_LISTS", "OTHER_TYPES", "Spoilt", "given", "parts", "twin"]

OTHER_TYPES: Final[tuple[Any, ...]] = (
    *(None, "x", b"x", bytearray(b"x"), array("H", [1]), 1.5, (), {}, -1, 0, 1, 1 << 70, True),
)
OTHER_COUNTS: Final = (2, 3, 4, 5)
"""How many fields at the end are absent, where it may be one fewer."""
OTHER_CODES: Final = tuple(range(64))
"""Codes next to those that an alternative may have, where it has several."""
OTHER_LISTS: Final[tuple[Callable[[Any], Any], ...]] = (tuple, deque)


class Spoilt:
    """A frame with one value of it of another type; most must be an EncodeError, and none anything else."""

    def __init__(self, frame: Any, way: tuple[Any, ...], make: Callable[[Any], Any]) -> None:
        self._frame = frame
        self._way = way
        self._make = make

    def made(self) -> Any:
        twin = copy.deepcopy(self._frame)
        holder = twin
        for name in self._way[:-1]:
            holder = _part(holder, name)
        name = self._way[-1]
        other = self._make(_part(holder, name))
        if isinstance(holder, list):
            holder[name] = other
        else:
            setattr(holder, name, other)
        return twin


def given(other: Any, _before: Any) -> Any:
    return other


def twin(value: Any) -> Any:
    """Return an object with all attributes of a value, but of another class."""
    return SimpleNamespace(**{slot: getattr(value, slot) for slot in _slots(value)})


def _slots(value: Any) -> list[str]:
    slots = (slot for class_ in type(value).__mro__ for slot in getattr(class_, "__slots__", ()))
    return [slot for slot in slots if hasattr(value, slot)]


def _part(value: Any, name: Any) -> Any:
    return value[name] if isinstance(value, list) else getattr(value, name)


def parts(value: Any, way: tuple[Any, ...]) -> Iterator[tuple[tuple[Any, ...], Any, Any]]:
    """Yield the path to each part, its holder, and the part."""
    if isinstance(value, list):
        names: Iterable[Any] = range(len(value[:1]))
    elif isinstance(value, bytes | str | int | float | UUID | None):
        return
    else:
        names = _slots(value)
    for name in names:
        yield (*way, name), value, _part(value, name)
        yield from parts(_part(value, name), (*way, name))
