"""The destination of the bytes, and the progress on the terminal."""

from __future__ import annotations

import sys
import time
from io import FileIO
from pathlib import Path
from typing import Self, TextIO

from .failures import Exit, Failure

__all__ = ["Output", "Progress"]


class Output:
    """A file, or standard output. Output is not buffered: `write` passes its bytes to the system.

    A file is opened when the block is entered, so that a probe that fails before leaves an old one alone.
    """

    def __init__(self, path: Path | None) -> None:
        self._path = path
        self._file: FileIO | None = None

    def __enter__(self) -> Self:
        if self._path is None:
            self._file = FileIO(sys.stdout.fileno(), "wb", closefd=False)
        else:
            self._file = FileIO(self._path, "wb")
        return self

    def __exit__(self, *_: object) -> None:
        assert self._file is not None
        self._file.close()

    def write(self, data: bytes) -> None:
        assert self._file is not None
        rest = memoryview(data)
        try:
            while rest:
                rest = rest[self._file.write(rest) :]
        except BrokenPipeError:
            raise Failure(Exit.NETWORK, "the reader of the output has closed it") from None


class Progress:
    """The number of received bytes, shown on a terminal only."""

    EVERY = 0.2
    """Seconds between two updates."""

    def __init__(self, total: int | None, terminal: TextIO) -> None:
        self.n_bytes = 0
        self._total = total
        self._terminal = terminal if terminal.isatty() else None
        self._next = 0.0

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self._terminal is not None:
            self._show("\n")

    def add(self, n_bytes: int) -> None:
        self.n_bytes += n_bytes
        if self._terminal is not None and time.monotonic() >= self._next:
            self._next = time.monotonic() + self.EVERY
            self._show("")

    def _show(self, end: str) -> None:
        of = "" if self._total is None else f" of {self._total:,}"
        print(f"\r{self.n_bytes:,}{of} bytes", end=end, file=self._terminal, flush=True)
