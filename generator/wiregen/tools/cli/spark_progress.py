"""Progress of a conversion, shown on stderr to a waiting user: read from the receipts that its tasks write."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from time import monotonic

from wiregen.tools.cli.progress import progress_of_rows

__all__ = ["watched"]

_INTERVAL = 0.5
"""Seconds between two looks at the target, at least; to look takes a tenth of the time at most, as a store counts requests."""


@contextmanager
def watched(sources: tuple[str, ...], target: str) -> Iterator[None]:
    """Show a bar while the block runs, if the sources are large."""
    from wirespark import WireSparkError
    from wirespark.planning import files_of

    size = None
    with suppress(WireSparkError, OSError):  # the conversion itself reports it
        size = sum(state.size for state in files_of(sources).values())
    over = threading.Event()
    with progress_of_rows(size) as report:
        thread = threading.Thread(target=_watch, args=(target, report, over), daemon=True)
        thread.start()
        try:
            yield
        finally:
            over.set()
            thread.join()


def _watch(target: str, report: Callable[[int, int], None], over: threading.Event) -> None:
    """Report the bytes and rows of new receipts; those that are known are not read again."""
    from wirespark.target_storage import target_storage_of

    storage = target_storage_of(target)
    known: set[str] = set()
    size = n_rows = 0
    is_over = False
    while not is_over:
        begun = monotonic()
        for name in storage.receipt_names() - known:
            receipt = storage.receipt(name)
            if receipt is None:
                continue
            known.add(name)
            if not receipt.replaces:  # rows of earlier runs that were written again
                total = receipt.total
                size, n_rows = size + total.size, n_rows + total.rows
        report(size, n_rows)
        is_over = over.wait(max(_INTERVAL, 9 * (monotonic() - begun)))
