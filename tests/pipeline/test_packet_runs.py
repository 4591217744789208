"""Runs of packets put together: the bytes, their times and everything else are those of single packets."""

from __future__ import annotations

import io
import random
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from dataclasses import astuple

import pytest

pytest.importorskip("pyarrow", reason="the extra `spark` is not installed")

from hypothesis import given
from hypothesis import strategies as st
from tests.interop import traffic
from tests.interop.traffic import LINKS, End

from wiregen.formats.capture import (
    Batch,
    CaptureLimits,
    Event,
    FlowBytes,
    FlowRun,
    Gap,
    IssueKind,
    Issues,
    SegmentRun,
    assemble_batches,
    assemble_runs,
    read_batches,
)
from wirespark.packet_runs import runs_of

SERVER = End(address="10.0.0.2", port=5044)
Found = dict[tuple[str, bool | None], list[tuple[object, ...]]]


def batches_of(chance: random.Random, *, n_flows: int, sizes: list[int], damages: int) -> list[Batch]:
    """Return the packets of connections by turns, each with bursts; about one in so many bursts arrives damaged, 0: none."""
    talks = []
    for number in range(n_flows):
        opener = End(address=f"10.0.1.{number}", port=50_000 + number)
        talk = traffic.Talk(chance, opener, SERVER, has_syn=chance.random() < 0.8)
        for side in (0, 1, 0, 0):
            burst = talk.burst(side, sizes)
            if damages and not chance.randrange(damages):
                damage = chance.choice([traffic.reordered, traffic.overlapping, traffic.lost])
                burst = damage(chance, burst)
            talk.deliver(side, burst)
        talks.append(talk.sent)
    sent = []
    while any(talks):
        talk_sent = chance.choice([each for each in talks if each])
        n_together = chance.randrange(1, 9)
        sent += talk_sent[:n_together]
        del talk_sent[:n_together]
    link = chance.choice([LINKS["ethernet"], LINKS["raw"], LINKS["cooked"], LINKS["cooked-2"]])
    packets = [packet for each in sent for packet in traffic.captured(each, link)]
    return list(read_batches(io.BytesIO(traffic.pcap(packets)), CaptureLimits(), Issues()))


def in_pieces(batches: Iterable[Batch], size: int) -> Iterator[Batch]:
    """Yield the packets again, so many at a time."""
    for batch in batches:
        for start in range(0, len(batch.places), size):
            yield batch._replace(places=batch.places[start : start + size])


def by_direction(events: Iterable[Event | FlowRun]) -> Found:
    """Return the events of each direction in their order; those of a run are those of its packets."""
    found: Found = defaultdict(list)
    for event in events:
        own = found[event.flow.name, event.from_opener]
        if isinstance(event, FlowRun):
            offset = event.offset
            for piece, time in zip(event.pieces, event.times, strict=True):
                own.append((time, offset, piece))
                offset += len(piece)
        elif isinstance(event, FlowBytes):
            own.append((event.time, event.offset, event.data))
        else:
            own.append((type(event), *astuple(event)))
    return found


def counts_of(issues: Issues) -> dict[IssueKind, int]:
    return {issue.kind: issue.count for issue in issues}


@given(
    st.integers(0, 2**32),
    st.integers(1, 4),
    st.integers(0, 6),
    st.integers(1, 200),
    st.sampled_from([None, 5044]),
)
def test_events_are_those_of_single_packets(
    seed: int, n_flows: int, damages: int, size: int, port: int | None
) -> None:
    chance = random.Random(seed)
    sizes = [chance.randrange(1, 60) for _ in range(20)]
    batches = batches_of(chance, n_flows=n_flows, sizes=sizes, damages=damages)
    issues, of_runs = Issues(), Issues()
    expected = by_direction(assemble_batches(batches, port=port, issues=issues))
    runs = assemble_runs(in_pieces(batches, size), runs_of=runs_of, port=port, issues=of_runs)
    assert by_direction(runs) == expected
    assert counts_of(of_runs) == counts_of(issues)


