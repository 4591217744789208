"""TCP streams put together: whatever the network did to the segments, the bytes of each direction come out in order."""

import itertools
import random
import socket
import struct
import tracemalloc
from collections.abc import Iterable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wiregen.formats.capture import (
    CaptureLimits,
    CaptureReader,
    Closed,
    Event,
    FlowBytes,
    Gap,
    IssueKind,
    Issues,
    Packet,
    assemble,
    read_streams,
)

FIN, SYN, RST, ACK = 1, 2, 4, 16
CLIENT, SERVER = ("10.0.0.1", 51000), ("10.0.0.2", 5044)
End = tuple[str, int]


def packet(
    sequence: int,
    data: bytes = b"",
    *,
    flags: int = ACK,
    ack: int = 0,
    source: End = CLIENT,
    target: End = SERVER,
    cut: int = 0,
) -> Packet:
    """Build one raw IP packet; `cut` bytes of its end were not captured."""
    numbers = (source[1], target[1], sequence % 2**32, ack % 2**32, 5 << 4, flags, 1024, 0, 0)
    payload = struct.pack(">HHIIBBHHH", *numbers) + data
    addresses = socket.inet_aton(source[0]) + socket.inet_aton(target[0])
    whole = struct.pack(">BxHIBBH", 0x45, 20 + len(payload), 0, 64, 6, 0) + addresses + payload
    return Packet(0, 0.0, 101, whole[: len(whole) - cut], len(whole))


def answer(sequence: int, data: bytes = b"", *, flags: int = ACK, ack: int = 0) -> Packet:
    return packet(sequence, data, flags=flags, ack=ack, source=SERVER, target=CLIENT)


def run(
    packets: Iterable[Packet], *, port: int | None = None, limits: CaptureLimits | None = None
) -> tuple[list[Event], list[IssueKind]]:
    """Assemble packets numbered and timed 1, 2, 3, …"""
    issues = Issues()
    numbered = (each._replace(number=i, time=float(i)) for i, each in enumerate(packets, 1))
    events = list(assemble(numbered, port=port, limits=limits, issues=issues))
    return events, [issue.kind for issue in issues]


def told(events: Iterable[Event]) -> list[tuple[object, ...]]:
    """Write events short: direction, what, and where it has one the offset; time last."""
    return [line(event) for event in events]


def line(event: Event) -> tuple[object, ...]:
    arrow = {True: ">", False: "<", None: "|"}[event.from_opener]
    match event:
        case FlowBytes(offset=offset, data=data, time=time):
            return (arrow, data, offset, time)
        case Gap(offset=offset, size=size, time=time):
            return (arrow, "gap", offset, size, time)
        case Closed(reason=reason, time=time):
            return (arrow, reason, time)


SYN_0 = packet(99, flags=SYN)


