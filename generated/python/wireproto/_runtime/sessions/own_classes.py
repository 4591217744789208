"""The classes of a package, next to those of a caller: the methods of the caller's may lie, change their answers or raise."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from enum import EnumType
from operator import attrgetter
from typing import Final, TypeAlias
from uuid import UUID

from ..codec.classes import Envelope, Record, attributes_of
from ..codec.unknown import Unknown

__all__ = ["Classes"]

_PLAIN: Final = (bool, bytes, float, int, str, type(None), UUID)
_MOST: Final = 1 << 20
"""Values that are tested one by one; a list may hold itself."""

_Parts: TypeAlias = Callable[[object], tuple[object, ...]]
_message: Final = attrgetter("message")


class Classes:
    """The classes of a package; `by_name`: the names of its module of messages."""

    __slots__ = ("_names", "_parts", "_plain", "_whole", "by_name")

    def __init__(self, by_name: dict[str, object]) -> None:
        self.by_name = by_name
        self._plain = frozenset((*_PLAIN, *(each for each in by_name.values() if isinstance(each, EnumType))))
        self._names: dict[type, tuple[str, ...]] = {each: attributes_of(each) for each in _records(by_name)}
        self._names[Unknown] = Unknown.__match_args__
        self._parts = {each: _parts_of(names) for each, names in self._names.items()}
        self._whole: dict[type, dict[type, _Parts]] = {
            each: {} for each in self._names if issubclass(each, Envelope)
        }

    def are_plain(self, item: object) -> bool:
        """Return whether a frame or preamble has only values whose methods are those of Python and of the package."""
        try:
            kinds = self._whole.get(type(item))
            if kinds is None:
                return self._walk([item])
            read = kinds.get(type(_message(item))) or self._whole_parts(kinds, item)
            values = read(item)
            return self._plain.issuperset(map(type, values)) or self._walk(list(values))
        except Exception:  # noqa: BLE001 - a class of the caller's may raise anything
            return False

    def _whole_parts(self, kinds: dict[type, _Parts], frame: object) -> _Parts:
        """Return a function that returns the values of a frame's header and of its message at once."""
        kind = type(_message(frame))
        message, header = self._names[kind], self._names[type(frame)]
        names = (*(each for each in header if each != "message"), *(f"message.{each}" for each in message))
        kinds[kind] = _parts_of(names)
        return kinds[kind]

    def _walk(self, left: list[object]) -> bool:
        plain = self._plain
        for each in left:
            if type(each) in plain:
                continue
            if len(left) > _MOST:
                return False
            parts = tuple(each) if type(each) is list else self._parts[type(each)](each)
            if not plain.issuperset(map(type, parts)):
                left += parts
        return True


def _records(by_name: Mapping[str, object]) -> Iterator[type[Record]]:
    """Yield the classes of records, and those of the alternatives that are inside the classes of unions."""
    for each in by_name.values():
        for kind in (each, *vars(each).values()) if isinstance(each, type) else ():
            if isinstance(kind, type) and issubclass(kind, Record):
                yield kind


def _parts_of(names: tuple[str, ...]) -> _Parts:
    """Return a function that returns the values of attributes; of a single one, `attrgetter` returns no tuple."""
    return attrgetter(*names, names[0]) if names else lambda _: ()
