"""The places of a batch's packets in columns, of which single ones are made when a reader wants them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, overload

import numpy as np

from wiregen.formats.capture import Batch, Place

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["PacketPlaces", "places_of"]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class PacketPlaces(Sequence[Place]):
    """Columns with one value for each packet; see `Place`."""

    numbers: NDArray[np.int64]
    times: NDArray[np.float64]
    starts: NDArray[np.int64]
    ends: NDArray[np.int64]
    sizes: NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.numbers)

    def __iter__(self) -> Iterator[Place]:
        return zip(*(column.tolist() for column in self._columns), strict=True)

    @overload
    def __getitem__(self, index: int) -> Place: ...

    @overload
    def __getitem__(self, index: slice) -> list[Place]: ...

    def __getitem__(self, index: int | slice) -> Place | list[Place]:
        if isinstance(index, slice):
            return list(self)[index]
        number, time, start, end, size = (column[index].item() for column in self._columns)
        return number, time, start, end, size

    @property
    def _columns(self) -> tuple[NDArray[Any], ...]:
        """Return the columns in the order of a place."""
        return self.numbers, self.times, self.starts, self.ends, self.sizes


def places_of(batch: Batch) -> PacketPlaces:
    """Return the places of a batch in columns."""
    if isinstance(batch.places, PacketPlaces):
        return batch.places
    numbers, times, starts, ends, sizes = zip(*batch.places, strict=True)
    return PacketPlaces(
        numbers=np.fromiter(numbers, np.int64, len(numbers)),
        times=np.fromiter(times, np.float64, len(times)),
        starts=np.fromiter(starts, np.int64, len(starts)),
        ends=np.fromiter(ends, np.int64, len(ends)),
        sizes=np.fromiter(sizes, np.int64, len(sizes)),
    )
