"""The most memory that a call takes at once, whatever else the process does beside it."""

from __future__ import annotations

import tracemalloc
from collections.abc import Callable
from math import inf

N_RUNS = 3


def peak_of(call: Callable[[], object], allowed: float = inf) -> tuple[int, ValueError | None]:
    """Return the most bytes that were allocated at once, and the error that the call ended with.

    What a call needs is allocated in each of its runs. Other threads of the process, and what is loaded or made
    once, only add to one of them: a run that took more than is allowed is tried again.
    """
    most, error = _run(call)
    for _ in range(N_RUNS - 1):
        if most < allowed:
            break
        most, error = _run(call)
    return most, error


def _run(call: Callable[[], object]) -> tuple[int, ValueError | None]:
    error: ValueError | None = None
    tracemalloc.start()
    try:
        before = tracemalloc.get_traced_memory()[0]
        call()
    except ValueError as caught:
        error = caught
    finally:
        most = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
    return most - before, error
