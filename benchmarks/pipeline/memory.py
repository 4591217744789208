"""How much memory the Python processes below this one hold at most, while something runs."""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from multiprocessing import active_children
from pathlib import Path

_EVERY = 0.1  # seconds


class Peak:
    """The largest resident set that one of the processes had, in bytes: of a pool's, or of all others."""

    def __init__(self, *, is_pool: bool) -> None:
        self.size = 0
        self._is_pool = is_pool

    def look(self) -> None:
        pool = {process.pid for process in active_children()}
        for pid in _below(os.getpid()):
            status = _read(pid, "status")
            if "python" in status.partition("\n")[0] and (pid in pool) == self._is_pool:
                kib = next((line.split()[1] for line in status.splitlines() if line.startswith("VmRSS")), "0")
                self.size = max(self.size, int(kib) << 10)


@contextmanager
def watched(*, is_pool: bool) -> Iterator[Peak]:
    """Watch while the block runs."""
    peak, is_over = Peak(is_pool=is_pool), threading.Event()

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
