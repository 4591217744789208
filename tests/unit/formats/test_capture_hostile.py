"""Captures made to harm: sound packets after damage are found again, and time and memory stay in proportion."""

import io
import random
import struct
import time
import tracemalloc
from collections.abc import Callable

import pytest
from tests.interop import traffic
from tests.interop.traffic import LINKS, Captured
from tests.lines import work

from wiregen.formats.capture import CaptureLimits, IssueKind, Issues, Packet, read_capture, read_streams

RAW = LINKS["raw"]


def head(order: str = "<") -> bytes:
    """Return a section and an interface."""
    return traffic.pcapng([Captured(link=RAW, data=b"", size=0)], order=order)[:-32]


def block(data: bytes, order: str = "<") -> bytes:
    """Return a packet's block."""
    return traffic.pcapng([Captured(link=RAW, data=data, size=len(data))], order=order)[len(head()) :]


def read(data: bytes) -> tuple[list[Packet], Issues]:
    issues = Issues()
    return list(read_capture(io.BytesIO(data), issues=issues)), issues


@pytest.mark.parametrize("order", "<>")
@pytest.mark.parametrize(
    ("damage", "size"),
    [
        pytest.param(lambda length, order: struct.pack(order + "I", 0), 4, id="length-zero"),
        pytest.param(lambda length, order: struct.pack(order + "I", 0xFFFFFFFF), 4, id="length-largest"),
        pytest.param(
            lambda length, order: struct.pack(order + "I", length + 4096), 4, id="length-behind-the-end"
        ),
        pytest.param(lambda length, order: b"", 1, id="a-byte-left-out"),
        pytest.param(lambda length, order: length.to_bytes(4, "little") + b"??", 4, id="bytes-put-in"),
    ],
)
def test_blocks_behind_damage_are_found_again(
    damage: Callable[[int, str], bytes], size: int, order: str
) -> None:
    blocks = [block(b"packet %d" % number, order) for number in range(5)]
    at = len(head()) + 2 * len(blocks[0]) + 4  # of the third block's length
    data = bytearray(head(order) + b"".join(blocks))
    data[at : at + size] = damage(len(blocks[2]), order)
    packets, issues = read(bytes(data))
    assert [packet.data for packet in packets if packet.data[-1:] in b"0134"] == [
        b"packet %d" % number for number in (0, 1, 3, 4)
    ]
    assert {(issue.kind, issue.at) for issue in issues} == {(IssueKind.DAMAGED_BLOCK, at - 4)}


def test_a_section_in_the_other_byte_order_is_found_behind_damage() -> None:
    data = head() + block(b"one") + bytes(100) + head(">") + block(b"two", ">")
    packets, issues = read(data)
    assert [packet.data for packet in packets] == [b"one", b"two"]
    assert [issue.kind for issue in issues] == [IssueKind.DAMAGED_BLOCK]


def test_what_only_begins_like_a_block_is_not_believed_behind_damage() -> None:
    lookalike = block(b"lie")[:-4] + b"\0\0\0\1"
    packets, _ = read(head() + block(b"one") + bytes(8) + lookalike + block(b"two"))
    assert [packet.data for packet in packets] == [b"one", b"two"]


def test_blocks_are_found_behind_more_damage_than_a_window_holds() -> None:
    garbage = random.Random(3).randbytes(3_000_001)
    packets, _ = read(head() + block(b"one") + b"\0" * 8 + garbage + block(b"two") + block(b"three"))
    assert [packet.data for packet in packets][-2:] == [b"two", b"three"]


def damaged_all_over(n: int) -> bytes:
    sound = struct.pack("<IIHHI", 1, 20, 101, 0, 0) + struct.pack("<I", 20)
    return head() + (sound + bytes(8)) * n


def test_four_times_the_damage_is_four_times_the_work() -> None:
    works = [work(lambda n=n: read(damaged_all_over(n))) for n in (100, 1_000, 4_000)]  # type: ignore[misc]
    assert works[2] <= 4.5 * works[1]  # the first makes what is made once


def test_damage_all_over_does_not_hang() -> None:
    begin = time.process_time()
    packets, issues = read(damaged_all_over(60_000))
    assert time.process_time() - begin < 90  # 2 s; copying what is left for each damage would take minutes
    assert (packets, issues.count(IssueKind.DAMAGED_BLOCK) > 50_000) == ([], True)


@pytest.mark.parametrize("n_bytes", [0, 1, 13, 14, 18, 33])
@pytest.mark.parametrize("link", LINKS)
def test_empty_and_cut_packets_of_every_link_are_issues(link: str, n_bytes: int) -> None:
    end = traffic.End(address="10.0.0.1", port=5044)
    (packet,) = traffic.captured(
        traffic.Sent(source=end, target=end, sequence=1, data=b"x" * 40), LINKS[link]
    )
    data = traffic.pcap([Captured(link=packet.link, data=packet.data[:n_bytes], size=n_bytes)])
    streams = read_streams(io.BytesIO(data))
    assert list(streams) == []
    assert [issue.at for issue in streams.issues] == [1]


def test_options_within_options_end_with_their_block() -> None:
    deep = b"".join(struct.pack("<HH", code % 7 + 1, 0) for code in range(10_000)) + struct.pack(
        "<HH", 9, 0xFFFF
    )
    body = struct.pack("<HHI", 101, 0, 0) + deep
    size = struct.pack("<I", 12 + len(body))
    interface = struct.pack("<I", 1) + size + body + size
    packets, issues = read(head()[:28] + interface + block(b"x"))
    assert ([packet.data for packet in packets], list(issues)) == ([b"x"], [])


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("form", ["pcap", "pcapng"])
def test_random_bytes_take_bounded_memory(form: str, seed: int) -> None:
    chance = random.Random(seed)
    start = head() if form == "pcapng" else traffic.pcap([Captured(link=RAW, data=b"", size=0)])
    data = start + chance.randbytes(4_000_000)
    limits = CaptureLimits(stream_buffer=100_000, total_buffer=400_000)
    tracemalloc.start()
    try:
        for _ in read_streams(io.BytesIO(data), limits=limits):
            pass
        assert tracemalloc.get_traced_memory()[1] < 6_000_000
    finally:
        tracemalloc.stop()