@pytest.mark.parametrize(
    ("packets", "expected"),
    [
        pytest.param(
            [
                SYN_0,
                answer(499, flags=SYN | ACK, ack=100),
                packet(100, b"ping"),
                answer(500, b"pong"),
                packet(104, b"!", flags=FIN | ACK),
                answer(504, flags=FIN | ACK),
            ],
            [(">", b"ping", 0, 3), ("<", b"pong", 0, 4), (">", b"!", 4, 5), (">", "fin", 5), ("<", "fin", 6)],
            id="conversation",
        ),
        pytest.param(
            [SYN_0, packet(103, b"def"), packet(106, b"g"), packet(100, b"abc")],
            [(">", b"abc", 0, 4), (">", b"def", 3, 4), (">", b"g", 6, 4), ("|", "end", 4)],
            id="out-of-order-comes-with-the-packet-that-completes-it",
        ),
        pytest.param(
            [SYN_0, packet(100, b"abcd"), packet(100, b"XXXX"), packet(102, b"XXef")],
            [(">", b"abcd", 0, 2), (">", b"ef", 4, 4), ("|", "end", 4)],
            id="first-bytes-win-when-delivered",
        ),
        pytest.param(
            [SYN_0, packet(103, b"def"), packet(102, b"XXXXXg"), packet(100, b"abYY")],
            [(">", b"ab", 0, 4), (">", b"X", 2, 4), (">", b"def", 3, 4), (">", b"Xg", 6, 4), ("|", "end", 4)],
            id="first-bytes-win-when-held",
        ),
        pytest.param(
            [SYN_0, packet(100, b"ab"), packet(104, b"ef"), packet(108, b"ij")],
            [
                (">", b"ab", 0, 2),
                (">", "gap", 2, 2, 3),
                (">", b"ef", 4, 3),
                (">", "gap", 6, 2, 4),
                (">", b"ij", 8, 4),
                ("|", "end", 4),
            ],
            id="holes-are-gaps-at-the-end",
        ),
        pytest.param(
            [
                SYN_0,
                packet(100, b"ab"),
                packet(104, b"ef"),
                answer(500, b"no", ack=106),
                answer(502, b"ok", ack=106),
                packet(106, b"gh"),
            ],
            [
                (">", b"ab", 0, 2),
                ("<", b"no", 0, 4),
                (">", "gap", 2, 2, 3),
                (">", b"ef", 4, 3),
                ("<", b"ok", 2, 5),
                (">", b"gh", 6, 6),
                ("|", "end", 6),
            ],
            id="a-hole-is-a-gap-a-second-after-its-bytes-were-acknowledged",
        ),
        pytest.param(
            [
                SYN_0,
                packet(101, b"b"),
                answer(500, ack=200 + 2**30),
                answer(500, ack=102),
                packet(100, b"a"),
                packet(102, b"c"),
            ],
            [(">", b"a", 0, 5), (">", b"b", 1, 5), (">", b"c", 2, 6), ("|", "end", 6)],
            id="a-number-far-away-acknowledges-nothing",
        ),
        pytest.param(
            [SYN_0, packet(101, b"b"), answer(500, ack=100), answer(500, ack=102), answer(500, ack=102)],
            [(">", "gap", 0, 1, 2), (">", b"b", 1, 2), ("|", "end", 5)],
            id="what-was-acknowledged-before-the-hole-does-not-count",
        ),
        pytest.param(
            [SYN_0, packet(101, b"b"), answer(500, ack=102), packet(100, b"a"), answer(500, ack=102)],
            [(">", b"a", 0, 4), (">", b"b", 1, 4), ("|", "end", 5)],
            id="packets-may-be-captured-after-their-acknowledgement",
        ),
        pytest.param(
            [SYN_0, packet(101, b"b"), answer(500, ack=100), answer(500, ack=102), packet(100, b"a")],
            [(">", b"a", 0, 5), (">", b"b", 1, 5), ("|", "end", 5)],
            id="only-what-was-acknowledged-is-given-up",
        ),
        pytest.param(
            [
                SYN_0,
                packet(100, b"a"),
                packet(102, b"c"),
                packet(104, b"e"),
                answer(500, ack=103),
                answer(500, ack=103),
            ],
            [
                (">", b"a", 0, 2),
                (">", "gap", 1, 1, 3),
                (">", b"c", 2, 3),
                (">", "gap", 3, 1, 4),
                (">", b"e", 4, 4),
                ("|", "end", 6),
            ],
            id="later-holes-wait",
        ),
        pytest.param(
            [
                SYN_0,
                packet(102, b"c"),
                packet(101, b"b"),
                answer(500, ack=103),
                answer(500, ack=103),
                packet(103, b"d"),
            ],
            [
                (">", "gap", 0, 1, 3),
                (">", b"b", 1, 3),
                (">", b"c", 2, 3),
                (">", b"d", 3, 6),
                ("|", "end", 6),
            ],
            id="times-never-go-back",
        ),
        pytest.param(
            [
                SYN_0,
                packet(101, b"b", flags=FIN | ACK),
                answer(500, ack=103),
                answer(500, flags=FIN | ACK, ack=103),
                packet(103, ack=501),
                packet(99, flags=SYN),
            ],
            [(">", "gap", 0, 1, 2), (">", b"b", 1, 2), (">", "fin", 4), ("<", "fin", 4), ("|", "end", 6)],
            id="an-acknowledged-fin-closes",
        ),
        pytest.param(
            [SYN_0, packet(100, b"abcdef", cut=2), packet(106, b"gh")],
            [(">", b"abcd", 0, 2), (">", "gap", 4, 2, 2), (">", b"gh", 6, 3), ("|", "end", 3)],
            id="cut-packet-is-a-gap-at-once",
        ),
        pytest.param(
            [SYN_0, packet(103, b"defg", cut=3), packet(100, b"abc")],
            [(">", b"abc", 0, 3), (">", b"d", 3, 3), (">", "gap", 4, 3, 3), ("|", "end", 3)],
            id="cut-packet-out-of-order",
        ),
        pytest.param(
            [SYN_0, packet(100, b"ab"), packet(101, b"\0"), packet(101), packet(102, b"c")],
            [(">", b"ab", 0, 2), (">", b"c", 2, 5), ("|", "end", 5)],
            id="keep-alives-are-no-data",
        ),
        pytest.param(
            [SYN_0, packet(100, b"ab"), packet(102, b"c"), packet(102, b"cde")],
            [(">", b"ab", 0, 2), (">", b"c", 2, 3), (">", b"de", 3, 4), ("|", "end", 4)],
            id="zero-window-probe-is-data",
        ),
        pytest.param(
            [packet(99, b"early", flags=SYN), packet(99, b"early", flags=SYN), packet(105, b"!")],
            [(">", b"early", 0, 1), (">", b"!", 5, 3), ("|", "end", 3)],
            id="data-in-the-syn",
        ),
        pytest.param(
            [packet(2**32 - 3, flags=SYN), packet(2**32 - 2, b"abcd"), packet(4, b"g"), packet(2, b"ef")],
            [(">", b"abcd", 0, 2), (">", b"ef", 4, 4), (">", b"g", 6, 4), ("|", "end", 4)],
            id="sequence-numbers-wrap",
        ),
        pytest.param(
            [SYN_0, packet(102, flags=FIN | ACK), packet(100, b"ab")],
            [(">", b"ab", 0, 3), (">", "fin", 3), ("|", "end", 3)],
            id="fin-waits-for-its-bytes",
        ),
        pytest.param(
            [SYN_0, packet(100, b"ab"), packet(104, flags=FIN | ACK)],
            [(">", b"ab", 0, 2), (">", "gap", 2, 2, 3), (">", "fin", 3), ("|", "end", 3)],
            id="lost-before-the-fin",
        ),
        pytest.param(
            [SYN_0, packet(102, b"c"), answer(500, flags=RST)],
            [(">", "gap", 0, 2, 2), (">", b"c", 2, 2), ("<", "rst", 3)],
            id="reset-delivers-what-is-held",
        ),
        pytest.param(
            [SYN_0, answer(0, flags=RST | ACK), answer(0, flags=RST | ACK)],
            [("<", "rst", 2)],
            id="connection-refused",
        ),
        pytest.param(
            [packet(1, flags=FIN), packet(1, flags=RST), packet(5)], [], id="nothing-to-open-a-flow"
        ),
    ],
)
def test_segments_make_streams(packets: list[Packet], expected: list[tuple[object, ...]]) -> None:
    events, _ = run(packets)
    assert told(events) == expected


