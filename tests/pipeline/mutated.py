"""Runs the kernels over changed frames that end where a page begins which nobody may touch; says how many frames it were.

A program of its own: a kernel that reads too far dies with it.
"""

from __future__ import annotations

import ctypes
import mmap
import random
import sys
from typing import Any

import numpy as np
from tests.pipeline.streams import stream_of

from wirespark.kernels import ops
from wirespark.kernels.scanner import Scanner, scanner_of
from wirespark.options import Wishes

_SIZE = 1 << 20
PROTOCOLS = ("pravega", "pravega_documented", "pravega_proposal", "lumberjack", "reactive_streams")


class Fenced:
    """Memory whose last byte lies before a page that cannot be read."""

    def __init__(self) -> None:
        self._map = mmap.mmap(-1, _SIZE + mmap.PAGESIZE)
        self.bytes: Any = np.frombuffer(self._map, np.uint8)
        last = ctypes.c_void_p(self.bytes.ctypes.data + _SIZE)
        libc = ctypes.CDLL(None, use_errno=True)
        if libc.mprotect(last, ctypes.c_size_t(mmap.PAGESIZE), 0):
            raise OSError(ctypes.get_errno(), "mprotect")

    def put(self, data: Any) -> Any:
        """Return the bytes where they end with the page before."""
        place = self.bytes[_SIZE - len(data) : _SIZE]
        place[:] = data
        return place


def changed(data: Any, ends: Any, dice: np.random.Generator) -> Any:
    """Return a copy with about every second frame changed in a bit or a byte, or cut somewhere."""
    found = data.copy()
    n_changes = max(1, len(ends) // 2)
    places = dice.integers(0, len(found), n_changes)
    found[places[::2]] ^= np.uint8(1) << dice.integers(0, 8, len(places[::2])).astype(np.uint8)
    found[places[1::2]] = dice.choice(np.array([0, 1, 0x7F, 0x80, 0xFF], np.uint8), len(places[1::2]))
    return found[: dice.integers(1, len(found) + 1)]


def scan_all(scanner: Scanner, data: Any, begins: list[int]) -> int:
    """Scan from every frame's beginning that no scan before went over; return how many were looked at."""
    n_frames, at = 0, 0
    for begin in begins:
        if begin < at or begin >= len(data):
            continue
        found = scanner.scan(data, begin)
        scanner.columns(data, found, 0)
        n_frames += len(found.frames) + 1
        at = max(begin + 1, found.end)
        if found.reason == ops.ALL:
            break
    return n_frames


def main(n_wanted: int) -> None:
    dice = np.random.default_rng(7)
    fenced, n_frames = Fenced(), 0
    streams = [stream_of(protocol, seed, 200) for protocol in PROTOCOLS for seed in range(3)]
    ready = []
    for stream in streams:
        scanner = scanner_of(Wishes(protocol=stream.protocol, role=stream.role), stream.role)
        assert scanner is not None
        ready.append((scanner, np.frombuffer(stream.data, np.uint8), [0, *stream.ends[:-1]]))
    while n_frames < n_wanted:
        scanner, data, begins = random.choice(ready)
        n_frames += scan_all(scanner, fenced.put(changed(data, begins, dice)), begins)
    print(n_frames)


if __name__ == "__main__":
    random.seed(7)
    main(int(sys.argv[1]))