@given(st.integers(0, 2**32), st.integers(1, 4))
def test_segments_that_are_left_out_are_in_no_run(seed: int, n_flows: int) -> None:
    chance = random.Random(seed)
    batches = batches_of(chance, n_flows=n_flows, sizes=[10] * 20, damages=0)
    runs = [run for batch in in_pieces(batches, 40) for run in runs_of(batch, None) or ()]
    without = {run.key for run in runs if chance.random() < 0.5}
    expected = by_direction(assemble_batches(batches, without=without))
    found = by_direction(
        assemble_runs(in_pieces(batches, 40), runs_of=runs_of, port=None, issues=Issues(), without=without)
    )
    assert {key: [each for each in own if len(each) == 3] for key, own in found.items()} == {
        key: [each for each in own if len(each) == 3] for key, own in expected.items()
    }


def n_runs(batches: Iterable[Batch], tried: list[Batch] | None = None) -> int:
    def counted(batch: Batch, is_wanted: Callable[[bytes], bool] | None) -> list[SegmentRun] | None:
        if tried is not None:
            tried.append(batch)
        return runs_of(batch, is_wanted)

    events = assemble_runs(batches, runs_of=counted, port=None, issues=Issues())
    return sum(isinstance(event, FlowRun) for event in events)


@pytest.mark.parametrize("link", ["ethernet", "raw", "cooked", "cooked-2"])
def test_packets_without_damage_are_put_together(link: str) -> None:
    talk = traffic.Talk(random.Random(1), End(address="10.0.1.1", port=50_000), SERVER)
    talk.deliver(0, talk.burst(0, [100] * 50))
    talk.deliver(1, talk.burst(1, [100] * 50))
    packets = [packet for sent in talk.sent for packet in traffic.captured(sent, LINKS[link])]
    batches = list(read_batches(io.BytesIO(traffic.pcap(packets)), CaptureLimits(), Issues()))
    assert n_runs(in_pieces(batches, 10)) >= 8


def test_batches_without_runs_are_not_all_tried() -> None:
    """Many connections that send by turns have none; when few of them send more, runs are found again."""
    chance = random.Random(1)
    talks = [traffic.Talk(chance, End(address=f"10.0.1.{n}", port=50_000), SERVER) for n in range(100)]
    for talk in talks:
        talk.deliver(0, talk.burst(0, [10] * 30))
    sent = [each for turn in zip(*(talk.sent for talk in talks), strict=True) for each in turn]
    talks[0].sent.clear()
    talks[0].deliver(0, talks[0].burst(0, [10] * 2000))
    packets = [packet for each in [*sent, *talks[0].sent] for packet in traffic.captured(each, LINKS["raw"])]
    batches = list(read_batches(io.BytesIO(traffic.pcap(packets)), CaptureLimits(), Issues()))
    tried: list[Batch] = []
    n_by_turns = len(sent) // 50
    found = n_runs(in_pieces(batches, 50), tried)
    n_tried = sum(batch.places[0][0] <= len(sent) for batch in tried)
    assert n_tried < n_by_turns // 5 and found > 20


def test_while_bytes_wait_for_lost_ones_packets_count_one_by_one() -> None:
    """Those of the other end acknowledge what was lost, so it is given up long before the end."""
    talk = traffic.Talk(random.Random(1), End(address="10.0.1.1", port=50_000), SERVER)
    burst = talk.burst(0, [100] * 50)
    talk.deliver(0, [*burst[:45], *burst[46:]])
    talk.deliver(1, talk.burst(1, [100] * 100))
    packets = [packet for sent in talk.sent for packet in traffic.captured(sent, LINKS["raw"])]
    batch, *_ = read_batches(io.BytesIO(traffic.pcap(packets)), CaptureLimits(), Issues())
    slow = batch._replace(places=[(place[0], place[0] / 10, *place[2:]) for place in batch.places])
    events = list(assemble_runs(in_pieces([slow], 5), runs_of=runs_of, port=None, issues=Issues()))
    gap = next(index for index, event in enumerate(events) if isinstance(event, Gap))
    assert any(isinstance(event, FlowRun) for event in events[:gap])
    early = [event for event in events[:gap] if not event.from_opener]
    assert len(early) < 20 and all(isinstance(event, FlowBytes) for event in early)
    assert any(isinstance(event, FlowRun) for event in events[gap:])
    assert by_direction(events) == by_direction(assemble_batches([slow]))
