"""What a decoder asks of whatever finds the ends of frames."""

from __future__ import annotations

from typing import Protocol, TypeAlias

__all__ = ["Extent", "Extents"]

Buffer: TypeAlias = bytes | bytearray


class Extent(Protocol):
    """How far one frame reaches: `extent.Extent`, or `header.Header`."""

    odd: type[Exception]

    @property
    def is_known(self) -> bool: ...

    def measure(self, data: Buffer, start: int) -> int: ...

    def next_look(self, size: int, need: int) -> int:
        """Return how many bytes a frame of `size`, which needs `need`, is to have when it is measured again."""


class Extents(Protocol):
    """Where the frames of one sender end: `sender_extents.SenderExtents`, or `frame_ends.HeaderExtents`.

    Attributes:
        odd: What says that the end of a frame cannot be found.
        wrong: The same of a frame that does not conform, whatever comes after the bytes that are there.
    """

    odd: type[Exception]
    wrong: type[Exception]

    def begin(self, data: Buffer, start: int) -> Extent: ...
