"""Progress of reading a long input, shown on stderr to a waiting user."""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import PurePosixPath
from typing import Final, TypeVar

from wiregen.tools.cli.messages import is_terminal

__all__ = ["progress", "progress_of_files", "progress_of_pages", "progress_of_steps"]

Each = TypeVar("Each")

_LONG: Final = 16 * 1024 * 1024
"""Inputs up to this many bytes are finished before a bar could be read."""


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
