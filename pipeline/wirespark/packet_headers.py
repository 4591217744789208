"""The headers of the packets of a batch in columns, where they are the usual ones: IPv4 without options, and TCP.

Invariant: a usual packet has the segment that the reader of single packets finds in it.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from wiregen.formats.capture import LINKS, Batch
from wirespark.packet_places import PacketPlaces, places_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["PacketHeaders", "read_headers"]

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
_WITHOUT_OPTIONS, _TCP = 0x45, 6
_FRAGMENT_BITS = 0x3FFF  # more fragments, or an offset


@dataclass(frozen=True, slots=True, kw_only=True)
class PacketHeaders:
    """Columns with one value for each packet of a batch; those of `fields`, `begins` and `stops` count where `is_usual` only.

    Attributes:
        places: The places of the batch.
        fields: The headers, by the names of their fields.
        begins, stops: The begin and the end of the segment's data in that of the batch.
    """

    places: PacketPlaces
    fields: NDArray[np.void]
    begins: NDArray[np.int64]
    stops: NDArray[np.int64]
    is_usual: NDArray[np.bool_]


def read_headers(batch: Batch) -> PacketHeaders:
    """Return the headers of a batch."""
    header = _header(batch.link_type)
    fields = header.fields
    places = places_of(batch)
    starts = places.starts
    n_places = len(batch.data) - fields.itemsize + 1  # where headers may begin
    if header.ipv4_types and n_places > 0:
        anywhere = np.ndarray((n_places,), f"V{fields.itemsize}", batch.data, strides=(1,))
        found = anywhere[np.minimum(starts, n_places - 1)].view(fields)
    else:
        found = np.zeros(len(starts), fields)
    ips = starts + header.network
    begins = ips + 20 + (found["offset"] >> 4).astype(np.int64) * 4
    stops = ips + found["length"].astype(np.int64)
    is_usual = (
        (found["first"] == _WITHOUT_OPTIONS)
        & (found["protocol"] == _TCP)
        & (found["fragment"] & _FRAGMENT_BITS == 0)
        & (ips + _LEAST_SIZE <= begins)
        & (begins <= stops)
        & (stops <= places.ends)
    )
    is_ipv4 = np.zeros_like(is_usual)
    for each in header.ipv4_types:  # one or two: a tenth of the time of `isin`
        is_ipv4 |= found["type"] == each
    return PacketHeaders(
        places=places,
        fields=found,
        begins=begins,
        stops=stops,
        is_usual=is_usual & is_ipv4,
    )


class _Header(NamedTuple):
    """The type of a packet's first bytes, the place of the network layer in them, and the values of `type` that mean IPv4."""

    fields: np.dtype[np.void]
    network: int
    ipv4_types: list[int]


@cache
def _header(link_type: int) -> _Header:
    """Return how packets of a link type begin; those of an unknown one are never usual."""
    link = LINKS.get(link_type, LINKS[1])
    places = {name: (format_, link.network + place) for name, (format_, place) in _FROM_NETWORK.items()}
    places["type"] = (f">u{link.type_end - link.type_start}", link.type_start)
    formats, offsets = zip(*places.values(), strict=True)
    fields = np.dtype(
        {
            "names": list(places),
            "formats": list(formats),
            "offsets": list(offsets),
            "itemsize": link.network + _SIZE,
        }
    )
    types = [int.from_bytes(each, "big") for each in link.ipv4_types] if link_type in LINKS else []
    return _Header(fields, link.network, types)
