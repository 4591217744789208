"""From a captured packet to its TCP segment: link layer, IP and TCP headers, every chain bounded.

Checksums are not verified: a capture on the sending host holds them before the network card fills them in.
"""

import struct
from collections.abc import Callable
from typing import NamedTuple

from wiregen.formats.capture.issues import IssueKind
from wiregen.formats.capture.packet import Packet

FIN, SYN, RST, ACK = 0x01, 0x02, 0x04, 0x10
TURNS = SYN | FIN | RST
"""The flags with which a flow may begin or end."""

_IPV4, _IPV6, _TCP = 0x0800, 0x86DD, 6
_VLAN_TYPES = frozenset({0x8100, 0x88A8, 0x9100, 0x9200})
_MAX_VLAN_TAGS = 4
_MAX_EXTENSIONS = 8
_FRAGMENT_HEADER, _AUTHENTICATION_HEADER = 44, 51
_EXTENSION_HEADERS = frozenset(
    {0, 43, 60, 135, 139, 140}
)  # those whose length counts 8 bytes beyond the first 8
_FAMILIES = {
    2: _IPV4,
    10: _IPV6,
    23: _IPV6,
    24: _IPV6,
    28: _IPV6,
    30: _IPV6,
}  # AF_INET6 of Linux, Windows, BSDs

_U16 = struct.Struct(">H").unpack_from
_IPV4_HEADER = struct.Struct(">BxHxxHxB").unpack_from
_IPV6_HEADER = struct.Struct(">HB").unpack_from
_TCP_HEADER = struct.Struct(">4xIIBB").unpack_from


class Segment(NamedTuple):
    """One TCP segment; a tuple for the same reason as a packet.

    `key` identifies the flow: the sender's and the receiver's address, then their ports, as on the wire.
    `sequence` is the number of the first byte of `data`, one more than that of a SYN itself. `size` is that
    of the data on the wire, more than `len(data)` if the capture truncated it.
    """

    number: int
    time: float
    key: bytes
    sequence: int
    acknowledged: int
    flags: int
    data: bytes
    size: int


Values = tuple[int, float, bytes, int, int, int, bytes, int]
"""A segment's fields in their order: most segments are used at once, and do not need names."""


class SegmentRun(NamedTuple):
    """Segments of one direction that follow each other, none of which begins or ends a flow; each has one of `pieces` and of `times`.

    `number` is that of the first packet, `sequence` that of the first byte.
    """

    number: int
    key: bytes
    sequence: int
    pieces: list[bytes]
    times: list[float]

    @property
    def joined(self) -> Values:
        """Return one segment with all of their data, at the time of the last."""
        data = b"".join(self.pieces)
        return self.number, self.times[-1], self.key, self.sequence, 0, ACK, data, len(data)


class UnusablePacket(Exception):
    """The packet does not hold a usable segment, and the reason."""

    def __init__(self, kind: IssueKind, detail: str = "") -> None:
        super().__init__(kind, detail)
        self.kind = kind
        self.detail = detail


class _Datagram(NamedTuple):
    """The place of an IP packet's payload.

    `end` is that of the IP length: without padding, with truncated bytes. It is not beyond the packet's length on
    the wire, so a damaged IP length does not make bytes seem missing.
    """

    addresses: bytes
    protocol: int
    start: int
    end: int


def read_segment(packet: Packet) -> Segment:
    """Return the packet's TCP segment.

    Raises:
        UnusablePacket: it is not TCP, a fragment, malformed, or cut inside its headers.
    """
    try:
        network_type, offset = _read_link(packet)
        return _read_tcp(packet, _read_ip(packet, network_type, offset))
    except (struct.error, IndexError):
        is_cut = len(packet.data) < packet.size
        kind = IssueKind.CUT_PACKET if is_cut else IssueKind.MALFORMED_PACKET
        raise UnusablePacket(kind, f"{len(packet.data)} bytes end inside the headers") from None


def _read_link(packet: Packet) -> tuple[int, int]:
    """Return the type of the network layer and the offset where it begins."""
    read = _LINKS.get(packet.link_type)
    if read is None:
        raise UnusablePacket(IssueKind.UNSUPPORTED_LINK, f"link type {packet.link_type}")
    return read(packet.data)


def _read_ethernet(data: bytes) -> tuple[int, int]:
    return _behind_tags(data, 12, 14)


def _read_cooked(data: bytes) -> tuple[int, int]:
    return _behind_tags(data, 14, 16)


def _read_cooked_2(data: bytes) -> tuple[int, int]:
    return _behind_tags(data, 0, 20)


def _behind_tags(data: bytes, type_offset: int, offset: int) -> tuple[int, int]:
    """Skip the VLAN tags: each is the tag itself and the type of the next header."""
    (type_,) = _U16(data, type_offset)
    n_tags = 0
    while type_ in _VLAN_TYPES:
        if n_tags == _MAX_VLAN_TAGS:
            raise UnusablePacket(IssueKind.MALFORMED_PACKET, f"more than {_MAX_VLAN_TAGS} VLAN tags")
        (type_,) = _U16(data, offset + 2)
        offset += 4
        n_tags += 1
    return type_, offset


