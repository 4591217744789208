"""The streams of captures byte for byte as tshark puts them together, whatever the network did to the segments.

tshark writes `[n bytes missing in capture file]` into a stream where bytes were acknowledged that the capture does not hold;
for the comparison our gaps are written the same way.
"""

from __future__ import annotations

import io
import os
import random
import re
import shutil
import subprocess
from collections.abc import Callable, Iterable
from dataclasses import replace
from pathlib import Path

import pytest
from tests.interop import traffic
from tests.interop.traffic import LINKS, Captured, End, Sent, Talk

from wiregen.formats.capture import FlowBytes, Gap, IssueKind, read_streams

TSHARK = shutil.which("tshark")
pytestmark = pytest.mark.skipif(TSHARK is None, reason="there is no tshark (Debian: apt-get install tshark)")

SEEDS = range(50 if os.environ.get("HYPOTHESIS_PROFILE") == "soak" else 2)
N_TALKS = 40
SERVER = End(address="10.1.0.1", port=25044)
SERVER_6 = End(address="fd00::1", port=25044)

Damage = Callable[[random.Random, list[Sent]], list[Sent]]
HARMLESS: tuple[Damage, ...] = (
    lambda _chance, segments: segments,
    traffic.reordered,
    traffic.repeated,
    traffic.overlapping,
    traffic.contradicted,
)
LOSSY: tuple[Damage, ...] = (traffic.lost, traffic.split)

Moment = Callable[[Talk, int], None]
PAUSES: tuple[Moment, ...] = (Talk.acknowledge, Talk.probe, Talk.keep_alive)
ENDINGS: tuple[Moment, ...] = (Talk.finish, Talk.reset, lambda _talk, _side: None)

Conversation = tuple[str, str, bytes, bytes]
"""Sender and receiver of the first packet, and the bytes that each of them sent."""


def follow(path: Path, n_streams: int) -> list[Conversation]:
    """Return the first `n_streams` connections as tshark sees them, in the order of their first packets."""
    assert TSHARK is not None
    # Fragments are reported here and not put together, and no port's dissector may get at the bytes.
    command = [
        TSHARK,
        "-q",
        "-n",
        "-r",
        str(path),
        "-o",
        "ip.defragment:FALSE",
        "-o",
        "ipv6.defragment:FALSE",
    ]
    for number in range(n_streams):
        command += ["-z", f"follow,tcp,raw,{number}"]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=120)
    assert done.returncode == 0, done.stderr
    numbered = [_followed(text) for text in done.stdout.split("Follow: tcp,raw\n")[1:]]
    return [conversation for _number, conversation in sorted(numbered)]


def _followed(text: str) -> tuple[int, Conversation]:
    head, first, second = re.findall(r"(?:stream eq|Node [01]:) (.*)", text)
    lines = text.partition("Node 1:")[2].partition("\n")[2].partition("=")[0].splitlines()
    there = b"".join(bytes.fromhex(line) for line in lines if not line.startswith("\t"))
    back = b"".join(bytes.fromhex(line) for line in lines if line.startswith("\t"))
    return int(head), (first, second, there, back)


def assembled(data: bytes) -> tuple[list[Conversation], set[IssueKind]]:
    """Return the connections as we see them, in the order in which they first occur, and the issues."""
    found: dict[str, tuple[str, str, dict[bool, bytearray]]] = {}
    streams = read_streams(io.BytesIO(data))
    for event in streams:
        flow = event.flow
        *_, sides = found.setdefault(
            flow.name, (str(flow.opener), str(flow.other), {True: bytearray(), False: bytearray()})
        )
        if isinstance(event, FlowBytes | Gap):
            sides[event.from_opener] += event.data if isinstance(event, FlowBytes) else missing(event.size)
    conversations = [
        (one, two, bytes(sides[True]), bytes(sides[False])) for one, two, sides in found.values()
    ]
    return conversations, {issue.kind for issue in streams.issues if not issue.is_harmless}


def missing(size: int) -> bytes:
    return b"[%d bytes missing in capture file]\0" % size


def ends(number: int) -> tuple[End, End]:
    if number % 3 == 2:
        return End(address=f"fd00::{number + 2:x}", port=40_000 + number), SERVER_6
    return End(address=f"10.0.0.{number + 1}", port=40_000 + number), SERVER


def talk(
    chance: random.Random, opener: End, other: End, *, harmed: tuple[Damage, ...] = HARMLESS
) -> list[Sent]:
    """Make a conversation: bursts from both ends, each damaged in its own way."""
    made = Talk(chance, opener, other, has_syn=chance.random() < 0.8)
    for side in (0, 1):
        made.deliver(side, made.burst(side, [30]))  # what tells where a stream begins if no SYN does
    for _ in range(chance.randrange(2, 7)):
        side = chance.randrange(2)
        burst = made.burst(
            side, [chance.choice([1, 7, 40, 300, 1448]) for _ in range(chance.randrange(3, 8))]
        )
        made.deliver(side, chance.choice(harmed)(chance, burst), is_whole=harmed is HARMLESS)
        chance.choice(PAUSES)(made, side)
    made.acknowledge(0)
    chance.choice(ENDINGS)(made, chance.randrange(2))
    return made.sent


def interleaved(chance: random.Random, talks: Iterable[list[Sent]]) -> list[Sent]:
    """Mix conversations at random, each in its own order."""
    queues = [list(reversed(sent)) for sent in talks]
    mixed = []
    while queues:
        queue = chance.choice(queues)
        mixed.append(queue.pop())
        queues = [queue for queue in queues if queue]
    return mixed


