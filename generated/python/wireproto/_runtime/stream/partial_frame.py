"""A frame that the end of a chunk cuts, and that compiled code decodes once it is whole."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .extent import Extent, Header

__all__ = ["PartialFrame"]


class PartialFrame:
    """The bytes that are there of a frame.

    Attributes:
        data: Those bytes.
        need: How many bytes the frame has at least.
        start: Where it begins in the stream.
    """

    __slots__ = ("_extent", "data", "need", "start")

    def __init__(self, data: bytes, start: int, extent: Extent | Header, need: int) -> None:
        self.data: bytes | bytearray = data
        self.start = start
        self.need = need
        self._extent = extent

    @property
    def missing(self) -> int:
        """How many bytes the frame needs before it is looked at again."""
        return self.need - len(self.data)

    def add(self, data: bytes | memoryview) -> None:
        """Add bytes that came after those that are there."""
        if type(self.data) is not bytearray:
            self.data = bytearray(self.data)
        self.data += data

    def is_to_try(self, n_more: int) -> bool:
        """Return whether compiled code is to try with so many bytes more: as many as the frame needs, where that is known,
        else twice as many as there were, so that all tries together are linear."""
        size = len(self.data)
        return n_more >= self.need - size and (self._extent.is_known or n_more >= size)

    def is_whole(self) -> bool:
        """Return whether the frame is whole, or wrong; else `need` says how many bytes it has at least."""
        try:
            self.need = self._extent.measure(self.data, 0)
        except self._extent.odd:
            return True
        return self.need <= len(self.data)
