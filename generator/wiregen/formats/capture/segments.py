"""From batches of packets to their TCP segments: usual headers in one step, every other packet by the general parser.

Invariant: both give the same segment for every packet that the first can parse.
"""

import struct
from collections.abc import Iterable, Iterator
from itertools import chain
from typing import NamedTuple

from wiregen.formats.capture.headers import SYN, UnusablePacket, Values, read_segment
from wiregen.formats.capture.issues import IssueKind, Issues
from wiregen.formats.capture.packet import Batch, Packet

_IPV4, _IPV6, _TAG = 4, 6, 0
_TCP = 6
_FRAGMENT_BITS = 0x3FFF  # more fragments, or an offset

# The IP header without options and the TCP header's fixed part. The addresses are next to the ports: together they
# are a flow's key. Their sizes, 20 and 14 or 40 and 14, and a tag's 4 are literal numbers in the loop.
_IPV4_TCP = struct.Struct(">BxHxxHxBxx12sIIBB")
_IPV6_TCP = struct.Struct(">B3xHBx36sIIBB")


class Link(NamedTuple):
    """The bytes of a link header with its payload's type, the payload's offset, and the meanings of usual types."""

    type_start: int
    type_end: int
    network: int
    meanings: dict[bytes, int]

    @property
    def ipv4_types(self) -> list[bytes]:
        """Return the types of a payload that is IPv4."""
        return [type_ for type_, meaning in self.meanings.items() if meaning == _IPV4]


_ETHER_TYPES = {b"\x08\x00": _IPV4, b"\x86\xdd": _IPV6, b"\x81\x00": _TAG, b"\x88\xa8": _TAG}
_FAMILIES = {
    family.to_bytes(4, order): version  # in the byte order of any capturing host
    for family, version in ((2, _IPV4), (10, _IPV6), (23, _IPV6), (24, _IPV6), (28, _IPV6), (30, _IPV6))
    for order in ("little", "big")
}
_FIRST_BYTES = {b"\x45": _IPV4} | {bytes([first]): _IPV6 for first in range(0x60, 0x70)}
_LOOPBACK, _RAW = Link(0, 4, 4, _FAMILIES), Link(0, 1, 0, _FIRST_BYTES)
_UNUSUAL = Link(0, 0, 0, {})
LINKS = {
    0: _LOOPBACK,
    1: Link(12, 14, 14, _ETHER_TYPES),
    12: _RAW,
    14: _RAW,
    101: _RAW,
    108: _LOOPBACK,
    113: Link(14, 16, 16, _ETHER_TYPES),
    276: Link(0, 2, 20, _ETHER_TYPES),
}


def read_segments(batches: Iterable[Batch], *, port: int | None, issues: Issues) -> Iterator[Values]:
    """Yield the TCP segments that touch `port`; every other packet is an issue."""
    segments = chain.from_iterable(_segments(batch, issues) for batch in batches)
    return segments if port is None else _of_port(segments, port.to_bytes(2, "big"), issues)


def _of_port(segments: Iterable[Values], wanted: bytes, issues: Issues) -> Iterator[Values]:
    for segment in segments:
        number, _time, key = segment[:3]
        if key[-2:] == wanted or key[-4:-2] == wanted:
            yield segment
        else:
            issues.note(IssueKind.OTHER_PORT, number)


def _segments(batch: Batch, issues: Issues) -> Iterator[Values]:
    """Yield the batch's segments.

    One loop without calls: it runs once per packet, and a call costs as much as a header.
    """
    data = batch.data
    type_start, type_end, network, meanings = LINKS.get(batch.link_type, _UNUSUAL)
    meaning_of, read_ipv4, read_ipv6 = meanings.get, _IPV4_TCP.unpack_from, _IPV6_TCP.unpack_from
    for number, time, start, end, size in batch.places:
        meaning = meaning_of(data[start + type_start : start + type_end])
        ip = start + network
        if meaning == _TAG:
            meaning = meaning_of(data[ip + 2 : ip + 4])
            ip += 4
        if meaning == _IPV4 and ip + 34 <= end:
            first, length, fragment, protocol, key, sequence, acknowledged, header, flags = read_ipv4(
                data, ip
            )
            is_usual = first == 0x45 and not fragment & _FRAGMENT_BITS
            stop, payload = ip + length, ip + 20 + (header >> 4) * 4
        elif meaning == _IPV6 and ip + 54 <= end:
            first, length, protocol, key, sequence, acknowledged, header, flags = read_ipv6(data, ip)
            is_usual = first >> 4 == 6
            stop, payload = ip + 40 + length, ip + 40 + (header >> 4) * 4
        else:
            is_usual = False
        if is_usual and protocol == _TCP and header >= 0x50 and payload <= stop <= end:
            if flags & SYN:
                sequence = (sequence + 1) & 0xFFFFFFFF
            yield number, time, key, sequence, acknowledged, flags, data[payload:stop], stop - payload
            continue
        try:
            yield read_segment(Packet(number, time, batch.link_type, data[start:end], max(size, end - start)))
        except UnusablePacket as unusable:
            issues.note(unusable.kind, number, unusable.detail)
