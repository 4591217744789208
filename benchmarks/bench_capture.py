"""Captures to TCP streams: time per capture, next to a copy of it, a parser that does not assemble streams,
and an older version.

Run `make bench`, or `python benchmarks/bench_capture.py [--quick] [--before COMMIT]`. In each table the first line is 1.00;
smaller is faster.
"""

from __future__ import annotations

import argparse
import importlib
import io
import random
import struct
import subprocess
import sys
import tempfile
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from types import ModuleType

from harness import Goal, compare, table, told

from wiregen.formats import capture

ROOT = Path(__file__).resolve().parents[1]
MEGABYTE = 1_000_000
MEGABYTES_PER_SECOND = 150  # the goal for one core
N_FLOWS = 32
SIZES: dict[str, Sequence[int]] = {
    "full segments": [1448],
    "mixed segments": [60, 200, 600, 1000, 1448, 1448],
    "small segments": [200],
}
"""Sizes of segments; every second one is acknowledged by a packet without data."""


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--quick", action="store_true", help="a few short rounds: to see that it runs and that all agree"
    )
    parser.add_argument("--before", metavar="COMMIT", help="measure the reader of this commit too")
    arguments = parser.parse_args()
    size, rounds, seconds = (MEGABYTE // 4, 3, 0.0005) if arguments.quick else (8 * MEGABYTE, 21, 0.01)
    before = capture_of(arguments.before) if arguments.before else None
    goals = []
    for name, sizes in SIZES.items():
        data, streams = made(size, sizes)
        assert joined(capture, data) == streams
        assert before is None or joined(before, data) == streams
        results = compare(candidates(data, before), rounds=rounds, seconds=seconds)
        speed = len(data) / results[0].nanoseconds * 1000
        print(table(f"{name}, {len(data) / MEGABYTE:.1f} MB, {speed:.0f} MB/s", results))
        milliseconds = results[0].nanoseconds / 1e6 / (len(data) / MEGABYTE)
        goals.append(
            Goal(what=f"ms a megabyte of {name}", measured=milliseconds, bound=1000 / MEGABYTES_PER_SECOND)
        )
    return told(goals, is_quick=arguments.quick)


def candidates(data: bytes, before: ModuleType | None) -> dict[str, Callable[[], object]]:
    """Return the measured calls; all but the copy read the capture to its end."""
    found: dict[str, Callable[[], object]] = {
        "streams": lambda: deque(capture.read_streams(io.BytesIO(data)), 0),
        "packets, no headers": lambda: deque(capture.read_capture(io.BytesIO(data)), 0),
        "memcpy": lambda: bytearray(data),
    }
    if before is not None:
        found["streams, before"] = lambda: deque(before.read_streams(io.BytesIO(data)), 0)
    try:
        import dpkt
    except ImportError:
        return found
    found["dpkt, headers, no streams"] = lambda: deque(
        (dpkt.ethernet.Ethernet(p) for _, p in dpkt.pcap.Reader(io.BytesIO(data))), 0
    )
    return found


def joined(reader: ModuleType, data: bytes) -> dict[str, bytes]:
    """Return the streams of the openers."""
    parts: dict[str, list[bytes]] = {}
    for event in reader.read_streams(io.BytesIO(data)):
        if isinstance(event, reader.FlowBytes):
            parts.setdefault(str(event.flow.opener), []).append(event.data)
    return {name: b"".join(pieces) for name, pieces in parts.items()}


def made(size: int, sizes: Sequence[int]) -> tuple[bytes, dict[str, bytes]]:
    """Return a capture of about `size` bytes with its flows interleaved, and the streams that it holds."""
    chance = random.Random(1)
    flows = [_Sender(chance, number, sizes) for number in range(N_FLOWS)]
    parts = [struct.pack("<IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, 262_144, 1)]
    parts += [packet for flow in flows for packet in flow.open()]
    n_bytes = 0
    while n_bytes < size:
        burst = list(chance.choice(flows).burst())
        n_bytes += sum(map(len, burst))
        parts += burst
    return b"".join(parts), {flow.name: b"".join(flow.sent) for flow in flows if flow.sent}


class _Sender:
    """A flow that sends bursts; one in fifty has its packets out of order."""

    def __init__(self, chance: random.Random, number: int, sizes: Sequence[int]) -> None:
        self._chance = chance
        self._sizes = sizes
        self._sequence = chance.randrange(1 << 32)
        self._ends = (bytes([10, 0, 0, number]), 40_000 + number), (bytes([10, 0, 1, 1]), 5044)
        self.name = f"10.0.0.{number}:{40_000 + number}"
        self.sent: list[bytes] = []

    def open(self) -> Iterator[bytes]:
        yield self._record(0, self._sequence - 1, 2)
        yield self._record(1, 6, 18)

    def burst(self) -> Iterator[bytes]:
        packets = []
        for i in range(self._chance.randrange(1, 8)):
            data = self._chance.randbytes(self._chance.choice(self._sizes))
            packets.append(self._record(0, self._sequence, 16, data))
            self.sent.append(data)
            self._sequence += len(data)
            if i % 2:
                packets.append(self._record(1, 7, 16))
        if self._chance.random() < 0.02:
            self._chance.shuffle(packets)
        yield from packets

    def _record(self, side: int, sequence: int, flags: int, data: bytes = b"") -> bytes:
        (source, port), (target, other) = self._ends[side], self._ends[1 - side]
        acknowledged = self._sequence if side else 7
        tcp = struct.pack(
            ">HHIIBBHHH", port, other, sequence % 2**32, acknowledged % 2**32, 5 << 4, flags, 1024, 0, 0
        )
        ip = struct.pack(">BxHIBBH", 0x45, 40 + len(data), 0, 64, 6, 0) + source + target
        frame = bytes(12) + b"\x08\x00" + ip + tcp + data
        return struct.pack("<IIII", 7, 0, len(frame), len(frame)) + frame


def capture_of(commit: str) -> ModuleType:
    """Return the package `capture` of a commit, under another name."""
    folder = Path(tempfile.mkdtemp(prefix="wiregen-bench-")) / "capture_before"
    folder.mkdir()
    git = ["git", "-C", str(ROOT)]
    room = f"{commit}:generator/wiregen/formats/capture"
    names = subprocess.run([*git, "ls-tree", "--name-only", room], check=True, capture_output=True, text=True)
    for name in names.stdout.split():
        text = subprocess.run(
            [*git, "show", f"{room}/{name}"], check=True, capture_output=True, text=True
        ).stdout
        (folder / name).write_text(text.replace("wiregen.formats.capture", "capture_before"))
    sys.path.insert(0, str(folder.parent))
    return importlib.import_module("capture_before")


if __name__ == "__main__":
    sys.exit(main())
