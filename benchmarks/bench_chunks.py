"""CPU a frame when a stream comes in chunks of 1 byte to 1 MiB, for one message of each protocol, and the receiver at TCP's segments.

Run `make bench`, or `python benchmarks/bench_chunks.py [--quick]`. In each table the first line, chunks of
1 MiB, is 1.00; smaller is faster. A TCP segment carries 1448 bytes. Chunks of 1 and 64 bytes cut every
frame, so their lines are the cost of the chunks; they have no goal.

A message whose bytes are only copied costs less than joining the segments that bring it, in any
implementation. So those of Lumberjack's Json are measured next to a minimal hand-written reader, fed the
same segments.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any

import cases
from harness import Goal, Result, compare, table, told
from segments_by_hand import Segments

from wireproto import geode, lumberjack, pravega, pravega_documented, pravega_proposal, reactive_streams

WHOLE = 1 << 20
CHUNKS = (WHOLE, 1 << 16, 1 << 14, 4096, 1448, 512, 64, 1)
BOUNDS = {1448: 1.5, 512: 2.5}
"""The goals: ratios to chunks of 1 MiB."""
N_SMALL = 200  # frames of a stream in chunks of 1 and 64 bytes
N_EVENTS = 2000
DOCUMENTS = (100, 1000, 9000)
"""Bytes of the documents of Json messages: a line of a log, an event of Filebeat, and a long one."""
BY_HAND = 2.75
"""The goal, relative to segments that are joined by hand, at each size of documents and segments."""
LONG = {1448: 2.0, 512: 2.5}
"""The goals of a message that many segments bring and whose header does not say its size: it is measured, then read."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Stream:
    """Frames of one message, and the constructor of a decoder for them; `before`: earlier bytes, which are
    not measured.
    """

    name: str
    frame: bytes
    decoder: Callable[[], Any]
    before: bytes = b""

    def reading(self, chunk: int, n_frames: int) -> Callable[[], object]:
        """Return a call that decodes so many frames in chunks of that many bytes."""
        data = self.frame * n_frames
        chunks = [data[at : at + chunk] for at in range(0, len(data), chunk)]

        def read() -> None:
            decoder = self.decoder()
            decoder.begin_inside()
            n_read = -sum(1 for _ in decoder.messages(self.before))
            n_read = sum(1 for each in chunks for _ in decoder.messages(each))
            assert n_read == n_frames, (self.name, chunk, n_read)

        return read


def streams() -> tuple[Stream, ...]:
    found = {case.name.split()[0]: case.data for case in cases.cases()}
    values = ("scope/stream/0.#epoch.0", 12345, False, False, bytes(range(100)))
    documented, proposal = pravega_documented.SegmentRead(*values), pravega_proposal.SegmentRead(*values)
    return (
        Stream(name="M1 Pravega SegmentRead", frame=found["M1"], decoder=lambda: pravega.Decoder("server")),
        Stream(name="M2 Lumberjack Data", frame=found["M2"], decoder=lambda: lumberjack.Decoder("writer")),
        Stream(
            name="M3 Reactive Streams onNext",
            frame=found["M3"],
            decoder=lambda: reactive_streams.Decoder("server"),
            before=reactive_streams.encode(reactive_streams.Subscribed(7, 0)),
        ),
        Stream(name="M4 Geode PutRequest", frame=found["M4"], decoder=lambda: geode.Decoder("client")),
        Stream(
            name="Pravega documented SegmentRead",
            frame=documented.encode(),
            decoder=lambda: pravega_documented.Decoder("server"),
        ),
        Stream(
            name="Pravega proposal SegmentRead",
            frame=proposal.encode(),
            decoder=lambda: pravega_proposal.Decoder("server"),
        ),
    )


def long_stream() -> Stream:
    """Return the stream of a message of 200 pairs, whose size only its lengths tell."""
    pairs = [lumberjack.Pair(f"key{number:03}", f"value number {number}") for number in range(200)]
    return Stream(
        name="Lumberjack Data of 200 pairs",
        frame=lumberjack.encode(lumberjack.Data(1, pairs)),
        decoder=lambda: lumberjack.Decoder("writer"),
    )


def frames_of(stream: Stream, chunk: int, *, is_quick: bool) -> int:
    """Return how many frames are read in chunks of that size: those of 1 MiB, fewer where a chunk is less than a frame.

    A decoder's first cut frame takes 30 to 130 µs, for the steps that measure frames are made then: 1 MiB makes that less
    than 1% of the figures.
    """
    if chunk <= 64:
        return N_SMALL // (20 if is_quick else 1)
    return (32 * 1024 if is_quick else WHOLE) // len(stream.frame)


