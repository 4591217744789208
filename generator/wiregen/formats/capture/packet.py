"""Packets as a capture holds them, before any header in them is parsed."""

from collections.abc import Iterator, Sequence
from typing import NamedTuple


class Packet(NamedTuple):
    """A captured packet; a tuple because there are millions of them (a frozen dataclass takes three times as long).

    `number` counts from 1; `time` is in seconds since 1970; `size` is the length on the wire, never below `len(data)`.
    """

    number: int
    time: float
    link_type: int
    data: bytes
    size: int


Place = tuple[int, float, int, int, int]
"""A packet's number and time, its begin and end in the batch's data, and its length according to the capture."""

BATCH_LENGTH = 4096
"""The most places that are held at a time: each takes 400 bytes, but a packet may take only 16 of the file."""


class Batch(NamedTuple):
    """Packets of one link type in the buffer into which they were read, not copied from it.

    `offset` is that of the first byte of `data` in the uncompressed file.
    """

    link_type: int
    data: bytes
    places: Sequence[Place]
    offset: int = 0

    def packets(self) -> Iterator[Packet]:
        """Yield the packets, each with bytes of its own."""
        for number, time, start, end, size in self.places:
            yield Packet(number, time, self.link_type, self.data[start:end], max(size, end - start))


def batch_of(packet: Packet, offset: int = 0) -> Batch:
    """Return the batch that holds this packet only; `offset` is that of its first byte."""
    place = (packet.number, packet.time, 0, len(packet.data), packet.size)
    return Batch(packet.link_type, packet.data, [place], offset)
