"""Small files that one task reads: they are decoded into common columns, since columns cost as much as a hundred frames."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import replace

import pyarrow as pa
import pyarrow.compute as pc

from wirespark.batches import Slice
from wirespark.columns import Columns, Origin, in_order, joined_columns
from wirespark.decoders import context_of
from wirespark.options import Wishes
from wirespark.stream_pools import Pool
from wirespark.stream_rows import Walk
from wirespark.untyped import ArrowArray

__all__ = ["SmallFiles"]

_COST = 1 << 10
"""The memory of a file that waits, without its bytes, rounded up."""


class SmallFiles:
    """Files that wait until they are a batch together. The rows of a file are in the order of its bytes, in one batch."""

    def __init__(self, wishes: Wishes, batch_size: int) -> None:
        self._wishes = wishes
        self._batch_size = batch_size
        self._pools: dict[str | None, Pool] = {}
        self._waiting = 0

    def add(self, part: Slice, data: bytes) -> Iterator[Columns]:
        """Add all bytes of a file, and return the columns of those that wait if they are enough for a batch."""
        walk = Walk(self._wishes, part.role, context=context_of(self._wishes))
        if part.role not in self._pools:
            # nothing is due before all files that wait are read
            self._pools[part.role] = Pool(self._wishes, part.role, _origin, sys.maxsize)
        stream = self._pools[part.role].direction(part.path, walk)
        stream.feed(data, None)
        stream.finish(None)
        self._waiting += len(data) + _COST
        if self._waiting >= self._batch_size:
            yield from self.flush()

    def flush(self) -> Iterator[Columns]:
        """Return the columns of the files that wait."""
        self._waiting = 0
        for pool in self._pools.values():
            found = list(pool.flush())
            yield from found if len(found) <= 1 else [_in_order(found)]


def _origin(files: ArrowArray) -> Origin:
    return Origin(file=files)


def _in_order(found: list[Columns]) -> Columns:
    """Return columns of the kernels and of the object path as one, the rows of each file in their order."""
    files = pa.concat_arrays([columns.origin.file for columns in found])
    joined = joined_columns(found)
    places = pa.table({"file": files, "offset": joined.rows.column("_offset")})
    order = pc.sort_indices(places, sort_keys=[("file", "ascending"), ("offset", "ascending")])
    return in_order(replace(joined, origin=Origin(file=files)), order)
