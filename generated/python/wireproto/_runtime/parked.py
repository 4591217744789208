"""A frame that the end of a chunk cuts."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Generator

    from .tree import Node

__all__ = ["Parked"]


class Parked:
    """A frame that a chunk cut: what is there of it, and the careful reading that waits for more."""

    __slots__ = ("data", "need", "start", "steps")

    def __init__(self, data: bytearray, start: int, steps: Generator[int, bool, Node]) -> None:
        self.data = data
        self.start = start
        self.steps = steps
        self.need = 0