@pytest.mark.parametrize(
    ("packets", "issue"),
    [
        pytest.param(
            [packet(500, b"mid"), packet(490, b"before")], IssueKind.BEFORE_START, id="before-start"
        ),
        pytest.param(
            [SYN_0, packet(100, flags=FIN), packet(100, b"x")], IssueKind.AFTER_CLOSE, id="after-fin"
        ),
        pytest.param(
            [SYN_0, packet(101, b"x"), packet(100, flags=FIN)], IssueKind.AFTER_CLOSE, id="held-behind-fin"
        ),
        pytest.param(
            [SYN_0, packet(100, flags=RST), packet(100, b"x")], IssueKind.AFTER_CLOSE, id="after-rst"
        ),
        pytest.param([SYN_0, packet(100 + 2**31, b"x")], IssueKind.SEQUENCE_JUMP, id="jump-ahead"),
        pytest.param([SYN_0, packet(100 - 2**30 - 1, b"x")], IssueKind.SEQUENCE_JUMP, id="jump-back"),
        pytest.param([SYN_0, packet(100, b"xyz", cut=1)], IssueKind.CUT_PACKET, id="cut"),
        pytest.param([packet(1, b"", source=("10.0.0.1", 80))], IssueKind.OTHER_PORT, id="other-port"),
    ],
)
def test_what_is_left_out_is_an_issue(packets: list[Packet], issue: IssueKind) -> None:
    port = 51000 if issue is IssueKind.OTHER_PORT else None
    assert run(packets, port=port)[1] == [issue]


