"""Costs besides a codec's time: framing at every chunk size, the import of a package, and the memory of a message."""

from __future__ import annotations

import os
import subprocess
import sys
import tracemalloc
from dataclasses import dataclass
from statistics import median
from time import process_time_ns

from wireproto import lumberjack, pravega

__all__ = ["PACKAGES", "Framing", "framing", "held_bytes", "import_time", "n_messages"]

PACKAGES = ("lumberjack", "pravega", "reactive_streams", "geode")
_IMPORT = (
    "import sys, time; begin = time.process_time_ns(); import wireproto.{name};"
    " print(time.process_time_ns() - begin)"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Framing:
    """`growth`: the time for 4 times the data, by that for the data. Nanoseconds are those of a frame."""

    chunk: int
    growth: float
    nanoseconds: float


def framing(chunk: int, n_frames: int, rounds: int) -> Framing:
    """Measure the decoder alone: the smallest frames, in chunks of one size."""
    once, fourfold, growths = [], [], []
    for _ in range(rounds):
        once.append(_framed(n_frames, chunk))
        fourfold.append(_framed(4 * n_frames, chunk))
        growths.append(fourfold[-1] / once[-1])
    return Framing(chunk=chunk, growth=median(growths), nanoseconds=median(fourfold) / (4 * n_frames))


def _framed(n_frames: int, chunk: int) -> int:
    stream = lumberjack.Ack(7).encode() * n_frames
    decoder, n_found = lumberjack.Decoder("reader"), 0
    begin = process_time_ns()
    for at in range(0, len(stream), chunk):
        for _ in decoder.messages(stream[at : at + chunk]):
            n_found += 1
    taken = process_time_ns() - begin
    decoder.finish()
    assert n_found == n_frames
    return taken


def import_time(name: str, runs: int) -> float:
    """Return the CPU milliseconds of importing a package in a new process, its bytecode being there."""
    command = [sys.executable, "-c", _IMPORT.format(name=name)]
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    taken = [
        int(subprocess.run(command, check=True, capture_output=True, env=environment).stdout)
        for _ in range(runs + 1)
    ]
    return median(taken[1:]) / 1e6


def n_messages(name: str) -> int:
    """Return how many messages a package has."""
    module = sys.modules[f"wireproto.{name}.messages"]
    return sum(
        1
        for each in vars(module).values()
        if isinstance(each, type) and hasattr(each, "from_dict") and each.__name__ in module.__all__
    )


def held_bytes(frame: bytes, n: int) -> float:
    """Return the bytes that a decoded message keeps, of many that are held at once."""
    pravega.decode_message(frame)
    held: list[object] = [None] * n
    tracemalloc.start()
    before = tracemalloc.get_traced_memory()[0]
    for index in range(n):
        held[index] = pravega.decode_message(frame)
    after = tracemalloc.get_traced_memory()[0]
    tracemalloc.stop()
    return (after - before) / n
