"""Runs of packets whose segments follow each other, put together at once: the loop over single packets would cost more than decoding."""

from __future__ import annotations

from collections.abc import Collection

import numpy as np

from wiregen.formats.capture import Batch, SegmentValues
from wirespark.packet_headers import read_headers

__all__ = ["runs_of"]

_TURNS = 0b111
"""The flags FIN, SYN and RST."""
_ACK = 0b10000


def runs_of(batch: Batch, keys: Collection[bytes]) -> list[SegmentValues] | None:
    """Return for each key one segment with the data of all that have it, or None if they are not such a run.

    All packets of the batch must have usual headers, and those of a run no flag with which a connection begins or ends, and no hole.
    A run has the number of its first packet, and the time of the last.
    """
    headers = read_headers(batch)
    if not headers.is_usual.all():
        return None
    begins, stops = headers.begins, headers.stops
    sequences = headers.fields["sequence"].astype(np.int64)
    found = []
    for key in keys:
        is_own = headers.are_of(key)
        if (headers.fields["flags"][is_own] & _TURNS).any():
            return None
        own = np.flatnonzero(is_own & (stops > begins))
        if not len(own):
            continue
        sizes, sequence = (stops - begins)[own], sequences[own]
        if (((sequence + sizes)[:-1] - sequence[1:]) % (1 << 32)).any():
            return None
        data = b"".join(
            batch.data[begin:stop]
            for begin, stop in zip(begins[own].tolist(), stops[own].tolist(), strict=True)
        )
        number, time = headers.numbers[own[0]], headers.times[own[-1]]
        found.append((number, time, key, int(sequence[0]), 0, _ACK, data, len(data)))
    return found
