"""Captures as files: both formats, every byte order and resolution, and every way in which a file can be damaged."""

import gzip
import io
import struct
import tracemalloc
from pathlib import Path

import dpkt
import pytest
from hypothesis import given
from hypothesis import strategies as st

from wiregen.formats.capture import (
    CaptureError,
    CaptureLimits,
    CutHeaderError,
    IssueKind,
    Issues,
    NotCaptureError,
    Packet,
    is_capture,
    read_capture,
    read_streams,
)

SECTION, INTERFACE, OLD_PACKET, SIMPLE_PACKET, PACKET = 0x0A0D0D0A, 1, 2, 3, 6
PCAP_FLAVOURS = [
    ("<", 0xA1B2C3D4, 10**6),
    (">", 0xA1B2C3D4, 10**6),
    ("<", 0xA1B23C4D, 10**9),
    (">", 0xA1B23C4D, 10**9),
]


def pcap(
    *packets: bytes, order: str = "<", magic: int = 0xA1B2C3D4, link_type: int = 1, snap: int = 262_144
) -> bytes:
    header = struct.pack(order + "IHHiIII", magic, 2, 4, 0, 0, snap, link_type)
    return header + b"".join(record(packet, order=order) for packet in packets)


def record(data: bytes, *, order: str = "<", ticks: int = 500, size: int | None = None) -> bytes:
    return struct.pack(order + "IIII", 7, ticks, len(data), size or len(data)) + data


def block(type_: int, body: bytes, *, order: str = "<") -> bytes:
    body += bytes(-len(body) % 4)
    size = struct.pack(order + "I", 12 + len(body))
    return struct.pack(order + "I", type_) + size + body + size


def section(*, order: str = "<") -> bytes:
    return block(SECTION, struct.pack(order + "IHHq", 0x1A2B3C4D, 1, 0, -1), order=order)


def interface(options: bytes = b"", *, order: str = "<", link_type: int = 1, snap: int = 0) -> bytes:
    return block(INTERFACE, struct.pack(order + "HHI", link_type, 0, snap) + options, order=order)


def option(code: int, value: bytes, *, order: str = "<") -> bytes:
    return struct.pack(order + "HH", code, len(value)) + value + bytes(-len(value) % 4)


def enhanced(
    data: bytes, *, order: str = "<", number: int = 0, ticks: int = 7_000_500, size: int | None = None
) -> bytes:
    head = struct.pack(order + "IIIII", number, ticks >> 32, ticks & 0xFFFFFFFF, len(data), size or len(data))
    return block(PACKET, head + data, order=order)


def read(data: bytes, *, limits: CaptureLimits | None = None) -> tuple[list[Packet], list[IssueKind]]:
    issues = Issues()
    packets = list(read_capture(io.BytesIO(data), limits=limits, issues=issues))
    return packets, [issue.kind for issue in issues]


@pytest.mark.parametrize(("order", "magic", "ticks_per_second"), PCAP_FLAVOURS)
def test_pcap_in_each_byte_order_and_resolution(order: str, magic: int, ticks_per_second: int) -> None:
    packets, issues = read(pcap(b"one", b"second", order=order, magic=magic, link_type=101))
    time = 7 + 500 / ticks_per_second
    assert packets == [Packet(1, time, 101, b"one", 3), Packet(2, time, 101, b"second", 6)]
    assert issues == []


def test_pcap_link_type_leaves_the_check_sequence_bits_out() -> None:
    packets, _ = read(pcap(b"x", link_type=0x5400_0001))
    assert packets[0].link_type == 1


def test_pcap_with_the_largest_snap_length_and_a_cut_packet() -> None:
    packets, issues = read(pcap(snap=0xFFFFFFFF) + record(b"abc", size=1500))
    assert packets == [Packet(1, 7.0005, 1, b"abc", 1500)]
    assert issues == []


@pytest.mark.parametrize("order", "<>")
def test_pcapng_in_each_byte_order(order: str) -> None:
    head = section(order=order) + interface(order=order)
    packets, issues = read(head + enhanced(b"hello", order=order, size=9))
    assert packets == [Packet(1, 7.0005, 1, b"hello", 9)]
    assert issues == []


def test_pcapng_sections_change_byte_order_and_drop_interfaces() -> None:
    little = section() + interface(link_type=101) + interface(link_type=113) + enhanced(b"a", number=1)
    big = section(order=">") + interface(order=">", link_type=276) + enhanced(b"b", order=">")
    packets, issues = read(little + big + enhanced(b"c", order=">", number=1))
    assert [(packet.link_type, packet.data) for packet in packets] == [(113, b"a"), (276, b"b")]
    assert issues == [IssueKind.DAMAGED_BLOCK]


