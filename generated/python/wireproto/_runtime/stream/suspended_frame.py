"""A frame that the end of a chunk cuts, and that the reference codec reads."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Generator

    from ..reference.tree import Node

__all__ = ["SuspendedFrame"]

_STEP = 4096  # bytes put aside at once, so that a search for a delimiter does not go byte by byte


class SuspendedFrame:
    """A frame that a chunk cuts: its bytes so far, and the reading by the reference codec that waits for more."""

    __slots__ = ("data", "need", "start", "steps")

    def __init__(self, data: bytearray, start: int, steps: Generator[int, bool, Node]) -> None:
        self.data = data
        self.start = start
        self.steps = steps
        self.need = 0

    @property
    def missing(self) -> int:
        """The number of bytes for which the reading waits."""
        return self.need - len(self.data)

    needed = missing

    def fill(self, chunk: bytes, position: int) -> int:
        """Add the bytes that the reading needs from a chunk, as far as they are there; return the position after them."""
        missing = self.missing
        if missing <= 0:
            return position
        end = min(len(chunk), position + max(missing, _STEP))
        self.data += memoryview(chunk)[position:end]
        return end
