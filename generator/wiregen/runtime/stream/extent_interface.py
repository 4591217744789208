"""The interface between a decoder and the objects that find the ends of frames."""

from __future__ import annotations

from typing import Protocol, TypeAlias

__all__ = ["Extent", "Extents"]

Buffer: TypeAlias = bytes | bytearray


class Extent(Protocol):
    """The extent of one frame: `extent.Extent`, or `header.Header`."""

    end_unknown: type[Exception]

    @property
    def is_known(self) -> bool: ...

    def measure(self, data: Buffer, start: int) -> int: ...

    def next_look(self, size: int, need: int) -> int:
        """Return the number of bytes at which a frame of `size`, which needs `need`, is measured again."""


class Extents(Protocol):
    """The ends of the frames of one sender: `sender_extents.SenderExtents`, or `header_extents.HeaderExtents`.

    Attributes:
        end_unknown: Raised if the end of a frame cannot be found.
        wrong: Raised for a frame that does not conform, whatever bytes follow.
    """

    end_unknown: type[Exception]
    wrong: type[Exception]

    def begin(self, data: Buffer, start: int) -> Extent: ...
