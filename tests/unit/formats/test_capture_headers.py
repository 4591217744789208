"""From packet to segment, with dpkt as the independent encoder of every layer."""

import struct

import dpkt
import pytest
from hypothesis import given
from hypothesis import strategies as st

from wiregen.formats.capture import IssueKind, Packet
from wiregen.formats.capture.headers import ACK, SYN, Segment, UnusablePacket, read_segment

CLIENT, SERVER = bytes([10, 0, 0, 1]), bytes([10, 0, 0, 2])
CLIENT_6, SERVER_6 = bytes(15) + b"\x01", bytes.fromhex("20010db8") + bytes(11) + b"\x02"
PORTS = struct.pack(">HH", 51000, 5044)


def tcp(data: bytes = b"hello", *, flags: int = ACK, options: bytes = b"") -> bytes:
    segment = dpkt.tcp.TCP(sport=51000, dport=5044, seq=1000, ack=77, flags=flags, opts=options, data=data)
    segment.off = 5 + len(options) // 4
    return bytes(segment)


def ipv4(payload: bytes = tcp(), *, options: bytes = b"", **fields: int) -> bytes:
    packet = dpkt.ip.IP(src=CLIENT, dst=SERVER, p=6, opts=options, data=payload)
    packet.hl = 5 + len(options) // 4
    packet.len = packet.hl * 4 + len(payload)
    for name, value in fields.items():
        setattr(packet, name, value)
    return bytes(packet.pack_hdr()) + options + payload


def ipv6(payload: bytes = tcp(), *, next_header: int = 6, size: int | None = None) -> bytes:
    size = len(payload) if size is None else size
    return struct.pack(">IHBB", 0x60000000, size, next_header, 64) + CLIENT_6 + SERVER_6 + payload


def ethernet(payload: bytes, type_: int = 0x0800, *, tags: tuple[int, ...] = ()) -> bytes:
    types = (*tags, type_)
    head = bytes(12) + struct.pack(">H", types[0])
    return head + b"".join(struct.pack(">HH", 5, following) for following in types[1:]) + payload


def cooked(payload: bytes, type_: int) -> bytes:
    return bytes(dpkt.sll.SLL(type=0, hrd=772, hlen=6, hdr=bytes(8), ethtype=type_)) + payload


def cooked_2(payload: bytes, type_: int) -> bytes:
    return bytes(dpkt.sll2.SLL2(ethtype=type_, intindex=1, hrd=772, type=0, hlen=6, hdr=bytes(8))) + payload


def segment_of(data: bytes, link_type: int = 101, *, size: int | None = None) -> Segment:
    return read_segment(Packet(1, 2.5, link_type, data, size or len(data)))


HELLO_4 = Segment(1, 2.5, CLIENT + SERVER + PORTS, 1000, 77, ACK, b"hello", 5)
HELLO_6 = HELLO_4._replace(key=CLIENT_6 + SERVER_6 + PORTS)


