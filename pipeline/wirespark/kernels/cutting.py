"""The places at which a stream of one direction can be cut, found by the kernels: after a frame that a
valid one follows.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

from wirespark.kernels.alternating_reader import Part, Stretch

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["Cutter"]


class Cutter:
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
        if isinstance(part, Stretch):
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
