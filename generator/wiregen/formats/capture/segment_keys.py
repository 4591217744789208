"""The keys of segments, by which a reader can read some connections alone and skip all other bytes."""

from wiregen.formats.capture.issues import Issues
from wiregen.formats.capture.packet import Batch
from wiregen.formats.capture.segments import read_segments

__all__ = ["ends_of", "keys_in", "keys_of"]


def keys_in(batch: Batch, *, port: int | None, issues: Issues) -> dict[int, bytes]:
    """Return the keys of the segments that touch `port` by the numbers of their packets; every other packet is an issue.

    A key is the sender's and the receiver's address, then their ports.
    """
    return {
        number: key for number, _, key, _, _, _, _, _ in read_segments((batch,), port=port, issues=issues)
    }


def ends_of(key: bytes) -> bytes:
    """Return the addresses and the ports of two ends in an order that is the same for both directions."""
    half, ports = (len(key) - 4) // 2, key[-4:]
    return b"".join(sorted((key[:half] + ports[:2], key[half : 2 * half] + ports[2:])))


def keys_of(ends: bytes) -> tuple[bytes, bytes]:
    """Return the keys of the segments of both directions between two ends."""
    half = len(ends) // 2
    one, port, other, other_port = ends[: half - 2], ends[half - 2 : half], ends[half:-2], ends[-2:]
    return one + other + port + other_port, other + one + other_port + port
