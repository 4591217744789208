"""Runs of packets that are read together."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["in_batches"]

_BATCH_SIZE = 1 << 19


def in_batches(records: NDArray[np.void]) -> Iterator[NDArray[np.void]]:
    """Yield records in runs of one link type, each of at most 512 KiB of packets or of one packet."""
    links, sizes = records["link"], np.cumsum(records["captured"], dtype=np.int64)
    turns = [*(np.flatnonzero(links[1:] != links[:-1]) + 1).tolist(), len(records)]
    start = 0
    for stop in turns:
        while start < stop:
            most = (int(sizes[start - 1]) if start else 0) + _BATCH_SIZE
            end = min(stop, max(start + 1, int(np.searchsorted(sizes, most, side="right"))))
            yield records[start:end]
            start = end
