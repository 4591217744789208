"""Where a stream of one direction can be cut: after a frame that a valid one follows.

The walk that finds these places is the one that tasks use, so both see the same frames.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Protocol, TypeAlias

from wirespark.batches import scanner_of
from wirespark.decoders import Snapshot, context_of, has_context
from wirespark.options import Wishes, has_numba
from wirespark.stream_rows import StreamRow, Walk

if TYPE_CHECKING:
    from wirespark.kernels.alternating_reader import Part
    from wirespark.kernels.scanner import Scanner

__all__ = ["Cut", "CutFinder", "cut_finder", "cutting_facts"]

Cut: TypeAlias = tuple[int, Snapshot | None]
"""The beginning of a stretch, and the state of the connection there."""


class CutFinder(Protocol):
    """Bytes in, places out."""

    def feed(self, data: bytes) -> Iterator[Cut]:
        """Add the next bytes, and yield the places that they confirm."""

    def gap(self, size: int) -> Iterator[Cut]:
        """Record that `size` bytes are missing."""


def cut_finder(wishes: Wishes, role: str | None, size: int) -> CutFinder:
    """Return a finder of cuts of the stream of a role, about every `size` bytes."""
    scanner = None if has_context(wishes.package) else scanner_of(wishes, role)
    if scanner is not None:
        return _ScannedCuts(wishes, role, size, scanner)
    return _WalkedCuts(wishes, role, size)


def cutting_facts(wishes: Wishes) -> tuple[object, ...]:
    """Return everything but a stream, its role and the size of a stretch on which the places of cuts depend."""
    return (
        wishes.protocol, wishes.backend, wishes.variant, wishes.strict, sorted(wishes.limits.items()),
        wishes.kernel != "off" and has_numba(), repr(wishes.package.schema),
    )  # fmt: skip


class _WalkedCuts:
    """By objects, with the state where frames change how later ones are read."""

    def __init__(self, wishes: Wishes, role: str | None, size: int) -> None:
        self._walk = Walk(wishes, role, context=context_of(wishes))
        self._walk.due = self._size = size
        self._error: type[Exception] = wishes.package.native.DecodeError

    def feed(self, data: bytes) -> Iterator[Cut]:
        yield from self._taken(self._walk.feed(data))

    def gap(self, size: int) -> Iterator[Cut]:
        yield from self._taken(self._walk.gap(size))

    def _taken(self, rows: Iterable[StreamRow]) -> Iterator[Cut]:
        walk = self._walk
        for row in rows:
            if walk.cut is None or row.offset < walk.cut[0]:
                continue
            cut, walk.cut = walk.cut, None
            if row.offset == cut[0] and not isinstance(row.item, self._error):
                yield cut
                walk.due = row.offset + self._size
            else:
                walk.due = row.offset


class _ScannedCuts:
    """By the kernels, for frames that do not affect later ones."""

    def __init__(self, wishes: Wishes, role: str | None, size: int, scanner: Scanner) -> None:
        from wirespark.kernels.alternating_reader import AlternatingReader
        from wirespark.kernels.cutting import Cutter

        self._reader = AlternatingReader(wishes, scanner, Walk(wishes, role))
        self._cutter = Cutter(size, wishes.package.native.DecodeError)

    def feed(self, data: bytes) -> Iterator[Cut]:
        yield from self._taken(self._reader.feed(data))

    def gap(self, size: int) -> Iterator[Cut]:
        yield from self._taken(self._reader.gap(size))

    def _taken(self, parts: Iterable[Part]) -> Iterator[Cut]:
        for part in parts:
            for offset in self._cutter.take(part):
                yield offset, None
