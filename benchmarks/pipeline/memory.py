"""The resources of this process and those below it: the peak memory of any Python process, and the CPU time of all."""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

_EVERY = 0.05  # seconds


class Peak:
    """The maximum of one process in bytes: its memory, and the part of it that is not in a file."""

    def __init__(self) -> None:
        self.resident = 0
        self.own = 0

    def look(self) -> None:
        for pid in _below(os.getpid()):
            status = dict(line.split(":", 1) for line in _read(pid, "status").splitlines() if ":" in line)
            if "python" in status.get("Name", ""):
                self.resident = max(self.resident, _size(status, "VmRSS"))
                self.own = max(self.own, _size(status, "RssAnon"))


def _size(status: dict[str, str], name: str) -> int:
    return int(status.get(name, "0").split()[0]) << 10


@contextmanager
def watched() -> Iterator[Peak]:
    """Watch while the block runs."""
    peak, is_over = Peak(), threading.Event()

    def watch() -> None:
        while not is_over.wait(_EVERY):
            peak.look()

    thread = threading.Thread(target=watch, daemon=True)
    thread.start()
    try:
        yield peak
    finally:
        is_over.set()
        thread.join()


def cpu_seconds() -> float:
    """Return how long all of them have run, those that ended and were waited for too."""
    ticks = 0
    for pid in (os.getpid(), *_below(os.getpid())):
        fields = _read(pid, "stat").rpartition(")")[2].split()
        ticks += sum(map(int, fields[11:15]))
    return ticks / os.sysconf("SC_CLK_TCK")


def _below(pid: int) -> Iterator[int]:
    for task in Path(f"/proc/{pid}/task").glob("*"):
        for child in _read_path(task / "children").split():
            yield int(child)
            yield from _below(int(child))


def _read(pid: int, name: str) -> str:
    return _read_path(Path(f"/proc/{pid}/{name}"))


def _read_path(path: Path) -> str:
    try:
        return path.read_text()
    except OSError:
        return ""  # it has ended meanwhile
