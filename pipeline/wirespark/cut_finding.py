"""Where a stream of one direction can be cut: after a frame that a valid one follows.

The walk that finds these places is the one that tasks use, so both see the same frames.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Protocol

import numpy as np

from wirespark.batches import scanner_of
from wirespark.decoders import context_of, has_context
from wirespark.options import Wishes, has_numba
from wirespark.stream_rows import StreamCut, StreamRow, Walk

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from wirespark.kernels.alternating_reader import AlternatingReader, Part

__all__ = ["CutFinder", "cut_finder", "cutting_facts"]


class CutFinder(Protocol):
    """Bytes in, places out."""

    def feed(self, data: bytes) -> Iterator[StreamCut]:
        """Add the next bytes, and yield the places that they confirm."""

    def gap(self, size: int) -> Iterator[StreamCut]:
        """Record that `size` bytes are missing."""


def cut_finder(wishes: Wishes, role: str | None, size: int) -> CutFinder:
    """Return a finder of cuts of the stream of a role, about every `size` bytes."""
    if has_context(wishes.package):
        return _CutsWithState(wishes, role, size)
    cutter, walk, scanner = (
        _Cutter(size, wishes.package.native.DecodeError),
        Walk(wishes, role),
        scanner_of(wishes, role),
    )
    if scanner is None:
        return _Cuts(walk, cutter)
    from wirespark.kernels.alternating_reader import AlternatingReader

    return _Cuts(AlternatingReader(wishes, scanner, walk), cutter)


def cutting_facts(wishes: Wishes) -> tuple[object, ...]:
    """Return everything but a stream, its role and the size of a stretch on which the places of cuts depend."""
    return (
        wishes.backend, wishes.variant, wishes.strict, sorted(wishes.limits.items()),
        wishes.kernel != "off" and has_numba(), repr(wishes.package.schema),
    )  # fmt: skip


class _CutsWithState:
    """By objects, for frames that change how later ones are read."""

    def __init__(self, wishes: Wishes, role: str | None, size: int) -> None:
        self._walk = Walk(wishes, role, context=context_of(wishes))
        self._walk.due = self._size = size
        self._error: type[Exception] = wishes.package.native.DecodeError

    def feed(self, data: bytes) -> Iterator[StreamCut]:
        yield from self._taken(self._walk.feed(data))

    def gap(self, size: int) -> Iterator[StreamCut]:
        yield from self._taken(self._walk.gap(size))

    def _taken(self, rows: Iterable[StreamRow]) -> Iterator[StreamCut]:
        walk = self._walk
        for row in rows:
            if walk.cut is None or row.offset < walk.cut.offset:
                continue
            cut, walk.cut = walk.cut, None
            if row.offset == cut.offset and not isinstance(row.item, self._error):
                yield cut
                walk.due = row.offset + self._size
            else:
                walk.due = row.offset


class _Cuts:
    """For other frames, by a walk of objects or by the kernels."""

    def __init__(self, reader: Walk | AlternatingReader, cutter: _Cutter) -> None:
        self._reader = reader
        self._cutter = cutter

    def feed(self, data: bytes) -> Iterator[StreamCut]:
        return self._taken(self._reader.feed(data))

    def gap(self, size: int) -> Iterator[StreamCut]:
        return self._taken(self._reader.gap(size))

    def _taken(self, found: Iterable[StreamRow | Part]) -> Iterator[StreamCut]:
        for each in found:
            for offset in self._cutter.take([each] if isinstance(each, StreamRow) else each):
                yield StreamCut(offset, None)


class _Cutter:
    """Takes the parts of a reader in their order; the first end of a frame at or after `due` is a cut if a
    valid frame follows.
    """

    def __init__(self, size: int, error: type[Exception]) -> None:
        self._size = size
        self._error = error
        self._due = size
        self._candidate: int | None = None

    def take(self, part: Part) -> Iterator[int]:
        """Yield the cuts that a part confirms."""
        if not isinstance(part, list):
            if len(part.found.frames):
                yield from self._frames(part.found.frames + part.base)
            return
        for row in part:
            is_right = not isinstance(row.item, self._error)
            yield from self._settled(row.offset, is_right=is_right)
            if is_right and self._candidate is None and row.offset + row.size >= self._due:
                self._candidate = row.offset + row.size

    def _frames(self, frames: NDArray[np.int64]) -> Iterator[int]:
        yield from self._settled(int(frames[0, 0]), is_right=True)
        ends = frames[:, 1]
        while self._candidate is None:
            place = int(np.searchsorted(ends, self._due))
            if place == len(ends):
                return
            self._candidate = int(ends[place])
            if place + 1 < len(ends):
                yield from self._settled(self._candidate, is_right=True)

    def _settled(self, offset: int, *, is_right: bool) -> Iterator[int]:
        """Yield the candidate if a valid frame begins there; otherwise the next one is due after the current place."""
        candidate, self._candidate = self._candidate, None
        if candidate is None:
            return
        if offset == candidate and is_right:
            yield candidate
            self._due = candidate + self._size
        else:
            self._due = offset
