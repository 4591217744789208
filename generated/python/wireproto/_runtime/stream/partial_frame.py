"""A frame that the end of a chunk cuts, and that compiled code decodes once it is whole."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .extent_interface import Extent

__all__ = ["KEPT", "PartialFrame"]

KEPT = 256
"""Bytes from which a chunk is kept unchanged until the frame is whole; smaller ones would take more memory
than their bytes.
"""


class PartialFrame:
    """The bytes of a frame that have arrived.

    Attributes:
        chunks: These bytes.
        is_known: The frame is whole with exactly the missing bytes.
        missing: The number of bytes that the frame needs before it is measured again.
        need: The minimum size; the frame is measured earlier if a number before that may be wrong.
        start: Its offset in the stream.
    """

    __slots__ = ("_extent", "_n_later", "chunks", "is_known", "missing", "need", "start")

    def __init__(self, data: bytes, start: int, extent: Extent, need: int) -> None:
        self.chunks: list[bytes | bytearray | memoryview] = [data]
        self.start = start
        self._extent = extent
        self._wait(len(data), need)

    def _wait(self, size: int, need: int) -> None:
        """Record the numbers of existing and needed bytes."""
        stop = self._extent.next_look(size, need)
        self.need, self._n_later, self.missing = need, need - stop, stop - size
        self.is_known = self._extent.is_known and stop == need

    @property
    def needed(self) -> int:
        """The minimum number of bytes that the frame still needs."""
        return self.missing + self._n_later

    def add(self, data: bytes) -> None:
        """Add bytes after the existing ones."""
        self.missing -= len(data)
        self.chunks.append(data)

    def add_small(self, data: bytes) -> None:
        """Add bytes that `missing` already includes, so few that they are copied."""
        held = self._joined()
        held += data

    def _joined(self) -> bytearray:
        """Return the existing bytes as one array, to which later bytes are added."""
        chunks = self.chunks
        held = chunks[0]
        if type(held) is not bytearray:
            held = bytearray(held)
        for chunk in chunks[1:]:
            held += chunk
        self.chunks = [held]
        return held

    def is_to_try(self, n_more: int, n_expected: int) -> bool:
        """Return whether compiled code should try with so many further bytes.

        It should if the frame has all needed bytes. If these are unknown, it tries at twice the number of
        bytes, so that all tries together are linear. It also tries at the size that such a frame is
        expected to have.
        """
        if n_more < self.missing or self.is_known:
            return n_more >= self.missing
        size = self.need - self.needed
        return n_more >= size and size + n_more >= n_expected

    def is_whole(self) -> bool:
        """Return whether the frame is whole, or wrong; else `missing` is the minimum number of bytes that it needs."""
        held = self._joined()
        try:
            self._wait(len(held), self._extent.measure(held, 0))
        except self._extent.end_unknown:
            return True
        return self.missing <= 0
