"""Requests to a remote storage that are made before their results are needed: each takes milliseconds, in which a task would wait."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from itertools import islice
from typing import TypeVar

from wirespark.storage import FileState, is_remote, storage_of

__all__ = ["N_AT_ONCE", "results_ahead", "states_of"]

N_AT_ONCE = 16
"""Requests that a task makes at the same time."""

Item = TypeVar("Item")
Result = TypeVar("Result")


def results_ahead(
    call: Callable[[Item], Result], items: Iterable[Item], paths: Iterable[str]
) -> Iterator[Result]:
    """Yield the results of a call with each item, in their order; up to 16 wait, or are being made, if a path is remote.

    A call that fails raises its error when its result is due. The other ones that wait are not made then.
    """
    if not any(map(is_remote, paths)):
        yield from map(call, items)
        return
    left = iter(items)
    threads = ThreadPoolExecutor(N_AT_ONCE)
    try:
        waiting: deque[Future[Result]] = deque(threads.submit(call, item) for item in islice(left, N_AT_ONCE))
        while waiting:
            yield waiting.popleft().result()
            waiting.extend(threads.submit(call, item) for item in islice(left, 1))
    finally:
        threads.shutdown(cancel_futures=True)


def states_of(paths: Iterable[str]) -> dict[str, FileState]:
    """Return the present states of files by path.

    Raises:
        OSError: There is no such file.
        WireSparkError: A storage cannot be reached, or denies it.
    """
    known = list(dict.fromkeys(paths))
    return dict(zip(known, results_ahead(_state, known, known), strict=True))


def _state(path: str) -> FileState:
    return storage_of(path).state(path)
