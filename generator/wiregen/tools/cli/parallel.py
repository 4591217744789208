"""Work on several protocols at once, a process each where there is more than one core."""

import os
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor, as_completed
from multiprocessing import get_context
from typing import TypeVar

__all__ = ["side_by_side"]

Result = TypeVar("Result")


def side_by_side(work: Callable[[str], Result | None], names: Sequence[str]) -> Iterator[tuple[str, Result]]:
    """Yield what `work` gives for each name as soon as it is there; the first names are begun first.

    Names for which it gives nothing are left out, and all of them on one core: who asks has still to do those.
    """
    n_processes = min(len(names), _n_cores())
    if n_processes < 2:
        return
    try:
        with ProcessPoolExecutor(n_processes, mp_context=get_context("spawn")) as pool:
            asked: dict[Future[Result | None], str] = {pool.submit(work, name): name for name in names}
            for each in as_completed(asked):
                result = None if each.exception() is not None else each.result()
                if result is not None:
                    yield asked[each], result
    except (OSError, ImportError):  # a system without what processes need
        return


def _n_cores() -> int:
    try:
        return len(os.sched_getaffinity(0))
    except AttributeError:
        return os.cpu_count() or 1
