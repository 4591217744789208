"""CPU of JSON lines from a stream: compiled code, which `wiregen decode` uses for large inputs, beside the reference codec.

Run `make bench`, or `python benchmarks/bench_lines.py [--quick]`. The stream is one of Lumberjack's: windows of 500
events of 1.2 to 2.2 KB. In the table the decoding of its frames alone, in compiled code, is 1.00; the other rows make
the lines too, and prove of each that it gives its bytes back.
"""

from __future__ import annotations

import json
import os
import random
import sys
from collections.abc import Callable
from contextlib import redirect_stdout

from harness import Goal, compare, table, told

from wiregen.runtime.stream.context import Context
from wiregen.schema.copies import replace
from wiregen.schema.lowering import lower
from wiregen.tools.cli.clock import Clock
from wiregen.tools.cli.decoding_options import DecodingSettings
from wiregen.tools.cli.direction import Direction
from wiregen.tools.cli.protocols import native_of, spoken
from wiregen.tools.cli.sinks import sink
from wireproto import lumberjack

CHUNK = 1 << 16
BOUND = 0.15


def main() -> int:
    is_quick = "--quick" in sys.argv
    subject = spoken("lumberjack")
    plain = DecodingSettings(schema=lower(subject.protocol))
    compiled = replace(plain, compiled=native_of(subject))
    data = stream(2 if is_quick else 10)
    calls = {
        "frames": _frames(compiled, data),
        "lines": _lines(compiled, data),
        "by reference": _lines(plain, data),
    }
    results = compare(calls, rounds=1 if is_quick else 5, seconds=0)
    print(table(f"{len(data)} bytes of events", results), "\n", flush=True)
    share = results[1].ratio / results[2].ratio
    return told([Goal(what="compiled lines / by reference", measured=share, bound=BOUND)], is_quick=is_quick)


def stream(n_windows: int) -> bytes:
    """Return windows of events, the same at each run."""
    chance = random.Random(1)
    parts = []
    for _ in range(n_windows):
        parts.append(lumberjack.encode(lumberjack.Window(500)))
        for number in range(1, 501):
            event = {"message": "x" * chance.randrange(1000, 2000), "n": chance.randrange(10**6)}
            event |= {"@timestamp": "2026-11-27T10:00:00Z", "host": {"name": f"web-{number % 9}"}}
            parts.append(lumberjack.encode(lumberjack.Json(number, json.dumps(event).encode())))
    return b"".join(parts)


def _frames(settings: DecodingSettings, data: bytes) -> Callable[[], None]:
    return lambda: _decode(settings, data, lambda decoded: None)


def _lines(settings: DecodingSettings, data: bytes) -> Callable[[], None]:
    def write() -> None:
        with open(os.devnull, "w", encoding="ascii") as nowhere, redirect_stdout(nowhere):
            _decode(settings, data, sink("jsonl", settings, Clock("epoch")).write)

    return write


def _decode(settings: DecodingSettings, data: bytes, take: Callable[..., None]) -> None:
    direction = Direction(settings, "writer", Context(settings.schema))
    for start in range(0, len(data), CHUNK):
        for decoded in direction.feed(data[start : start + CHUNK]):
            take(decoded)


if __name__ == "__main__":
    sys.exit(main())
