"""Reads packets: detects the format, and yields its packets in file order."""

from collections.abc import Iterator

from wiregen.formats.capture.compression import COMPRESSIONS
from wiregen.formats.capture.errors import CutHeaderError, NotCaptureError
from wiregen.formats.capture.issues import Issues
from wiregen.formats.capture.limits import CaptureLimits
from wiregen.formats.capture.packet import Batch, Packet
from wiregen.formats.capture.pcap import PCAP_MAGICS, read_pcap
from wiregen.formats.capture.pcapng import PCAPNG_MAGIC, read_pcapng
from wiregen.formats.capture.source import Source, open_input

_MAGIC_SIZE = 4
_BEGINNINGS = (PCAPNG_MAGIC, *PCAP_MAGICS, *(each.magic[:_MAGIC_SIZE] for each in COMPRESSIONS))
_EXPECTED = "expected pcap (d4c3b2a1, a1b2c3d4, 4d3cb2a1, a1b23c4d) or pcapng (0a0d0d0a), compressed with gzip, xz, zstd or not at all"


def read_capture(
    source: Source, *, limits: CaptureLimits | None = None, issues: Issues | None = None
) -> Iterator[Packet]:
    """Yield the packets of a pcap or pcapng file, also of a compressed one; the format is detected from the content.

    A damaged file yields the packets before the damage, which is noted in `issues`.

    Raises:
        CaptureError: The source cannot be opened or is not a capture; raised at the first packet, not at the call.
    """
    for batch in read_batches(source, limits or CaptureLimits(), Issues() if issues is None else issues):
        yield from batch.packets()


def read_batches(source: Source, limits: CaptureLimits, issues: Issues) -> Iterator[Batch]:
    """Yield the same packets in batches, as they were read."""
    with open_input(source, issues, limits.window_size) as file:
        magic = file.read(_MAGIC_SIZE)
        if magic == PCAPNG_MAGIC:
            yield from read_pcapng(file, limits, issues)
        elif magic in PCAP_MAGICS:
            yield from read_pcap(magic, file, limits, issues)
        else:
            is_cut = len(magic) < _MAGIC_SIZE and may_become_capture(magic)
            error = CutHeaderError if is_cut else NotCaptureError
            raise error(f"not a capture: {_describe(magic, issues)}; {_EXPECTED}")


def may_be_capture(head: bytes) -> bool:
    """Return whether a file that begins with these bytes, at least four, may be a capture, or a compressed one."""
    return head.startswith(_BEGINNINGS)


def may_become_capture(head: bytes) -> bool:
    """Return whether a file that begins with these bytes, fewer than four, may be a capture when there are more."""
    return any(each.startswith(head) for each in _BEGINNINGS)


def is_capture(source: Source) -> bool:
    """Return whether the first bytes of `source`, unzipped, are those of a capture; a stream is consumed by it.

    Raises:
        CaptureError: The source cannot be opened.
    """
    with open_input(source, Issues(), _MAGIC_SIZE) as file:
        magic = file.read(_MAGIC_SIZE)
        return magic == PCAPNG_MAGIC or magic in PCAP_MAGICS


def _describe(magic: bytes, issues: Issues) -> str:
    if magic:
        return f"it begins with {magic.hex()}"
    return next((issue.detail for issue in issues if issue.detail), "it is empty")