def measured(stream: Stream, *, is_quick: bool) -> tuple[Result, ...]:
    """Return nanoseconds a frame for each size of chunks, and the ratio to the first."""
    counts = {chunk: frames_of(stream, chunk, is_quick=is_quick) for chunk in CHUNKS}
    calls = {f"chunks of {chunk}": stream.reading(chunk, n_frames) for chunk, n_frames in counts.items()}
    results = compare(calls, rounds=3 if is_quick else 9, seconds=0.0005 if is_quick else 0.02)
    n_base = counts[WHOLE]
    return tuple(
        Result(
            name=result.name,
            nanoseconds=result.nanoseconds / n_frames,
            ratio=result.ratio * n_base / n_frames,
            low=result.low * n_base / n_frames,
            high=result.high * n_base / n_frames,
        )
        for result, n_frames in zip(results, counts.values(), strict=True)
    )


def receiving(*, is_quick: bool) -> tuple[Result, ...]:
    """Return nanoseconds an event of a window that a session receives, whole and in TCP's segments."""
    n_events = 40 if is_quick else N_EVENTS
    pairs = [lumberjack.Pair(name, f"value of {name}") for name in ("line", "host", "file", "offset")]
    events = (lumberjack.encode(lumberjack.Data(number, pairs)) for number in range(1, n_events + 1))
    data = lumberjack.encode(lumberjack.Window(n_events)) + b"".join(events)

    def receive(chunk: int) -> Callable[[], object]:
        chunks = [data[at : at + chunk] for at in range(0, len(data), chunk)]

        def read() -> None:
            connection = lumberjack.Connection("reader")
            n_events_read = sum(len(connection.receive(each)) for each in chunks)
            assert n_events_read == n_events + 1, n_events_read

        return read

    calls = {f"segments of {chunk}": receive(chunk) for chunk in (WHOLE, 1448)}
    results = compare(calls, rounds=3 if is_quick else 15, seconds=0.0005 if is_quick else 0.02)
    return tuple(
        Result(
            name=each.name,
            nanoseconds=each.nanoseconds / n_events,
            ratio=each.ratio,
            low=each.low,
            high=each.high,
        )
        for each in results
    )


def beside_by_hand(size: int, chunk: int, *, is_quick: bool) -> tuple[Result, ...]:
    """Return nanoseconds a message of Json whose document has that size: by hand, and by the generated decoder."""
    frame = lumberjack.encode(lumberjack.Json(1, b"x" * size))
    n_frames = (32 * 1024 if is_quick else WHOLE) // len(frame)
    data = frame * n_frames
    chunks = [data[at : at + chunk] for at in range(0, len(data), chunk)]

    def read(feed: Callable[[bytes], Iterator[Any]]) -> None:
        n_read = sum(1 for each in chunks for _ in feed(each))
        assert n_read == n_frames, (size, chunk, n_read)

    calls: dict[str, Callable[[], object]] = {
        "by hand": lambda: read(Segments().feed),
        "generated": lambda: read(lumberjack.Decoder("writer").messages),
    }
    results = compare(calls, rounds=3 if is_quick else 15, seconds=0.0005 if is_quick else 0.02)
    return tuple(replace(each, nanoseconds=each.nanoseconds / n_frames) for each in results)


def goals_by_hand(*, is_quick: bool) -> list[Goal]:
    """Print the table of each size of documents and segments, and return their goals."""
    goals = []
    for size in DOCUMENTS:
        for chunk in (1448, 512):
            results = beside_by_hand(size, chunk, is_quick=is_quick)
            title = f"a Json of {size} bytes in segments of {chunk}"
            print(table(title, results), flush=True)
            a_segment = results[1].nanoseconds * chunk / (size + 10)
            print(f"  microseconds a segment: {a_segment / 1000:.2f}")
            goals.append(
                Goal(what=f"Json of {size} at {chunk} / by hand", measured=results[1].ratio, bound=BY_HAND)
            )
    return goals


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="a few short rounds: to see that it runs")
    is_quick = parser.parse_args().quick
    goals: list[Goal] = []
    for stream, bounds in [*((stream, BOUNDS) for stream in streams()), (long_stream(), LONG)]:
        results = measured(stream, is_quick=is_quick)
        print(table(f"a frame of {stream.name}, {len(stream.frame)} bytes", results), flush=True)
        ratios = dict(zip(CHUNKS, (result.ratio for result in results), strict=True))
        goals += [
            Goal(what=f"{stream.name.split(' Seg')[0]} at {chunk}", measured=ratios[chunk], bound=bound)
            for chunk, bound in bounds.items()
        ]
    goals += goals_by_hand(is_quick=is_quick)
    received = receiving(is_quick=is_quick)
    print(table("an event of a Lumberjack window in a session", received))
    rate = 1e9 / received[1].nanoseconds
    print(f"  events a second of CPU in segments of 1448 bytes: {rate:,.0f}")
    goals.append(Goal(what="session at 1448", measured=received[1].ratio, bound=1.5))
    return told(goals, is_quick=is_quick)


if __name__ == "__main__":
    sys.exit(main())