@pytest.mark.parametrize(
    ("link_type", "data", "expected"),
    [
        pytest.param(0, struct.pack("<I", 2) + ipv4(), HELLO_4, id="null-little-endian"),
        pytest.param(0, struct.pack(">I", 2) + ipv4(), HELLO_4, id="null-big-endian"),
        pytest.param(0, struct.pack("<I", 30) + ipv6(), HELLO_6, id="null-ipv6-macos"),
        pytest.param(0, struct.pack("<I", 24) + ipv6(), HELLO_6, id="null-ipv6-netbsd"),
        pytest.param(108, struct.pack(">I", 28) + ipv6(), HELLO_6, id="loop-ipv6-freebsd"),
        pytest.param(1, ethernet(ipv4()), HELLO_4, id="ethernet"),
        pytest.param(1, ethernet(ipv6(), 0x86DD), HELLO_6, id="ethernet-ipv6"),
        pytest.param(1, ethernet(ipv4(), tags=(0x8100,)), HELLO_4, id="vlan"),
        pytest.param(1, ethernet(ipv4(), tags=(0x88A8, 0x8100)), HELLO_4, id="qinq"),
        pytest.param(1, ethernet(ipv4(), tags=(0x9100,) * 4), HELLO_4, id="four-tags"),
        pytest.param(1, ethernet(ipv4()) + bytes(17), HELLO_4, id="ethernet-padding"),
        pytest.param(12, ipv4(), HELLO_4, id="raw-12"),
        pytest.param(101, ipv4(), HELLO_4, id="raw-ipv4"),
        pytest.param(101, ipv6(), HELLO_6, id="raw-ipv6"),
        pytest.param(113, cooked(ipv4(), 0x0800), HELLO_4, id="cooked"),
        pytest.param(113, cooked(ipv6(), 0x86DD), HELLO_6, id="cooked-ipv6"),
        pytest.param(228, ipv4(), HELLO_4, id="ipv4"),
        pytest.param(229, ipv6(), HELLO_6, id="ipv6"),
        pytest.param(276, cooked_2(ipv4(), 0x0800), HELLO_4, id="cooked-2"),
        pytest.param(276, cooked_2(ipv6(), 0x86DD), HELLO_6, id="cooked-2-ipv6"),
    ],
)
def test_link_types(link_type: int, data: bytes, expected: Segment) -> None:
    assert segment_of(data, link_type) == expected


@pytest.mark.parametrize(
    ("data", "link_type", "expected"),
    [
        pytest.param(ipv4(len=45 + 4096), 101, HELLO_4, id="ipv4"),
        pytest.param(ipv6(size=25 + 4096), 101, HELLO_6, id="ipv6"),
        pytest.param(ethernet(ipv4(len=45 + 4096)), 1, HELLO_4, id="ethernet"),
    ],
)
def test_a_damaged_length_is_bounded_by_the_record(data: bytes, link_type: int, expected: Segment) -> None:
    """One wrong bit in an IP length: no bytes are missing, since the record has them all."""
    assert segment_of(data, link_type) == expected


def test_a_cut_record_that_does_not_say_its_length_is_as_long_as_its_bytes() -> None:
    """The sequence numbers of the packets after it say what is missing."""
    assert segment_of(ipv4()[:-3]) == HELLO_4._replace(data=b"he", size=2)


HOP_BY_HOP = bytes([6, 1]) + bytes(14)
ATOMIC_FRAGMENT = bytes([6, 0, 0, 0]) + bytes(4)
AUTHENTICATION = bytes([6, 4]) + bytes(22)


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        pytest.param(ipv4(options=b"\x01" * 8), HELLO_4, id="ipv4-options"),
        pytest.param(ipv4(tcp(options=b"\x01" * 12)), HELLO_4, id="tcp-options"),
        pytest.param(ipv4(len=0), HELLO_4, id="ipv4-length-zero-from-offload"),
        pytest.param(ipv4(_flags_offset=0x4000), HELLO_4, id="do-not-fragment"),
        pytest.param(ipv6(size=0), HELLO_6, id="ipv6-length-zero"),
        pytest.param(ipv6(HOP_BY_HOP + tcp(), next_header=0), HELLO_6, id="hop-by-hop"),
        pytest.param(
            ipv6(bytes([60]) + HOP_BY_HOP[1:] + HOP_BY_HOP + tcp(), next_header=43), HELLO_6, id="two"
        ),
        pytest.param(ipv6(ATOMIC_FRAGMENT + tcp(), next_header=44), HELLO_6, id="atomic-fragment"),
        pytest.param(ipv6(AUTHENTICATION + tcp(), next_header=51), HELLO_6, id="authentication"),
        pytest.param(ipv4(tcp(b"")), HELLO_4._replace(data=b"", size=0), id="no-data"),
        pytest.param(
            ipv4(tcp(flags=SYN)), HELLO_4._replace(flags=SYN, sequence=1001), id="data-behind-a-syn"
        ),
    ],
)
def test_ip_and_tcp_headers(data: bytes, expected: Segment) -> None:
    assert segment_of(data) == expected