def test_a_late_retransmission_is_neither_issue_nor_flow() -> None:
    first = [SYN_0, packet(100, b"ab", flags=FIN), answer(1, flags=FIN)]
    events, issues = run([*first, packet(100, b"ab"), answer(2), packet(102, flags=FIN)])
    assert told(events) == [(">", b"ab", 0, 2), (">", "fin", 2), ("<", "fin", 3)]
    assert issues == []


def test_a_retransmission_in_mid_stream_is_no_issue() -> None:
    events, issues = run([packet(500, b"mid"), packet(500, b"mid"), packet(503, b"dle")])
    assert told(events) == [(">", b"mid", 0, 1), (">", b"dle", 3, 3), ("|", "end", 3)]
    assert issues == []


def test_the_first_of_two_fins_ends_the_direction() -> None:
    events, _ = run([SYN_0, packet(102, flags=FIN), packet(999, flags=FIN), packet(100, b"ab")])
    assert told(events) == [(">", b"ab", 0, 4), (">", "fin", 4), ("|", "end", 4)]


def test_bytes_that_lack_before_a_fin_have_its_time() -> None:
    """Whenever the capture ends: other flows may go on."""
    other = (CLIENT[0], CLIENT[1] + 1)
    packets = [SYN_0, packet(100, b"ab"), packet(105, flags=FIN), answer(500, b"c")]
    packets += [packet(7, b"other", source=other)] * 3
    events, _ = run(packets)
    assert told(event for event in events if event.flow.opener.port == CLIENT[1]) == [
        (">", b"ab", 0, 2),
        ("<", b"c", 0, 4),
        (">", "gap", 2, 3, 3),
        (">", "fin", 7),
        ("|", "end", 7),
    ]


def test_garbage_sequence_numbers_leave_the_stream_alone() -> None:
    garbage = random.Random(5)
    packets = [SYN_0]
    for i in range(200):
        packets += [packet(100 + 3 * i, b"abc"), packet(2**20 + garbage.randrange(2**32 - 2**21), b"?")]
    events, _ = run(packets)
    in_order = b"".join(each.data for each in events if isinstance(each, FlowBytes) and each.offset < 600)
    assert in_order == b"abc" * 200


def test_streams_beyond_4_gib_keep_their_offsets() -> None:
    step = 2**29
    packets = [SYN_0] + [packet(100 + i * step, b"x") for i in range(20)]
    events, _ = run(packets, limits=CaptureLimits(stream_buffer=0))
    assert [event.offset for event in events if isinstance(event, FlowBytes)] == [i * step for i in range(20)]


def test_a_full_stream_buffer_gives_up_the_first_hole_only() -> None:
    packets = [
        SYN_0,
        packet(101, b"b" * 500),
        packet(700, b"c" * 500),
        packet(100, b"a"),
        packet(1300, b"d" * 500),
    ]
    events, issues = run(packets, limits=CaptureLimits(stream_buffer=1000))
    assert [(type(event).__name__, event.time) for event in events][:2] == [("Gap", 2), ("FlowBytes", 2)]
    assert isinstance(events[2], Gap) and (events[2].offset, events[2].size, events[2].time) == (501, 99, 3)
    assert issues == [IssueKind.BUFFER_FULL]


@pytest.mark.parametrize("ends_held", [False, True], ids=["hole-filled", "held-behind-the-fin"])
def test_what_is_no_longer_held_leaves_the_buffer(ends_held: bool) -> None:
    packets = []
    for i in range(50):
        end = ("10.0.0.1", 40_000 + i)
        closing = packet(100, flags=FIN, source=end) if ends_held else packet(100, b"a", source=end)
        packets += [packet(99, flags=SYN, source=end), packet(101, b"b" * 1000, source=end), closing]
    _, issues = run(packets, limits=CaptureLimits(total_buffer=3000))
    assert IssueKind.BUFFER_FULL not in issues


