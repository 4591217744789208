"""Where the segments of a capture are, so that a reader can read some connections alone and skip all other bytes."""

from collections.abc import Iterator
from typing import NamedTuple

from wiregen.formats.capture.issues import Issues
from wiregen.formats.capture.limits import CaptureLimits
from wiregen.formats.capture.reader import read_batches
from wiregen.formats.capture.segments import read_segments
from wiregen.formats.capture.source import Source

__all__ = ["LocatedPacket", "ends_of", "keys_of", "locate_packets"]


_new = tuple.__new__  # faster than the generated `__new__` of a named tuple


class LocatedPacket(NamedTuple):
    """A packet with a TCP segment; a tuple for the same reason as a packet.

    `key` is that of the segment: the sender's and the receiver's address, then their ports. `offset` is that of the packet's
    first byte in the uncompressed file, `captured_size` the number of its bytes there, and `size` its length according to
    the capture.
    """

    key: bytes
    link_type: int
    time: float
    offset: int
    captured_size: int
    size: int


def locate_packets(
    source: Source,
    *,
    port: int | None = None,
    limits: CaptureLimits | None = None,
    issues: Issues | None = None,
) -> Iterator[LocatedPacket]:
    """Yield the packets of a capture whose TCP segments touch `port`, in its order. Damage is noted in `issues`.

    Raises:
        CaptureError: By the iterator: the source cannot be opened or is not a capture.
    """
    noted = Issues() if issues is None else issues
    for batch in read_batches(source, limits or CaptureLimits(), noted):
        link_type, _data, places, base = batch
        first, *_ = places[0]
        for number, _, key, _, _, _, _, _ in read_segments((batch,), port=port, issues=noted):
            _number, time, start, end, size = places[number - first]
            yield _new(LocatedPacket, (key, link_type, time, base + start, end - start, size))


def ends_of(key: bytes) -> bytes:
    """Return what both directions and all connections of two ends have in common: addresses and ports in an order of their own."""
    half, ports = (len(key) - 4) // 2, key[-4:]
    return b"".join(sorted((key[:half] + ports[:2], key[half : 2 * half] + ports[2:])))


def keys_of(ends: bytes) -> tuple[bytes, bytes]:
    """Return the keys of the segments of both directions between two ends."""
    half = len(ends) // 2
    one, port, other, other_port = ends[: half - 2], ends[half - 2 : half], ends[half:-2], ends[-2:]
    return one + other + port + other_port, other + one + other_port + port
