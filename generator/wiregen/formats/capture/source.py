"""Bytes of a capture: a path or stream, decompressed if needed, read only forward and in bounded pieces."""

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import BinaryIO

from wiregen.formats.capture.compression import LONGEST_MAGIC, Compression, compression_of
from wiregen.formats.capture.errors import CaptureError
from wiregen.formats.capture.issues import IssueKind, Issues

Source = str | os.PathLike[str] | BinaryIO

_Read = Callable[[int], bytes | None]
"""Returns at most so many bytes, fewer if only fewer are available (as in a pipe), and none at the end."""

_SKIP_SIZE = 1 << 16
_FIRST_SIZE = 16
"""The bytes that are unzipped first: damage costs all bytes that are unzipped with it, and these tell whether it is a capture."""


class CaptureInput:
    """A capture's unzipped bytes, seen through a window.

    A caller that has checked the bytes in `window` may read it from `position` on, and set `position` after
    the bytes read.
    """

    __slots__ = (
        "_before",
        "_is_at_end",
        "_is_cut",
        "_issues",
        "_read_some",
        "_window_size",
        "position",
        "window",
    )

    def __init__(self, head: bytes, read_some: _Read, issues: Issues, window_size: int) -> None:
        self._read_some = read_some
        self._window_size = window_size
        self._issues = issues
        self._before = 0
        self._is_at_end = False
        self._is_cut = False
        self.window = head
        self.position = 0

    @property
    def offset(self) -> int:
        """Return the number of bytes read so far."""
        return self._before + self.position

    @property
    def start_of_window(self) -> int:
        """Return the offset of the first byte of the window."""
        return self._before

    @property
    def end_of_window(self) -> int:
        """Return the offset of the first byte after the window."""
        return self._before + len(self.window)

    def read(self, size: int) -> bytes:
        """Return `size` bytes, or fewer if the source ends or cannot be read any further.

        The caller has to bound `size`: that much memory is allocated at once.
        """
        data = self._take(size)
        if len(data) == size:
            return data
        parts = [data]
        size -= len(data)
        while size and self._move():
            parts.append(self._take(size))
            size -= len(parts[-1])
        return b"".join(parts)

    def skip(self, size: int) -> bool:
        """Skip `size` bytes; return False if the source ends before."""
        while size > 0:
            n_read = len(self.read(min(size, _SKIP_SIZE)))
            if n_read == 0:
                return False
            size -= n_read
        return True

    def note_cut(self, at: int, detail: str) -> None:
        """Note that the file ends early, unless that was noted: the reader of packets finds a cut of a compressed file too."""
        if not self._is_cut:
            self._issues.note(IssueKind.TRUNCATED_FILE, at, detail)
        self._is_cut = True

    def back_to(self, offset: int) -> None:
        """Go back to an offset, as far as the window allows."""
        self.position = max(0, min(self.position, offset - self._before))

    def widen(self, size: int, *, behind: int = 0) -> bool:
        """Make the window hold `size` bytes from the position on; return False if fewer are left, which it then holds.

        The last `behind` bytes before the position stay in it.
        """
        n_bytes = len(self.window) - self.position
        if n_bytes >= size or self._is_at_end:
            return n_bytes >= size
        first = max(0, self.position - behind)
        start, position, parts = self._before + first, self.position - first, [self.window[first:]]
        self.position = len(self.window)
        while n_bytes < size and self._move():
            parts.append(self.window)
            n_bytes += len(self.window)
            self.position = len(self.window)
        self.window, self.position, self._before = b"".join(parts), position, start
        return n_bytes >= size

    def _take(self, size: int) -> bytes:
        data = self.window[self.position : self.position + size]
        self.position += len(data)
        return data

    def _move(self) -> bool:
        """Move the window, which was read to its end; return False at the end of the source."""
        self._before += self.position
        self.position = 0
        self.window = b""
        try:
            self.window = self._read_some(self._window_size if self._before else _FIRST_SIZE) or b""
        except OSError as error:
            self.note_cut(self.offset, error.strerror or str(error))
        self._is_at_end = not self.window
        return not self._is_at_end


@contextmanager
def open_input(source: Source, issues: Issues, window_size: int) -> Iterator[CaptureInput]:
    """Open a path, or use a binary stream without closing it; a compressed file is recognised by its first bytes.

    Raises:
        CaptureError: The path cannot be opened, or the source cannot be read.
    """
    if not isinstance(source, str | os.PathLike):
        yield _unzipped(source, issues, window_size)
        return
    try:
        stream = open(source, "rb")  # noqa: SIM115 - closed below, after the caller's use
    except OSError as error:
        raise CaptureError(f"cannot read `{os.fspath(source)}`: {error.strerror or error}") from None
    with stream:
        yield _unzipped(stream, issues, window_size)


def _unzipped(stream: BinaryIO, issues: Issues, window_size: int) -> CaptureInput:
    read_some: _Read = getattr(stream, "read1", stream.read)
    try:
        head = stream.read(LONGEST_MAGIC)
    except OSError as error:
        raise CaptureError(f"cannot read the capture: {error.strerror or error}") from None
    compression = compression_of(head)
    if compression is not None:
        issues.is_unzipped = True
        return CaptureInput(b"", _Unzipped(compression, head, read_some).read, issues, window_size)
    return CaptureInput(head, read_some, issues, window_size)


class _Unzipped:
    """The members of a compressed stream in sequence; `gzip.GzipFile` and its like would drop up to a buffer before damage."""

    def __init__(self, compression: Compression, head: bytes, read_zipped: _Read) -> None:
        self._name = compression.name
        self._library = compression.load()
        self._read_zipped = read_zipped
        self._input = head
        self._member = self._library.begin()

    def read(self, size: int) -> bytes:
        """Return some bytes, at most `size`; b"" at the end.

        Raises:
            OSError: The stream is damaged or cut.
        """
        try:
            return self._decompress(size)
        except (EOFError, self._library.error) as error:
            raise OSError(f"{self._name}: {error}") from None

    def _decompress(self, size: int) -> bytes:
        """Return some bytes, at most `size`; b"" at the end."""
        while self._refill():
            data = self._member.decompress(self._input, size)
            self._input = b""
            if data:
                return data
        return b""

    def _refill(self) -> bool:
        """Get input for the current member or the next one; return False after the last, which zeros may follow."""
        if self._member.eof:
            self._input = (self._member.unused_data or self._more()).lstrip(b"\0")
            if self._input:
                self._member = self._library.begin()
            return bool(self._input)
        if not self._input and self._member.needs_input:
            self._input = self._more()
            if not self._input:
                raise EOFError("the file ends inside a member")
        return True

    def _more(self) -> bytes:
        return self._read_zipped(_SKIP_SIZE) or b""
