"""The headers of the packets of a batch in columns, where they are the usual ones: IPv4 without options, and TCP.

Invariant: a usual packet has the segment that the reader of single packets finds in it.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING

import numpy as np

from wiregen.formats.capture import Batch

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["PacketHeaders", "read_headers"]

_ETHERNET, _RAW = (12, 14), (None, 0)
_LINKS = {1: _ETHERNET, 113: (14, 16), 276: (0, 20), 12: _RAW, 14: _RAW, 101: _RAW}
"""The place of the network layer's type, and of that layer, by link type; 113 and 276 are the cooked ones of Linux."""
_FROM_NETWORK = {
    "first": ("u1", 0),
    "length": (">u2", 2),
    "fragment": (">u2", 6),
    "protocol": ("u1", 9),
    "key": ("V12", 12),
    "source": (">u2", 20),
    "target": (">u2", 22),
    "sequence": (">u4", 24),
    "offset": ("u1", 32),
    "flags": ("u1", 33),
}
"""The type and the place of fields of both headers; the addresses and the ports are a segment's key."""
_SIZE = 34
"""Bytes from the IP header to the flags of TCP."""
_LEAST_SIZE = 40
"""Bytes of both headers."""
_IPV4, _WITHOUT_OPTIONS, _TCP = 0x0800, 0x45, 6
_FRAGMENT_BITS = 0x3FFF  # more fragments, or an offset


@dataclass(frozen=True, slots=True, kw_only=True)
class PacketHeaders:
    """Columns with one value for each packet of a batch; those of `fields`, `begins` and `stops` count where `is_usual` only.

    Attributes:
        numbers, times, starts, ends, sizes: The places of the batch.
        fields: The headers, by the names of their fields.
        begins, stops: The begin and the end of the segment's data in that of the batch.
    """

    numbers: tuple[int, ...]
    times: tuple[float, ...]
    starts: NDArray[np.int64]
    ends: NDArray[np.int64]
    sizes: NDArray[np.int64]
    fields: NDArray[np.void]
    begins: NDArray[np.int64]
    stops: NDArray[np.int64]
    is_usual: NDArray[np.bool_]


def read_headers(batch: Batch) -> PacketHeaders:
    """Return the headers of a batch."""
    type_place, network = link = _LINKS.get(batch.link_type, _ETHERNET)
    fields = _fields(*link)
    numbers, times, *columns = zip(*batch.places, strict=True)
    starts, ends, sizes = (np.fromiter(each, np.int64, len(each)) for each in columns)
    n_places = len(batch.data) - fields.itemsize + 1  # where headers may begin
    if batch.link_type in _LINKS and n_places > 0:
        anywhere = np.ndarray((n_places,), f"V{fields.itemsize}", batch.data, strides=(1,))
        found = anywhere[np.minimum(starts, n_places - 1)].view(fields)
    else:
        found = np.zeros(len(starts), fields)
    ips = starts + network
    begins = ips + 20 + (found["offset"] >> 4).astype(np.int64) * 4
    stops = ips + found["length"].astype(np.int64)
    is_usual = (
        (found["first"] == _WITHOUT_OPTIONS)
        & (found["protocol"] == _TCP)
        & (found["fragment"] & _FRAGMENT_BITS == 0)
        & (ips + _LEAST_SIZE <= begins)
        & (begins <= stops)
        & (stops <= ends)
    )
    if type_place is not None:
        is_usual &= found["type"] == _IPV4
    return PacketHeaders(
        numbers=numbers,
        times=times,
        starts=starts,
        ends=ends,
        sizes=sizes,
        fields=found,
        begins=begins,
        stops=stops,
        is_usual=is_usual,
    )


@cache
def _fields(type_place: int | None, network: int) -> np.dtype[np.void]:
    """Return the type of a packet's first bytes, with those of its fields that tell its segment."""
    places = {name: (format_, network + place) for name, (format_, place) in _FROM_NETWORK.items()}
    if type_place is not None:
        places["type"] = (">u2", type_place)
    formats, offsets = zip(*places.values(), strict=True)
    return np.dtype(
        {
            "names": list(places),
            "formats": list(formats),
            "offsets": list(offsets),
            "itemsize": network + _SIZE,
        }
    )
