"""Flows of a capture: their initiators and names, and where one ends and the next begins."""

from collections.abc import Iterable
from ipaddress import ip_address

import dpkt
import pytest

from wiregen.formats.capture import (
    CaptureLimits,
    Closed,
    Endpoint,
    Event,
    Flow,
    FlowBytes,
    Gap,
    IssueKind,
    Issues,
    Packet,
    assemble,
)

FIN, SYN, RST, ACK = 1, 2, 4, 16
CLIENT, SERVER = ("10.0.0.1", 51000), ("10.0.0.2", 5044)
NAME = "10.0.0.1:51000-10.0.0.2:5044"
End = tuple[str, int]


def packet(
    sequence: int,
    data: bytes = b"",
    *,
    flags: int = ACK,
    ack: int = 0,
    source: End = CLIENT,
    target: End = SERVER,
) -> Packet:
    segment = dpkt.tcp.TCP(sport=source[1], dport=target[1], seq=sequence, ack=ack, flags=flags, data=data)
    src, dst = ip_address(source[0]).packed, ip_address(target[0]).packed
    if len(src) == 16:
        whole = bytes(dpkt.ip6.IP6(src=src, dst=dst, nxt=6, plen=len(segment), data=segment))
    else:
        whole = bytes(dpkt.ip.IP(src=src, dst=dst, p=6, len=20 + len(segment), data=segment))
    return Packet(0, 0.0, 101, whole, len(whole))


def answer(sequence: int, data: bytes = b"", *, flags: int = ACK, ack: int = 0) -> Packet:
    return packet(sequence, data, flags=flags, ack=ack, source=SERVER, target=CLIENT)


def run(
    packets: Iterable[Packet], *, port: int | None = None, limits: CaptureLimits | None = None
) -> tuple[list[Event], list[IssueKind]]:
    issues = Issues()
    numbered = (each._replace(number=i, time=float(i)) for i, each in enumerate(packets, 1))
    events = list(assemble(numbered, port=port, limits=limits, issues=issues))
    return events, [issue.kind for issue in issues]


def bytes_of(events: Iterable[Event]) -> list[tuple[bool, int, bytes]]:
    return [(event.from_opener, event.offset, event.data) for event in events if isinstance(event, FlowBytes)]


SYN_0 = packet(99, flags=SYN)


def flows_of(events: Iterable[Event]) -> list[Flow]:
    return list(dict.fromkeys(event.flow for event in events))


CLIENT_SENT, SERVER_SENT = packet(7, b"q"), answer(9, b"a")


@pytest.mark.parametrize(
    ("packets", "port", "name", "saw_syn", "by_port"),
    [
        pytest.param([SYN_0], 51000, NAME, True, False, id="syn-is-stronger-than-the-port"),
        pytest.param([answer(499, flags=SYN | ACK, ack=100)], None, NAME, True, False, id="answer-to-a-syn"),
        pytest.param([SERVER_SENT, CLIENT_SENT], 5044, NAME, False, True, id="port-server-first"),
        pytest.param([CLIENT_SENT, SERVER_SENT], 5044, NAME, False, True, id="port-client-first"),
        pytest.param([CLIENT_SENT], None, NAME, False, False, id="first-talker"),
        pytest.param(
            [SERVER_SENT], None, "10.0.0.2:5044-10.0.0.1:51000", False, False, id="first-talker-server"
        ),
    ],
)
def test_who_is_the_opener(
    packets: list[Packet], port: int | None, name: str, saw_syn: bool, by_port: bool
) -> None:
    [flow] = flows_of(run(packets, port=port)[0])
    assert (flow.name, flow.saw_syn, flow.by_port) == (name, saw_syn, by_port)


def test_both_ends_on_the_declared_port_leave_the_first_talker() -> None:
    [flow] = flows_of(run([packet(1, b"x", source=("10.0.0.9", 5044))], port=5044)[0])
    assert (flow.opener, flow.by_port) == (Endpoint(address="10.0.0.9", port=5044), False)


def test_names_of_ipv6_ends_and_later_generations() -> None:
    source, target = ("::1", 51000), ("2001:db8::2", 5044)
    events, _ = run([packet(i, flags=SYN, source=source, target=target) for i in (1, 5000, 5000)])
    name = "[::1]:51000-[2001:db8::2]:5044"
    assert [flow.name for flow in flows_of(events)] == [name, name + "#2"]


