"""A file that another program is still writing: reading waits for more bytes at its end."""

import os
import sys
import time
from typing import BinaryIO, Final

from wiregen.tools.cli.failure import FINDINGS, Failure

__all__ = ["GrowingFile"]

_PAUSE: Final = 0.1
"""Seconds between two looks at the end of the file."""


class GrowingFile:
    """Reads a file to its end, shows the output so far, and waits; the bytes end when the file is deleted."""

    def __init__(self, file: BinaryIO) -> None:
        self._file = file

    def read1(self, size: int) -> bytes:
        """Return at most `size` bytes, as soon as there are any; b"" after the file is deleted.

        Raises:
            Failure: The file became shorter than what was read of it.
        """
        while True:
            data = self._file.read(size)
            if data or size == 0:
                return data
            state = os.fstat(self._file.fileno())
            if state.st_size < self._file.tell():
                way_out = "start again to read it from its beginning"
                raise Failure("the file was truncated while it was read", way_out, code=FINDINGS)
            if state.st_nlink == 0:
                return b""
            sys.stdout.flush()
            time.sleep(_PAUSE)

    def read(self, size: int) -> bytes:
        """Return `size` bytes, or fewer if the file is deleted."""
        parts: list[bytes] = []
        while size and (data := self.read1(size)):
            parts.append(data)
            size -= len(data)
        return b"".join(parts)