def captures(sent: Iterable[Sent], *links: str, chance: random.Random) -> list[Captured]:
    return [packet for each in sent for packet in traffic.captured(each, LINKS[chance.choice(links)])]


def check_same(data: bytes, path: Path, n_streams: int) -> set[IssueKind]:
    path.write_bytes(data)
    ours, issues = assembled(data)
    assert len(ours) == n_streams
    assert sorted(ours) == sorted(follow(path, n_streams))
    return issues


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("link", LINKS)
def test_nothing_is_lost_whatever_the_network_does(link: str, seed: int, tmp_path: Path) -> None:
    chance = random.Random(f"{link} {seed}")
    sent = interleaved(chance, (talk(chance, *ends(number)) for number in range(N_TALKS)))
    data = traffic.pcap(
        captures(sent, link, chance=chance), order=chance.choice("<>"), is_nano=chance.random() < 0.5
    )
    assert check_same(data, tmp_path / "capture.pcap", N_TALKS) == set()


@pytest.mark.parametrize("seed", SEEDS)
def test_losses_and_fragments_leave_holes_of_the_same_size(seed: int, tmp_path: Path) -> None:
    chance = random.Random(seed)
    sent = interleaved(
        chance, (talk(chance, *ends(number), harmed=(*HARMLESS, *LOSSY)) for number in range(N_TALKS))
    )
    data = traffic.pcapng(captures(sent, *LINKS, chance=chance), order=chance.choice("<>"))
    assert check_same(data, tmp_path / "capture.pcapng", N_TALKS) == {IssueKind.FRAGMENT}


@pytest.mark.parametrize("seed", SEEDS)
def test_a_new_syn_of_the_same_ends_is_a_new_connection(seed: int, tmp_path: Path) -> None:
    chance = random.Random(seed)
    sent = []
    for number in range(8):
        for _generation in range(3):
            made = Talk(chance, *ends(number), wraps=False)  # so that no two begin with the same number
            made.deliver(0, traffic.overlapping(chance, made.burst(0, [200] * 4)))
            chance.choice(ENDINGS)(made, 1)
            sent += made.sent
    assert (
        check_same(traffic.pcap(captures(sent, "cooked", chance=chance)), tmp_path / "capture.pcap", 24)
        == set()
    )


def between(sequence: int, data: bytes = b"", *, flags: int = traffic.ACK, cut: int = 0) -> Sent:
    """Return a segment of the client's, whose stream begins at sequence number 100."""
    client, server = ends(0)
    return Sent(source=client, target=server, sequence=sequence, data=data, flags=flags, cut=cut)


def answer(acknowledged: int) -> Sent:
    client, server = ends(0)
    return Sent(source=server, target=client, sequence=500, acknowledged=acknowledged)


OPENED = between(99, flags=traffic.SYN)
OTHERWISE = {
    # First bytes win: here the first captured, for tshark the first that were in order.
    "other content while held": (
        [OPENED, between(103, b"def"), between(100, b"abcXXX")],
        b"abcdef",
        b"abcXXX",
    ),
    # The rest of a packet is a hole as any other: without a mark the bytes on both sides of it would be joined.
    "a packet that was cut": (
        [OPENED, between(100, b"abcd", cut=2), between(104, b"ef")],
        b"ab" + missing(2) + b"ef",
        b"abef",
    ),
    # An acknowledgement may be captured before what it acknowledges (two interfaces), so a hole waits for its bytes.
    "acknowledged before it was captured": (
        [OPENED, between(102, b"cd"), answer(104), between(100, b"ab")],
        b"abcd",
        missing(2) + b"cd",
    ),
    # The FIN's own number tells that bytes are missing.
    "lost before the end": (
        [OPENED, between(100, b"ab"), between(104, flags=traffic.FIN | traffic.ACK)],
        b"ab" + missing(2),
        b"ab",
    ),
    # They were not acknowledged, but the capture holds them.
    "behind a hole that nobody acknowledged": (
        [OPENED, between(102, b"cd")],
        missing(2) + b"cd",
        b"",
    ),
    # TCP does not deliver bytes after a FIN or RST.
    "behind the end": (
        [OPENED, between(100, b"ab", flags=traffic.FIN | traffic.ACK), between(102, b"cd")],
        b"ab",
        b"abcd",
    ),
    # Without a SYN a stream begins with its first data: a bare acknowledgement may be a keep-alive, one byte too early.
    "begun by a bare acknowledgement": (
        [between(100), between(102, b"cd"), answer(104)],
        b"cd",
        missing(2) + b"cd",
    ),
}
"""Differences from our results: segments, our stream, tshark's."""


def test_where_tshark_chooses_otherwise(tmp_path: Path) -> None:
    moved = {}
    for number, (segments, ours, theirs) in enumerate(OTHERWISE.values()):
        old, new = ends(0)[0], End(address="10.9.0.1", port=50_000 + number)
        moved[f"{new.address}:{new.port}"] = ours, theirs, [_moved(segment, old, new) for segment in segments]
    sent = [segment for *_, segments in moved.values() for segment in segments]
    path = tmp_path / "capture.pcap"
    path.write_bytes(traffic.pcap(captures(sent, "raw", chance=random.Random(0))))
    found = {one: there for one, _, there, _ in assembled(path.read_bytes())[0]}
    seen = {one: there for one, _, there, _ in follow(path, len(moved))}
    assert found == {end: ours for end, (ours, _, _) in moved.items()}
    assert seen == {end: theirs for end, (_, theirs, _) in moved.items()}


def _moved(segment: Sent, old: End, new: End) -> Sent:
    if segment.source == old:
        return replace(segment, source=new)
    return replace(segment, target=new)