def _read_loopback(data: bytes) -> tuple[int, int]:
    """Read the address family: in the byte order of the capturing host, or big-endian for link type 108."""
    family = min(int.from_bytes(data[:4], "little"), int.from_bytes(data[:4], "big"))
    return _FAMILIES.get(family, 0), 4


def _read_raw(data: bytes) -> tuple[int, int]:
    return {4: _IPV4, 6: _IPV6}.get(data[0] >> 4, 0), 0


_LINKS: dict[int, Callable[[bytes], tuple[int, int]]] = {
    0: _read_loopback,
    1: _read_ethernet,
    12: _read_raw,  # the value of DLT_RAW on most systems before it became 101
    14: _read_raw,
    101: _read_raw,
    108: _read_loopback,
    113: _read_cooked,
    228: lambda _data: (_IPV4, 0),
    229: lambda _data: (_IPV6, 0),
    276: _read_cooked_2,
}


def _read_ip(packet: Packet, network_type: int, offset: int) -> _Datagram:
    if network_type == _IPV4:
        return _read_ipv4(packet, offset)
    if network_type == _IPV6:
        return _read_ipv6(packet, offset)
    raise UnusablePacket(IssueKind.NOT_TCP, f"network type {network_type:#06x}")


def _read_ipv4(packet: Packet, offset: int) -> _Datagram:
    first, total_size, fragment, protocol = _IPV4_HEADER(packet.data, offset)
    header_size = (first & 0x0F) * 4
    if first >> 4 != 4 or header_size < 20:
        raise UnusablePacket(IssueKind.MALFORMED_PACKET, f"IPv4 header begins with {first:#04x}")
    if fragment & 0x3FFF:  # more fragments, or an offset
        raise UnusablePacket(IssueKind.FRAGMENT)
    # Zero: left to the network card for segmentation, which fills it in only in packets that it sends.
    end = min(offset + total_size, packet.size) if total_size else packet.size
    if end < offset + header_size:
        raise UnusablePacket(IssueKind.MALFORMED_PACKET, f"IPv4 length {total_size}, header {header_size}")
    return _Datagram(packet.data[offset + 12 : offset + 20], protocol, offset + header_size, end)


def _read_ipv6(packet: Packet, offset: int) -> _Datagram:
    data = packet.data
    payload_size, next_header = _IPV6_HEADER(data, offset + 4)
    if data[offset] >> 4 != 6:
        raise UnusablePacket(IssueKind.MALFORMED_PACKET, f"IPv6 header begins with {data[offset]:#04x}")
    start = offset + 40
    # A size of zero is that of segmentation offload, or of a jumbogram.
    end = min(start + payload_size, packet.size) if payload_size else packet.size
    protocol, start = _behind_extensions(data, next_header, start)
    return _Datagram(data[offset + 8 : offset + 40], protocol, start, end)


def _behind_extensions(data: bytes, next_header: int, offset: int) -> tuple[int, int]:
    for _ in range(_MAX_EXTENSIONS):
        if next_header in _EXTENSION_HEADERS:
            size = 8 + data[offset + 1] * 8
        elif next_header == _FRAGMENT_HEADER:
            _refuse_fragment(data, offset)
            size = 8
        elif next_header == _AUTHENTICATION_HEADER:
            size = 8 + data[offset + 1] * 4
        else:
            return next_header, offset
        next_header = data[offset]
        offset += size
    raise UnusablePacket(IssueKind.MALFORMED_PACKET, f"more than {_MAX_EXTENSIONS} IPv6 extension headers")


def _refuse_fragment(data: bytes, offset: int) -> None:
    (fragment,) = _U16(data, offset + 2)
    if fragment & 0xFFF9:  # an offset, or more fragments; neither is an atomic fragment, which is whole
        raise UnusablePacket(IssueKind.FRAGMENT)


def _read_tcp(packet: Packet, datagram: _Datagram) -> Segment:
    number, time, _, data, _ = packet
    addresses, protocol, start, end = datagram
    if protocol != _TCP:
        raise UnusablePacket(IssueKind.NOT_TCP, f"IP protocol {protocol}")
    sequence, acknowledged, header, flags = _TCP_HEADER(data, start)
    payload = start + (header >> 4) * 4
    if payload < start + 20 or payload > end:
        detail = f"TCP header of {payload - start} bytes in {end - start}"
        raise UnusablePacket(IssueKind.MALFORMED_PACKET, detail)
    if flags & SYN:
        sequence = (sequence + 1) & 0xFFFFFFFF
    key = addresses + data[start : start + 4]
    return Segment(number, time, key, sequence, acknowledged, flags, data[payload:end], end - payload)
