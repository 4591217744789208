"""Runs of packets whose segments follow each other, put together at once: the loop over single packets would cost more than decoding."""

from __future__ import annotations

from collections.abc import Collection
from typing import TYPE_CHECKING

import numpy as np

from wiregen.formats.capture import Batch, SegmentValues

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["runs_of"]

_ETHERNET = 1
_HEADERS = 54
"""Bytes of the headers of Ethernet, IPv4 and TCP without options. The offsets in `_are_usual` and `runs_of` count from the first."""
_KEY = slice(26, 38)
"""The addresses and the ports, which are a segment's key."""
_TURNS = 0b111
"""The flags FIN, SYN and RST."""
_ACK = 0b10000


def runs_of(batch: Batch, keys: Collection[bytes]) -> list[SegmentValues] | None:
    """Return for each key one segment with the data of all that have it, or None if they are not such a run.

    All packets of the batch must have usual headers, and those of a run no flag with which a connection begins or ends, and no hole.
    A run has the number of its first packet, and the time of the last.
    """
    if batch.link_type != _ETHERNET or any(len(key) != _KEY.stop - _KEY.start for key in keys):
        return None
    numbers, times, *bounds, _sizes = zip(*batch.places, strict=True)
    starts, ends = map(np.array, bounds)
    if (ends - starts < _HEADERS).any():
        return None
    heads = np.frombuffer(batch.data, np.uint8)[starts[:, None] + np.arange(_HEADERS)].astype(np.int64)
    begins = starts + 34 + (heads[:, 46] >> 4) * 4
    stops = starts + 14 + (heads[:, 16] << 8 | heads[:, 17])
    if not _are_usual(heads) or not ((begins <= stops) & (stops <= ends)).all():
        return None
    sequences = heads[:, 38] << 24 | heads[:, 39] << 16 | heads[:, 40] << 8 | heads[:, 41]
    found = []
    for key in keys:
        is_own = (heads[:, _KEY] == np.frombuffer(key, np.uint8)).all(axis=1)
        if (heads[is_own, 47] & _TURNS).any():
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
        first, last = own[0], own[-1]
        found.append((numbers[first], times[last], key, int(sequence[0]), 0, _ACK, data, len(data)))
    return found


def _are_usual(heads: NDArray[np.int64]) -> bool:
    """Return whether all headers are those of whole IPv4 packets without options, with a TCP segment."""
    is_ip = (heads[:, 12] == 8) & (heads[:, 13] == 0) & (heads[:, 14] == 0x45) & (heads[:, 23] == 6)
    is_whole = (heads[:, 20] & 0x3F == 0) & (heads[:, 21] == 0)
    return bool((is_ip & is_whole & (heads[:, 46] >> 4 >= 5)).all())