@pytest.mark.parametrize(
    ("options", "ticks", "time"),
    [
        pytest.param(option(9, b"\x09"), 1_500_000_000, 1.5, id="nanoseconds"),
        pytest.param(option(9, b"\x81"), 3, 1.5, id="halves"),
        pytest.param(option(9, b"\x00"), 1 << 33, float(1 << 33), id="seconds"),
        pytest.param(option(9, b"\x7f"), (1 << 64) - 1, 1.8446744073709552e-108, id="finest"),
        pytest.param(option(14, struct.pack("<q", -100)), 1_000_000, -99.0, id="time-offset"),
        pytest.param(option(2, b"lo") + option(9, b"\x03") + option(0, b""), 2500, 2.5, id="behind-a-name"),
        pytest.param(option(0, b"") + option(9, b"\x03"), 1_000_000, 1.0, id="behind-the-end"),
        pytest.param(b"\x09\x00\xff\xff\x03", 1_000_000, 1.0, id="option-longer-than-the-block"),
    ],
)
def test_pcapng_time_options(options: bytes, ticks: int, time: float) -> None:
    packets, _ = read(section() + interface(options) + enhanced(b"x", ticks=ticks))
    assert packets[0].time == pytest.approx(time, rel=1e-12)


def test_pcapng_simple_packets_take_the_last_time_and_the_snap_length() -> None:
    simple = block(SIMPLE_PACKET, struct.pack("<I", 9) + b"four")
    packets, issues = read(section() + interface(snap=4) + enhanced(b"x") + simple)
    assert packets[1] == Packet(2, 7.0005, 1, b"four", 9)
    assert issues == [IssueKind.NO_TIMESTAMP]


@pytest.mark.parametrize(
    ("options", "ticks"),
    [
        pytest.param(b"", (1 << 64) - 1, id="microseconds"),
        pytest.param(option(9, b"\0"), 1 << 63, id="seconds"),
        pytest.param(option(14, struct.pack("<q", -(1 << 40))), 7, id="time-offset"),
    ],
)
def test_a_packet_of_no_date_has_the_time_of_the_packet_before(options: bytes, ticks: int) -> None:
    """A damaged time, which would not fit into a column of timestamps."""
    old = block(OLD_PACKET, struct.pack("<HHIIII", 1, 0xFFFF, ticks >> 32, ticks & 0xFFFFFFFF, 1, 1) + b"o")
    damaged = (enhanced(b"y", number=1, ticks=ticks), old)
    data = section() + interface() + interface(options) + enhanced(b"x") + b"".join(damaged) + enhanced(b"z")
    packets, issues = read(data)
    assert [(packet.data, packet.time) for packet in packets] == [
        (b"x", 7.0005), (b"y", 7.0005), (b"o", 7.0005), (b"z", 7.0005)
    ]  # fmt: skip
    assert issues == [IssueKind.NO_TIMESTAMP]


def test_pcapng_obsolete_packets_are_read() -> None:
    body = struct.pack("<HHIIII", 0, 0xFFFF, 0, 2_000_000, 3, 5) + b"abc"
    packets, issues = read(section() + interface() + block(OLD_PACKET, body))
    assert packets == [Packet(1, 2.0, 1, b"abc", 5)]
    assert issues == []


def test_pcapng_unknown_blocks_are_passed_over() -> None:
    unknown = block(0xBAD, bytes(300_000)) + block(5, b"statistics..")
    packets, issues = read(section() + unknown + interface() + unknown + enhanced(b"x"))
    assert [packet.data for packet in packets] == [b"x"]
    assert issues == []


def test_pcapng_written_by_dpkt() -> None:
    file = io.BytesIO()
    writer = dpkt.pcapng.Writer(file, snaplen=65535, linktype=1)
    writer.writepkt(b"first", ts=1.25)
    writer.writepkt(b"second one", ts=2.5)
    packets, issues = read(file.getvalue())
    assert [(packet.time, packet.data) for packet in packets] == [(1.25, b"first"), (2.5, b"second one")]
    assert issues == []


def test_pcapng_block_length_that_leaves_the_padding_out() -> None:
    size = struct.pack("<I", 12 + 20 + 1)
    unpadded = struct.pack("<I", PACKET) + size + struct.pack("<IIIII", 0, 0, 0, 1, 1) + b"y\0\0\0" + size
    packets, issues = read(section() + interface() + unpadded + enhanced(b"z"))
    assert ([packet.data for packet in packets], issues) == ([b"y", b"z"], [])


