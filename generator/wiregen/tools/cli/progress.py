"""Progress of reading a long input, shown on stderr to a waiting user."""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import PurePosixPath
from time import monotonic
from typing import Final, TypeVar

from wiregen.tools.cli.messages import is_terminal

__all__ = ["progress", "progress_of_files", "progress_of_pages", "progress_of_rows", "progress_of_steps"]

Each = TypeVar("Each")

_LONG: Final = 16 * 1024 * 1024
"""Inputs up to this many bytes are finished before a bar could be read."""
_PAUSE: Final = 10.0
"""Seconds between two lines of progress."""


@contextmanager
def progress(
    size: int | None, what: str = "decoding", *, is_printed: bool = True
) -> Iterator[Callable[[int], None]]:
    """Show a bar for an input of `size` bytes; the function provided takes the number of bytes since its last call.

    `is_printed`: the result goes to stdout.
    """
    # If the result goes to the same terminal, a bar would disturb it.
    is_in_the_way = is_printed and is_terminal(sys.stdout)
    if size is None or size <= _LONG or not is_terminal(sys.stderr) or is_in_the_way:
        yield lambda n_bytes: None
        return
    from rich.console import Console
    from rich.progress import BarColumn, DownloadColumn, Progress, TimeRemainingColumn

    columns = (BarColumn(), DownloadColumn(binary_units=True), TimeRemainingColumn())
    console = Console(stderr=True)
    # rich would otherwise capture stdout too, and lay out every byte of the result.
    with Progress(*columns, console=console, transient=True, redirect_stdout=False) as bar:
        task = bar.add_task(what, total=size)
        yield lambda n_bytes: bar.advance(task, n_bytes)


@contextmanager
def progress_of_rows(size: int | None) -> Iterator[Callable[[int, int], None]]:
    """Show the bytes, the rate and the rows of a conversion of `size` bytes; the function provided takes the bytes and rows so far.

    On a terminal it is a bar; elsewhere, such as in the log of a cluster, a line when another tenth is done, at
    most every ten seconds.
    """
    if size is None or size <= _LONG:
        yield lambda n_bytes, n_rows: None
        return
    if not is_terminal(sys.stderr):
        yield _Lines(size).report
        return
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        DownloadColumn,
        Progress,
        TextColumn,
        TimeRemainingColumn,
        TransferSpeedColumn,
    )

    rows = TextColumn("{task.fields[rows]:,} rows")
    columns = (
        BarColumn(),
        DownloadColumn(binary_units=True),
        TransferSpeedColumn(),
        rows,
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=Console(stderr=True), transient=True, redirect_stdout=False) as bar:
        task = bar.add_task("converting", total=size, rows=0)
        yield lambda n_bytes, n_rows: bar.update(task, completed=n_bytes, rows=n_rows)


class _Lines:
    """Progress as lines on stderr; the rate does not count what was done before the first report."""

    def __init__(self, size: int) -> None:
        self._size = size
        self._begun = self._last = monotonic()
        self._n_before: int | None = None
        self._n_tenths = 0

    def report(self, n_bytes: int, n_rows: int) -> None:
        now, n_tenths = monotonic(), 10 * n_bytes // self._size
        if self._n_before is None:
            self._n_before, self._n_tenths = n_bytes, n_tenths
        if n_tenths <= self._n_tenths or now - self._last < _PAUSE:
            return
        self._last, self._n_tenths = now, n_tenths
        rate = (n_bytes - self._n_before) / 1e6 / (now - self._begun)
        share = 100 * n_bytes // self._size
        sys.stderr.write(f"{share:3} %  {n_bytes / 1e6:,.0f} MB  {n_rows:,} rows  {rate:,.1f} MB/s\n")


@contextmanager
def progress_of_pages() -> Iterator[Callable[[PurePosixPath], None]]:
    """Show the current file of a build on a terminal; the function provided takes each file before it is printed."""
    if not is_terminal(sys.stderr):
        yield lambda path: None
        return
    from rich.console import Console
    from rich.text import Text

    with Console(stderr=True).status("building") as status:
        yield lambda path: status.update(Text(f"building {path}"))


@contextmanager
def progress_of_steps(what: str) -> Iterator[Callable[[str], None]]:
    """Show the current step of a longer work on a terminal; the function provided takes each step before it begins."""
    if not is_terminal(sys.stderr):
        yield lambda step: None
        return
    from rich.console import Console
    from rich.text import Text

    with Console(stderr=True).status(what) as status:
        yield lambda step: status.update(Text(f"{what}: {step}"))


@contextmanager
def progress_of_files(count: int) -> Iterator[Callable[[Each], Each]]:
    """Show the number of finished files on a terminal; the function provided returns its argument."""
    if count < 2 or not is_terminal(sys.stderr):
        yield lambda done: done
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress

    columns = (BarColumn(), MofNCompleteColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True, redirect_stdout=False) as bar:
        task = bar.add_task("files", total=count)

        def advance(done: Each) -> Each:
            bar.advance(task)
            return done

        yield advance
