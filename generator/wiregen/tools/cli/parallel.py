"""Work on several protocols at once, one process each, if there is more than one core."""

import os
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor, as_completed
from multiprocessing import get_context
from typing import TypeVar

__all__ = ["side_by_side"]

Result = TypeVar("Result")


def side_by_side(work: Callable[[str], Result | None], names: Sequence[str]) -> Iterator[tuple[str, Result]]:
    """Yield the result of `work` for each name as soon as it is available; the first names are started first.

    Names without a result are left out, and on one core all names are. The caller has to process those
    itself.
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
    except (OSError, ImportError):  # the system lacks support for processes
        return


def _n_cores() -> int:
    try:
        return len(os.sched_getaffinity(0))
    except AttributeError:
        return os.cpu_count() or 1