def test_a_stream_is_left_open_and_may_give_one_byte_at_a_time() -> None:
    class Trickle(io.BytesIO):
        def read1(self, size: int | None = -1, /) -> bytes:
            return self.read(1)

    stream = Trickle(pcap(b"abc"))
    assert [packet.data for packet in read_capture(stream)] == [b"abc"]
    assert not stream.closed


@pytest.mark.parametrize(
    ("data", "text"),
    [
        pytest.param(b"", "it is empty", id="empty"),
        pytest.param(b"PK\x03\x04rest", "it begins with 504b0304; expected pcap (d4c3b2a1", id="zip"),
        pytest.param(b"\xd4", "it begins with d4", id="one-byte"),
        pytest.param(gzip.compress(b"text"), "it begins with 74657874", id="gzip-of-text"),
        pytest.param(b"\x1f\x8bnonsense", "gzip: Error -3", id="broken-gzip"),
        pytest.param(pcap()[:10], "header is cut: expected 24 bytes, found 10", id="pcap-header-cut"),
        pytest.param(
            section()[:8] + b"rest", "expected byte-order magic 1a2b3c4d, found 72657374", id="byte-order"
        ),
        pytest.param(section()[:8], "found the end", id="section-cut"),
    ],
)
def test_what_is_no_capture_says_what_was_found(data: bytes, text: str) -> None:
    with pytest.raises(CaptureError) as caught:
        list(read_capture(io.BytesIO(data)))
    assert text in str(caught.value)


