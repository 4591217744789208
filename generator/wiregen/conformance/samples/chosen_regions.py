"""Regions read by choice: their content is read without its frame, with the end that it must reach."""

from __future__ import annotations

from typing import Final

from wiregen.conformance.samples.choosing import (
    Choosing,
    owner_of,
)
from wiregen.runtime.reference.reading.reader import Reader, Steps
from wiregen.runtime.reference.tree import Node
from wiregen.runtime.reference.window import Place
from wiregen.runtime.schema.expressions import FieldReference, Number
from wiregen.runtime.schema.types import (
    Carrier,
    InSize,
    Prefix,
    Region,
)

__all__ = ["ChosenRegions"]

_ROOM: Final = 500_000
"""The size in bytes of a region in which any value fits."""


class ChosenRegions:
    """Reads regions according to the choices."""

    def __init__(self, choosing: Choosing) -> None:
        self._choosing = choosing

    def read(self, reader: Reader, type_: Region, place: Place) -> Steps:
        """Read the content of a region as if it were not in a region."""
        carrier = type_.carrier
        window = reader.window
        before = (window.end, reader.is_last, reader.is_bounded)
        choosing = self._choosing
        if choosing.filled is not None:
            yield from choosing.prefix(reader, carrier, place)
        ends_before = (choosing.end, choosing.filled, choosing.leaves_rest)
        choosing.end = self._end_of(reader, carrier)
        choosing.filled, choosing.leaves_rest = self._filled(reader, type_)
        room = self._room(reader, place, carrier)
        window.end = window.position + room if before[0] is None else min(before[0], window.position + room)
        reader.is_last, reader.is_bounded = True, True
        start = window.position
        node = yield from reader.read(reader, type_.content, place)
        window.end, reader.is_last, reader.is_bounded = before
        choosing.end, choosing.filled, choosing.leaves_rest = ends_before
        match carrier:
            case InSize(FieldReference(path, "own")):
                _set(reader, path, window.position - start)
        return node

    def _filled(self, reader: Reader, type_: Region) -> tuple[int | None, bool]:
        """Return the required end of the content, and whether it may end earlier."""
        choosing = self._choosing
        size = _fixed(type_.carrier)
        if size is not None:
            return choosing.here(reader) + size, type_.lenient is not False
        match type_.carrier:
            case Prefix() if reader.is_last:
                return choosing.filled, choosing.leaves_rest
            case _:
                return None, False

    def _end_of(self, reader: Reader, carrier: Carrier) -> int | None:
        """Return the latest end of a region, or None if only its frame bounds it, or it is compressed or chunked."""
        match carrier:
            case Prefix():
                most = self._choosing.basis.most_said(carrier)
            case InSize(Number(size)):
                most = size
            case InSize(FieldReference((name,), "own")):
                most = self._choosing.basis.most_in(owner_of(reader.scope), name)
            case InSize():
                most = None
            case _:
                return None
        ends = (self._choosing.end, None if most is None else self._choosing.here(reader) + most)
        return min((end for end in ends if end is not None), default=None)

    def _room(self, reader: Reader, place: Place, carrier: Carrier) -> int:
        basis = self._choosing.basis
        is_cut = self._choosing.choices.cuts_regions and any(basis.trailing.values())
        if not (is_cut or basis.mentions.asks_for_room):
            return _ROOM
        fixed = _fixed(carrier)
        options = (
            *(() if fixed is None else (("its size", fixed),)),
            ("large", _ROOM),
            *((f"of {size}", size) for size in (0, 1, 2, 3, 4, 6, 8, 12, 16, 24, 32)),
        )
        where = Place(place.name, f"{place.path}.room", place.rule)
        site = self._choosing.site(reader, where).path
        return int(
            self._choosing.choices.choose(site, where.path, options, is_structural=True, is_goal=False)
        )


def _fixed(carrier: Carrier) -> int | None:
    """Return the size of a region of constant size."""
    match carrier:
        case InSize(Number(size)):
            return size
        case _:
            return None


def _set(reader: Reader, path: tuple[str, ...], number: int) -> None:
    """Set the field that gives a size to the right number."""
    node: Node | None = reader.scope.nodes.get(path[0]) if len(path) == 1 else None
    if node is not None:
        node.value = number
        if path[0] in reader.scope.fields:
            reader.scope.fields[path[0]] = number
