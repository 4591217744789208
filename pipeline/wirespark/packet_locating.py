"""Where the packets of a capture are that have TCP segments: found in columns if their headers are usual, else one by one."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import compress
from typing import TYPE_CHECKING

import numpy as np

from wiregen.formats.capture import Batch, CaptureLimits, IssueKind, Issues, Source, keys_in, read_batches
from wirespark.index_file import FIELDS
from wirespark.packet_headers import PacketHeaders, read_headers

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["LocatedPackets", "locate_packets"]

_WINDOW_SIZE = 2 << 20
"""Columns of few packets take as long as longer ones, and each window ends with a packet that is read alone."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LocatedPackets:
    """Some packets, in the order of their capture: the keys of their segments, and the records that an index has."""

    keys: list[bytes]
    records: NDArray[np.void]


def locate_packets(source: Source, *, port: int | None = None, issues: Issues) -> Iterator[LocatedPackets]:
    """Yield the packets of a capture whose TCP segments touch `port`. Damage is noted in `issues`.

    Raises:
        CaptureError: By the iterator: the source cannot be opened or is not a capture.
    """
    for batch in read_batches(source, CaptureLimits(window_size=_WINDOW_SIZE), issues):
        headers = read_headers(batch)
        keys, are_own = headers.fields["key"].tolist(), _are_of_port(headers, port, issues)
        records = _records(batch, headers)
        others = np.flatnonzero(~headers.is_usual).tolist()
        if others:
            places = [batch.places[index] for index in others]
            found = keys_in(batch._replace(places=places), port=port, issues=issues)
            for index in others:
                keys[index] = found.get(int(headers.places.numbers[index]))
                are_own[index] = keys[index] is not None
        if not are_own.all():
            keys, records = list(compress(keys, are_own)), records[are_own]
        if keys:
            yield LocatedPackets(keys=keys, records=records)


def _are_of_port(headers: PacketHeaders, port: int | None, issues: Issues) -> NDArray[np.bool_]:
    """Return which packets with usual headers touch a port; the others of these are issues."""
    if port is None:
        return headers.is_usual.copy()
    are_of_port: NDArray[np.bool_] = (headers.fields["source"] == port) | (headers.fields["target"] == port)
    for number in headers.places.numbers[headers.is_usual & ~are_of_port].tolist():
        issues.note(IssueKind.OTHER_PORT, number)
    are_of_port &= headers.is_usual
    return are_of_port


def _records(batch: Batch, headers: PacketHeaders) -> NDArray[np.void]:
    """Return the records of all packets of a batch."""
    places = headers.places
    records = np.empty(len(places), FIELDS)
    records["offset"] = batch.offset + places.starts
    records["time"] = places.times
    records["captured"] = places.ends - places.starts
    records["size"] = places.sizes
    records["link"] = batch.link_type
    return records
