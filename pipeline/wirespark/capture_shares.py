"""The shares of a capture: which packets are in each, and how many bytes."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING
from zlib import crc32

import numpy as np

from wiregen.formats.capture import BATCH_LENGTH, ends_of
from wirespark.index_file import FIELDS

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["SeenKeys", "SharedPackets", "share_of"]

_MOST_KNOWN = 1 << 16
"""Keys of segments that are remembered, whatever their bytes."""
_RECORD = np.dtype((np.void, FIELDS.itemsize))  # copied at once, not field by field


def share_of(ends: bytes, n_shares: int) -> int:
    """Return the share that the connections between two ends are in."""
    return crc32(ends) % n_shares


@dataclass(frozen=True, slots=True, kw_only=True)
class SharedPackets:
    """The records of some packets, in the capture's order, and the share of each."""

    shares: NDArray[np.int64]
    records: NDArray[np.void]

    def by_share(self) -> Iterator[tuple[int, bytes]]:
        """Yield each share that has some of them, with the records of these."""
        order = np.argsort(self.shares, kind="stable")
        shares, data = self.shares[order], self.records.view(_RECORD)[order].tobytes()
        turns = [0, *(np.flatnonzero(shares[1:] != shares[:-1]) + 1).tolist()]
        stops = [*turns[1:], len(shares)]
        for share, start, stop in zip(shares[turns].tolist(), turns, stops, strict=True):
            yield share, data[start * FIELDS.itemsize : stop * FIELDS.itemsize]


class SeenKeys(dict[bytes, int]):
    """The keys of segments, each with a number, a share of the capture, and the bytes of its packets.

    When they are many, those are forgotten whose packets have few of the `size` bytes of the capture.
    """

    def __init__(self, n_shares: int, size: int) -> None:
        super().__init__()
        self._n_shares = n_shares
        self._few = 1 + size // (4 * n_shares)
        self._most = _MOST_KNOWN + 4 * n_shares
        self._shares = np.zeros(self._most + BATCH_LENGTH, np.int64)
        self._sizes = np.zeros_like(self._shares)

    def __missing__(self, key: bytes) -> int:
        number = self[key] = len(self)
        self._shares[number] = share_of(ends_of(key), self._n_shares)
        self._sizes[number] = 0
        return number

    def add(self, keys: Collection[bytes], sizes: NDArray[np.uint32]) -> NDArray[np.int64]:
        """Add packets by the keys of their segments; return the share of each."""
        if len(self) > self._most:
            self._forget()
        numbers = np.fromiter(map(self.__getitem__, keys), np.int64, len(keys))
        np.add.at(self._sizes, numbers, sizes)
        return self._shares[numbers]

    def sizes(self) -> dict[bytes, int]:
        """Return the bytes of the packets by their key, except where they are few."""
        sizes = self._sizes[: len(self)].tolist()
        return {key: size for key, size in zip(self, sizes, strict=True) if size >= self._few}

    def _forget(self) -> None:
        kept = self.sizes()
        self.clear()
        for key, size in kept.items():
            self._sizes[self[key]] = size
