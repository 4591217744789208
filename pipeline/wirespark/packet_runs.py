"""Runs of packets whose segments follow each other, found at once: the loop over single packets would cost more than decoding."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise

import numpy as np

from wiregen.formats.capture import TURNS, Batch, SegmentRun
from wirespark.packet_headers import read_headers

__all__ = ["runs_of"]

_LEAST = 4
"""Packets of a run at least, in the mean: shorter ones would not save time."""


def runs_of(batch: Batch, is_wanted: Callable[[bytes], bool] | None) -> list[SegmentRun] | None:
    """Return for each wanted key (None: for all) one run of all segments that have it, or None if they are not such runs.

    All packets of the batch must have usual headers, and those of runs no flag with which a connection begins or ends, and no hole.
    Runs of few packets would not save time.
    """
    headers = read_headers(batch)
    if not headers.is_usual.all():
        return None
    keys = headers.fields["key"].tolist()
    known = _Numbers(is_wanted)
    key_numbers = np.fromiter(map(known.__getitem__, keys), np.int64, len(keys))
    are_wanted = key_numbers >= 0
    if (headers.fields["flags"][are_wanted] & TURNS).any():
        return None
    own = np.flatnonzero(are_wanted & (headers.stops > headers.begins))
    own = own[np.argsort(key_numbers[own], kind="stable")]
    if not len(own):
        return []
    begins, stops, key_numbers = headers.begins[own], headers.stops[own], key_numbers[own]
    sequences = headers.fields["sequence"][own].astype(np.int64)
    is_next = key_numbers[1:] == key_numbers[:-1]
    if ((sequences[:-1] + (stops - begins)[:-1] - sequences[1:])[is_next] % (1 << 32)).any():
        return None
    if len(own) < _LEAST * (len(own) - np.count_nonzero(is_next)):
        return None
    firsts = [0, *(np.flatnonzero(~is_next) + 1).tolist(), len(own)]
    data, places = batch.data, headers.places
    numbers, times = places.numbers[own].tolist(), places.times[own].tolist()
    pieces = [data[begin:stop] for begin, stop in zip(begins.tolist(), stops.tolist(), strict=True)]
    return [
        SegmentRun(
            numbers[first],
            keys[int(own[first])],
            int(sequences[first]),
            pieces[first:stop],
            times[first:stop],
        )
        for first, stop in pairwise(firsts)
    ]


class _Numbers(dict[bytes, int]):
    """The numbers of the wanted keys of a batch, in their order; that of other keys is negative."""

    def __init__(self, is_wanted: Callable[[bytes], bool] | None) -> None:
        super().__init__()
        self._is_wanted = is_wanted

    def __missing__(self, key: bytes) -> int:
        is_wanted = self._is_wanted is None or self._is_wanted(key)
        number = self[key] = len(self) if is_wanted else -1
        return number
