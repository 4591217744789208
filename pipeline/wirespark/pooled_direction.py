"""What directions of flows that wait in a pool have beyond others."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence

from wirespark.columns import Columns

__all__ = ["PooledDirection"]


class PooledDirection(ABC):
    """A direction whose rows come with those of others, so that many of its bytes may come at once."""

    __slots__ = ()

    @abstractmethod
    def feed_run(self, pieces: Sequence[bytes], times: Iterable[int]) -> Iterable[Columns]:
        """Add the next bytes in pieces that are not empty, each with its time in microseconds since 1970."""
