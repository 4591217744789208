"""Repeated builds: one whenever the configuration or a source changes, until Ctrl-C."""

import time
from collections.abc import Callable
from pathlib import Path
from typing import Final

import click

from wiregen.language.config import load_config
from wiregen.language.diagnostics import Report
from wiregen.language.source import SUFFIX
from wiregen.tools.cli.failure import DONE, Failure
from wiregen.tools.cli.messages import tell

__all__ = ["watch_sources"]

_PAUSE: Final = 0.3
"""Seconds between two checks: shorter than a user needs from the editor to the terminal."""


def watch_sources(build: Callable[[], int]) -> int:
    """Call `build` now and after each change; findings and failures are shown, and the next change is awaited.

    Changes are found by polling, which works on every file system; the files are few.
    """
    try:
        while True:
            seen = _state()
            _attempt(build)
            tell("waiting for changes; end with Ctrl-C")
            while _state() == seen:
                time.sleep(_PAUSE)
    except KeyboardInterrupt:
        return DONE


def _attempt(build: Callable[[], int]) -> None:
    try:
        build()
    except Failure as failure:
        failure.show()
    except click.exceptions.Exit:  # its findings were shown
        return


def _state() -> tuple[object, ...]:
    """Return a value that changes when the configuration or a source does; being unreadable counts as a value."""
    report = Report()
    config = load_config(Path.cwd(), report)
    faults = tuple(diagnostic.message for diagnostic in report.diagnostics)
    paths = (path for folder in config.sources for path in folder.glob(f"*{SUFFIX}"))
    return config, faults, *map(_mark, sorted(paths))


def _mark(path: Path) -> tuple[object, ...]:
    try:
        found = path.stat()
    except OSError:
        return (path,)
    return path, found.st_mtime_ns, found.st_size, found.st_ino