def test_the_total_buffer_holds_for_all_flows_together() -> None:
    limits = CaptureLimits(total_buffer=50_000)
    ends: list[End] = [("10.0.0.1", 40_000 + i) for i in range(200)]
    packets = [packet(99, flags=SYN, source=end) for end in ends]
    packets += [packet(200, b"x" * 1000, source=end) for end in ends]
    events, issues = run(packets, limits=limits)
    early = [event for event in events if isinstance(event, Gap) and event.time < len(packets)]
    assert 200 - 50_000 // 1000 <= len(early) < 200
    assert issues == [IssueKind.BUFFER_FULL]


def test_memory_stays_bounded_under_a_flood() -> None:
    limits = CaptureLimits(stream_buffer=100_000, total_buffer=400_000, n_flows=100)
    chance = random.Random(1)
    flood = (
        packet(chance.randrange(2**32), b"?", flags=chance.choice([SYN, ACK]), source=("10.0.0.1", i % 3000))
        for i in range(12_000)
    )
    tracemalloc.start()
    try:
        n_events = sum(1 for _ in assemble(flood, limits=limits))
        assert n_events > 10_000
        assert tracemalloc.get_traced_memory()[1] < 3_000_000
    finally:
        tracemalloc.stop()


def test_read_streams_is_a_capture_reader() -> None:
    reader: CaptureReader = read_streams
    assert callable(reader)


@st.composite
def shuffled_stream(draw: st.DrawFn) -> tuple[bytes, int, list[Packet]]:
    """Draw a stream and packets that hold all of it: cut anywhere, doubled, overlapping, out of order."""
    data = draw(st.binary(min_size=1, max_size=200))
    first = draw(st.sampled_from([0, 1, 2**31 - 50, 2**32 - 100, 2**32 - 1]))
    edges = sorted({0, len(data), *draw(st.lists(st.integers(0, len(data)), max_size=12))})
    parts = [*itertools.pairwise(edges)]
    extra = draw(st.lists(st.tuples(st.integers(0, len(data)), st.integers(0, len(data))), max_size=8))
    parts += [(min(pair), max(pair)) for pair in extra]
    order = draw(st.permutations(parts))
    return data, first, [packet(first + start, data[start:end]) for start, end in order]


@given(shuffled_stream(), st.booleans())
def test_any_segmentation_gives_the_same_stream(
    stream: tuple[bytes, int, list[Packet]], fin_first: bool
) -> None:
    data, first, packets = stream
    fin = packet(first + len(data), flags=FIN)
    packets.insert(0 if fin_first else len(packets), fin)
    events, issues = run([packet(first - 1, flags=SYN), *packets])
    pieces = [event for event in events if isinstance(event, FlowBytes)]
    assert b"".join(piece.data for piece in pieces) == data
    assert [piece.offset for piece in pieces] == [
        sum(map(len, (p.data for p in pieces[:i]))) for i in range(len(pieces))
    ]
    assert told(events)[-2][1] == "fin"
    assert issues == []


@given(shuffled_stream(), st.data())
def test_losses_leave_gaps_and_every_other_byte_in_place(
    stream: tuple[bytes, int, list[Packet]], draw: st.DataObject
) -> None:
    data, first, packets = stream
    kept = [each for each in packets if draw.draw(st.booleans())]
    limits = CaptureLimits(stream_buffer=draw.draw(st.sampled_from([0, 600, 10**6])))
    events, _ = run([packet(first - 1, flags=SYN), *kept], limits=limits)
    offset = 0
    for event in events:
        if isinstance(event, Closed):
            continue
        assert event.offset == offset
        size = event.size if isinstance(event, Gap) else len(event.data)
        assert size > 0
        if isinstance(event, FlowBytes):
            assert event.data == data[offset : offset + size]
        offset += size
    assert offset <= len(data)
    assert [event.time for event in events] == sorted(event.time for event in events)