@pytest.mark.parametrize(
    ("data", "size"),
    [
        pytest.param(ipv4()[:-3], 45, id="by-ip-length"),
        pytest.param(ipv4(len=0)[:-3], 45, id="by-wire-size"),
    ],
)
def test_a_cut_packet_keeps_its_size(data: bytes, size: int | None) -> None:
    assert segment_of(data, size=size) == HELLO_4._replace(data=b"he")


@pytest.mark.parametrize(
    ("link_type", "data", "kind"),
    [
        pytest.param(105, ipv4(), IssueKind.UNSUPPORTED_LINK, id="wireless"),
        pytest.param(1, ethernet(bytes(28), 0x0806), IssueKind.NOT_TCP, id="arp"),
        pytest.param(1, ethernet(ipv4(), tags=(0x8100,) * 5), IssueKind.MALFORMED_PACKET, id="five-tags"),
        pytest.param(1, ethernet(b"", tags=(0x8100,) * 500), IssueKind.MALFORMED_PACKET, id="endless-tags"),
        pytest.param(101, ipv4(p=17), IssueKind.NOT_TCP, id="udp"),
        pytest.param(101, b"\x50" + ipv4()[1:], IssueKind.NOT_TCP, id="version-5"),
        pytest.param(228, ipv6(), IssueKind.MALFORMED_PACKET, id="version-6-as-4"),
        pytest.param(229, ipv4(), IssueKind.MALFORMED_PACKET, id="version-4-as-6"),
        pytest.param(101, b"\x44" + ipv4()[1:], IssueKind.MALFORMED_PACKET, id="ipv4-header-of-16"),
        pytest.param(101, ipv4(len=19), IssueKind.MALFORMED_PACKET, id="ipv4-length-below-header"),
        pytest.param(101, ipv4(len=39), IssueKind.MALFORMED_PACKET, id="tcp-header-beyond-ip"),
        pytest.param(101, ipv4(_flags_offset=0x2000), IssueKind.FRAGMENT, id="first-fragment"),
        pytest.param(101, ipv4(_flags_offset=0x0010), IssueKind.FRAGMENT, id="later-fragment"),
        pytest.param(
            101, ipv6(b"\6\0\0\1" + bytes(24), next_header=44), IssueKind.FRAGMENT, id="ipv6-fragment"
        ),
        pytest.param(
            101, ipv6(bytes(72), next_header=0), IssueKind.MALFORMED_PACKET, id="endless-extensions"
        ),
        pytest.param(
            101, ipv4(tcp()[:12] + b"\x40" + tcp()[13:]), IssueKind.MALFORMED_PACKET, id="tcp-of-16"
        ),
        pytest.param(101, ipv4(tcp()[:12]), IssueKind.MALFORMED_PACKET, id="tcp-cut"),
        pytest.param(101, b"", IssueKind.MALFORMED_PACKET, id="empty"),
    ],
)
def test_unusable_packets(link_type: int, data: bytes, kind: IssueKind) -> None:
    with pytest.raises(UnusablePacket) as caught:
        segment_of(data, link_type)
    assert caught.value.kind is kind


def test_a_packet_cut_inside_its_headers_is_a_loss() -> None:
    with pytest.raises(UnusablePacket) as caught:
        segment_of(ipv4()[:30], size=45)
    assert caught.value.kind is IssueKind.CUT_PACKET


@given(
    st.sampled_from([0, 1, 101, 108, 113, 276]),
    st.binary(max_size=120),
    st.sampled_from([b"", ethernet(b"\x45")]),
)
def test_any_bytes_are_a_segment_or_unusable(link_type: int, data: bytes, head: bytes) -> None:
    try:
        segment = segment_of(head + data, link_type)
    except UnusablePacket:
        return
    assert 0 <= len(segment.data) <= segment.size <= 65_535
