"""One process that answers questions within bounds.

A question that exceeds them ends it; the next one starts a new process.
"""

from __future__ import annotations

import json
import multiprocessing
import threading
from collections.abc import Callable
from contextlib import suppress
from multiprocessing.connection import Connection
from typing import Any, Final, TypeAlias

from wiregen.formats.jsonl import Line
from wiregen.site.playground.json_answers import json_answer

__all__ = ["Maker", "Workshop"]

Maker: TypeAlias = Callable[[], Callable[[Any], Line]]
"""Makes the function that answers, in the process."""
_SECONDS: Final = 10.0
_FIRST_SECONDS: Final = 60.0
"""Allowed for the first question of a process: its imports take time."""
_MOST_ANSWER: Final = 1 << 28
"""The largest answer as JSON, in bytes."""
_MEMORY: Final = 1 << 30
"""Bytes of address space above the amount that the process uses at its start."""


class Workshop:
    """Sends questions to a process; `seconds`: the time limit of one question."""

    def __init__(self, maker: Maker, *, seconds: float = _SECONDS) -> None:
        self._maker, self._seconds = maker, seconds
        self._lock = threading.Lock()
        self._process: Any = None
        self._pipe: Any = None

    def ask(self, question: object) -> Line:
        """Return the answer, or an answer that names the exceeded bound. Both are JSON data."""
        try:
            asked = json.dumps(question, ensure_ascii=False, allow_nan=False).encode()
        except (ValueError, TypeError, RecursionError):  # nested too deeply, not a number, half a character
            return {"wrong": "no question"}
        with self._lock:
            try:
                seconds = self._seconds
                if self._process is None or not self._process.is_alive():
                    self._begin()
                    seconds += _FIRST_SECONDS
                self._pipe.send_bytes(asked)
                if self._pipe.poll(seconds):
                    answer: dict[str, object] = json.loads(self._pipe.recv_bytes(_MOST_ANSWER))
                    return answer
                wrong = "it took too long"
            except (EOFError, OSError, ValueError):
                wrong = "it took too much memory, or failed"
            self._end()
            return {"wrong": wrong}

    def close(self) -> None:
        with self._lock:
            self._end()

    def _begin(self) -> None:
        self._end()
        context = multiprocessing.get_context("spawn")
        self._pipe, other = context.Pipe()
        self._process = context.Process(target=_work, args=(other, self._maker), daemon=True)
        self._process.start()
        other.close()

    def _end(self) -> None:
        if self._process is not None:
            self._process.kill()
            self._process.join()
            self._pipe.close()
        self._process = self._pipe = None


def _work(pipe: Connection, maker: Maker) -> None:
    answer = maker()
    _bound_memory()
    with suppress(EOFError, KeyboardInterrupt):
        while True:
            pipe.send_bytes(json_answer(answer, pipe.recv_bytes()).encode())


def _bound_memory() -> None:
    """Bound the memory of the process, where the system supports it."""
    try:
        import resource
        from pathlib import Path

        pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[0])
        bound = pages * resource.getpagesize() + _MEMORY
        resource.setrlimit(resource.RLIMIT_AS, (bound, bound))
    except (ImportError, OSError, ValueError):  # not on every system
        return