@pytest.mark.parametrize("data", [pcap()[:24], section()[:12]], ids=["pcap", "pcapng"])
def test_a_capture_that_ends_within_its_header_is_told_from_other_files(data: bytes) -> None:
    for size in range(len(data)):
        with pytest.raises(CutHeaderError):
            list(read_capture(io.BytesIO(data[:size])))
        with pytest.raises(CutHeaderError):
            list(read_capture(io.BytesIO(gzip.compress(data)[: size // 2 + 2])))
    for other in (b"PK", section()[:8] + b"rest", gzip.compress(b"text")):
        with pytest.raises(NotCaptureError):
            list(read_capture(io.BytesIO(other)))


def test_a_missing_file_and_a_folder_are_capture_errors(tmp_path: Path) -> None:
    for path in (tmp_path, tmp_path / "missing.pcap"):
        with pytest.raises(CaptureError, match="cannot read"):
            list(read_streams(path))
    assert not is_capture(io.BytesIO(b"2W"))


GOOD = section() + interface() + enhanced(b"good")


@pytest.mark.parametrize(
    ("data", "n_packets", "kind", "at"),
    [
        pytest.param(pcap(b"abc", b"defg")[:-1], 1, IssueKind.TRUNCATED_FILE, 62, id="pcap-packet-cut"),
        pytest.param(pcap(b"abc") + b"12345", 1, IssueKind.TRUNCATED_FILE, 48, id="pcap-record-cut"),
        pytest.param(
            pcap(b"abc") + b"\xff" * 40, 1, IssueKind.TRUNCATED_FILE, 83, id="pcap-length-beyond-the-file"
        ),
        pytest.param(GOOD + b"\x06\x00", 1, IssueKind.TRUNCATED_FILE, 86, id="type-cut"),
        pytest.param(GOOD + enhanced(b"x")[:-4], 1, IssueKind.TRUNCATED_FILE, 116, id="trailer-cut"),
        pytest.param(GOOD + struct.pack("<II", 6, 0), 1, IssueKind.DAMAGED_FILE, 84, id="length-zero"),
        pytest.param(
            GOOD + struct.pack("<II", 9, 11), 1, IssueKind.DAMAGED_FILE, 84, id="length-below-frame"
        ),
        pytest.param(
            GOOD + struct.pack("<II", 9, 0xFFFFFFF0), 1, IssueKind.DAMAGED_FILE, 84, id="length-huge"
        ),
        pytest.param(GOOD + section()[:8] + b"????", 1, IssueKind.DAMAGED_FILE, 84, id="second-section"),
        pytest.param(
            GOOD[:-4] + b"\0\0\0\1" + enhanced(b"x"), 2, IssueKind.DAMAGED_BLOCK, 48, id="trailer-differs"
        ),
        pytest.param(
            GOOD + block(PACKET, b"short") + enhanced(b"x"), 2, IssueKind.DAMAGED_BLOCK, 84, id="short"
        ),
        pytest.param(GOOD + enhanced(b"x", number=1), 1, IssueKind.DAMAGED_BLOCK, 84, id="no-such-interface"),
        pytest.param(
            GOOD + block(PACKET, struct.pack("<IIIII", 0, 0, 0, 99, 99)) + enhanced(b"x"),
            2,
            IssueKind.DAMAGED_BLOCK,
            84,
            id="packet-longer-than-its-block",
        ),
    ],
)
def test_damage_is_an_issue_with_its_place(data: bytes, n_packets: int, kind: IssueKind, at: int) -> None:
    issues = Issues()
    packets = list(read_capture(io.BytesIO(data), issues=issues))
    assert len(packets) == n_packets
    assert [(issue.kind, issue.at) for issue in issues] == [(kind, at)]


@pytest.mark.parametrize("head", [pcap(), section() + interface()], ids=["pcap", "pcapng"])
def test_a_packet_beyond_the_limit_is_cut_and_the_next_one_read(head: bytes) -> None:
    write = record if head == pcap() else enhanced
    limits = CaptureLimits(packet_size=100)
    packets, issues = read(head + write(b"a" * 101) + write(b"b" * 100), limits=limits)
    assert [(packet.data, packet.size) for packet in packets] == [(b"a" * 100, 101), (b"b" * 100, 100)]
    assert issues == [IssueKind.OVERSIZED_PACKET]


def test_interfaces_are_bounded() -> None:
    data = section() + interface() * 3 + enhanced(b"x", number=2)
    packets, issues = read(data, limits=CaptureLimits(n_interfaces=2))
    assert (packets, issues) == ([], [IssueKind.DAMAGED_BLOCK])


@pytest.mark.parametrize(
    ("data", "kind"),
    [
        pytest.param(
            pcap() + struct.pack("<IIII", 0, 0, 0xFFFFFFFF, 0xFFFFFFFF), IssueKind.TRUNCATED_FILE, id="pcap"
        ),
        pytest.param(section() + struct.pack("<II", 6, 0xFFFFFFFC), IssueKind.DAMAGED_FILE, id="pcapng"),
        pytest.param(
            section() + struct.pack("<II", 6, 1 << 24), IssueKind.TRUNCATED_FILE, id="pcapng-largest"
        ),
        pytest.param(gzip.compress(pcap() + b"\xff" * 50_000_000), IssueKind.TRUNCATED_FILE, id="gzip-bomb"),
        pytest.param(
            gzip.compress(section() + b"\xff" * 50_000_000), IssueKind.DAMAGED_FILE, id="gzip-bomb-pcapng"
        ),
    ],
)
def test_a_huge_length_takes_no_memory(data: bytes, kind: IssueKind) -> None:
    tracemalloc.start()
    try:
        assert read(data) == ([], [kind])
        assert tracemalloc.get_traced_memory()[1] < 5_000_000
    finally:
        tracemalloc.stop()


def test_an_issue_reads_as_a_sentence() -> None:
    issues = Issues()
    issues.note(IssueKind.FRAGMENT, 3)
    issues.note(IssueKind.DAMAGED_FILE, 84, "block length 0")
    issues.note(IssueKind.FRAGMENT, 5)
    assert [str(issue) for issue in issues] == [
        "IP fragments skipped, they are not put together (2, first at packet 3)",
        "the file cannot be read after a damaged length (at byte 84: block length 0)",
    ]
    assert [issue.is_harmless for issue in issues] == [False, False]


HEADS = [
    b"",
    b"\x1f\x8b\x08\0\0\0\0\0\0\xff",
    pcap(),
    pcap(order=">", link_type=101),
    section(),
    section() + interface(),
]


@given(st.sampled_from(HEADS), st.binary(max_size=300))
def test_any_bytes_read_or_raise_capture_error(head: bytes, data: bytes) -> None:
    check_harmless(head + data)


@given(st.data())
def test_any_damage_to_a_capture_reads_or_raises_capture_error(data: st.DataObject) -> None:
    good = data.draw(st.sampled_from([pcap(b"abc" * 20, b"d" * 50), GOOD + enhanced(b"x" * 60) + GOOD]))
    if data.draw(st.booleans()):
        good = gzip.compress(good)
    damaged = bytearray(good)
    for _ in range(data.draw(st.integers(1, 4))):
        at = data.draw(st.integers(0, len(damaged) - 1))
        damaged[at : at + data.draw(st.integers(0, 3))] = data.draw(st.binary(max_size=4))
    check_harmless(bytes(damaged))


def check_harmless(data: bytes) -> None:
    try:
        n_events = len(list(read_streams(io.BytesIO(data))))
    except CaptureError as error:
        assert len(str(error)) < 300
    else:
        assert n_events <= len(data)
