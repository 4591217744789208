"""A frame that the end of a chunk cuts, and that compiled code decodes once it is whole."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .extents import Extent

__all__ = ["KEPT", "PartialFrame"]

KEPT = 256
"""Bytes of a chunk that is kept as it is until the frame is whole; smaller ones would take more memory than their bytes."""


class PartialFrame:
    """The bytes that are there of a frame.

    Attributes:
        chunks: Those bytes.
        is_known: As many bytes more as are missing make the frame whole.
        missing: How many bytes the frame needs before it is looked at again.
        need: How many bytes it needs at least; it is looked at earlier where a number before that may be wrong.
        start: Where it begins in the stream.
    """

    __slots__ = ("_extent", "_n_later", "chunks", "is_known", "missing", "need", "start")

    def __init__(self, data: bytes, start: int, extent: Extent, need: int) -> None:
        self.chunks: list[bytes | bytearray | memoryview] = [data]
        self.start = start
        self._extent = extent
        self._wait(len(data), need)

    def _wait(self, size: int, need: int) -> None:
        """Note how many bytes are there and needed."""
        stop = self._extent.next_look(size, need)
        self.need, self._n_later, self.missing = need, need - stop, stop - size
        self.is_known = self._extent.is_known and stop == need

    @property
    def needed(self) -> int:
        """How many bytes at least the frame still needs."""
        return self.missing + self._n_later

    def add(self, data: bytes) -> None:
        """Add bytes that came after those that are there."""
        self.missing -= len(data)
        self.chunks.append(data)

    def add_small(self, data: bytes) -> None:
        """Add bytes whose number `missing` has taken in, so few that they are copied."""
        held = self._joined()
        held += data

    def _joined(self) -> bytearray:
        """Return the bytes that are there; what is added to them is there too."""
        chunks = self.chunks
        held = chunks[0]
        if type(held) is not bytearray:
            held = bytearray(held)
        for chunk in chunks[1:]:
            held += chunk
        self.chunks = [held]
        return held

    def is_to_try(self, n_more: int, n_expected: int) -> bool:
        """Return whether compiled code is to try with so many bytes more.

        It is where the frame has as many as it needs. Where that is not known, it is with twice as many as there were, so that
        all tries together are linear, and with as many as such a frame is expected to have.
        """
        if n_more < self.missing or self.is_known:
            return n_more >= self.missing
        size = self.need - self.needed
        return n_more >= size and size + n_more >= n_expected

    def is_whole(self) -> bool:
        """Return whether the frame is whole, or wrong; else `missing` says how many bytes it needs at least."""
        held = self._joined()
        try:
            self._wait(len(held), self._extent.measure(held, 0))
        except self._extent.odd:
            return True
        return self.missing <= 0