@pytest.mark.parametrize(
    "ending",
    [
        pytest.param([packet(102, flags=FIN), answer(500, flags=FIN)], id="fin"),
        pytest.param([packet(102, flags=RST)], id="rst"),
        pytest.param([], id="no-end-seen"),
    ],
)
def test_a_new_syn_on_the_same_ports_is_a_new_flow(ending: list[Packet]) -> None:
    first = [SYN_0, answer(499, flags=SYN | ACK, ack=100), packet(100, b"ab"), *ending]
    second = [packet(70_000, flags=SYN), answer(9, flags=SYN | ACK, ack=70_001), packet(70_001, b"cd")]
    events, issues = run([*first, *second])
    pieces = [
        (event.flow.generation, event.offset, event.data) for event in events if isinstance(event, FlowBytes)
    ]
    assert pieces == [(1, 0, b"ab"), (2, 0, b"cd")]
    assert issues == []


def test_repeated_handshakes_and_simultaneous_opening_are_one_flow() -> None:
    answered = answer(499, flags=SYN | ACK, ack=100)
    events, _ = run(
        [SYN_0, SYN_0, answered, answered, packet(100, b"ab"), SYN_0, answered, answer(500, b"c")]
    )
    assert bytes_of(events) == [(True, 0, b"ab"), (False, 0, b"c")]
    events, _ = run([SYN_0, answer(499, flags=SYN), packet(100, b"ab"), answer(500, b"c")])
    assert bytes_of(events) == [(True, 0, b"ab"), (False, 0, b"c")]


@pytest.mark.parametrize(
    ("before", "handshake", "opener"),
    [
        pytest.param(
            packet(5000, b"x"), answer(499, flags=SYN | ACK, ack=100), CLIENT, id="answer-to-another-syn"
        ),
        pytest.param(answer(5000, b"x"), packet(99, flags=SYN), CLIENT, id="syn-of-the-silent-end"),
        pytest.param(packet(5000, b"x"), answer(99, flags=SYN), SERVER, id="syn-of-the-other-end"),
    ],
)
def test_a_handshake_behind_an_unknown_flow_opens_another(
    before: Packet, handshake: Packet, opener: End
) -> None:
    events, _ = run([before, handshake])
    first, second = flows_of(events)
    assert (first.saw_syn, second.saw_syn, second.generation) == (False, True, 2)
    assert (second.opener.address, second.opener.port) == opener


def test_the_answer_to_a_syn_tells_where_both_directions_start() -> None:
    events, _ = run([answer(499, flags=SYN | ACK, ack=100), packet(103, b"d"), answer(501, b"2")])
    gaps = [(event.from_opener, event.offset, event.size) for event in events if isinstance(event, Gap)]
    assert gaps == [(True, 0, 3), (False, 0, 1)]


def test_too_many_flows_end_the_one_unused_for_longest() -> None:
    ends: list[End] = [("10.0.0.1", 1), ("10.0.0.1", 2), ("10.0.0.1", 3)]
    packets = [packet(99, flags=SYN, source=end) for end in ends[:2]]
    packets += [packet(100, b"a", source=ends[0]), packet(99, flags=SYN, source=ends[2])]
    packets += [packet(100, b"late", source=ends[1])]
    events, issues = run(packets, limits=CaptureLimits(n_flows=2))
    assert [event.flow.opener.port for event in events if isinstance(event, Closed)][:1] == [2]
    assert [event.flow.name for event in events if isinstance(event, FlowBytes)][1].endswith("#2")
    assert issues == [IssueKind.TOO_MANY_FLOWS]


def test_no_two_flows_share_a_name_when_old_ones_are_forgotten() -> None:
    ends: list[End] = [("10.0.0.1", 1 + i % 7) for i in range(60)]
    packets = [packet(1000 * i, flags=SYN, source=end) for i, end in enumerate(ends)]
    events, _ = run(packets, limits=CaptureLimits(n_flows=2))
    names = [event.flow.name for event in events if isinstance(event, Closed)]
    assert len(names) == len(set(names)) == 60
