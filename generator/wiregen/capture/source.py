"""Bytes of a capture: a path or stream, gunzipped where needed, read forward only and in bounded pieces."""

import io
import os
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, BinaryIO

from wiregen.capture.errors import CaptureError
from wiregen.capture.issues import IssueKind, Issues

if TYPE_CHECKING:
    from _typeshed import WriteableBuffer

Source = str | os.PathLike[str] | BinaryIO

_GZIP_MAGIC = b"\x1f\x8b"
_BUFFER_SIZE = 1 << 20
_SKIP_SIZE = 1 << 16


class Input:
    """A capture's unzipped bytes; `offset` counts those read so far."""

    __slots__ = ("_issues", "_stream", "offset")

    def __init__(self, stream: BinaryIO, issues: Issues) -> None:
        self._stream = stream
        self._issues = issues
        self.offset = 0

    def read(self, size: int) -> bytes:
        """Return `size` bytes, or fewer where the source ends or cannot be read any further.

        The caller has bounded `size`: that much memory is taken at once.
        """
        try:
            data = self._stream.read(size)
        except OSError as error:
            self._issues.note(IssueKind.TRUNCATED_FILE, self.offset, error.strerror or str(error))
            return b""
        self.offset += len(data)
        return data

    def skip(self, size: int) -> bool:
        """Pass over `size` bytes; False where the source ends before."""
        while size > 0:
            n_read = len(self.read(min(size, _SKIP_SIZE)))
            if n_read == 0:
                return False
            size -= n_read
        return True


@contextmanager
def open_input(source: Source, issues: Issues) -> Iterator[Input]:
    """Open a path, or take a binary stream over without closing it; gzip is recognised by its first bytes.

    Raises:
        CaptureError: the path cannot be opened or the source not be read.
    """
    if not isinstance(source, str | os.PathLike):
        yield _unzipped(source, issues)
        return
    try:
        stream = open(source, "rb")  # noqa: SIM115 - closed below, after the caller's use
    except OSError as error:
        raise CaptureError(f"cannot read `{os.fspath(source)}`: {error.strerror or error}") from None
    with stream:
        yield _unzipped(stream, issues)


def _unzipped(stream: BinaryIO, issues: Issues) -> Input:
    try:
        head = stream.read(len(_GZIP_MAGIC))
    except OSError as error:
        raise CaptureError(f"cannot read the capture: {error.strerror or error}") from None
    raw: io.RawIOBase = _Rejoined(head, stream)
    if head == _GZIP_MAGIC:
        raw = _Unzipped(raw, issues)
    return Input(io.BufferedReader(raw, _BUFFER_SIZE), issues)


class _Rejoined(io.RawIOBase):
    """A stream with the bytes that were read to recognise it put back; closing it leaves the stream open."""

    def __init__(self, head: bytes, stream: BinaryIO) -> None:
        self._head = head
        # read1 gives what is there: a pipe from a running capture is not waited for until the buffer is full.
        self._read: Callable[[int], bytes] = getattr(stream, "read1", stream.read)

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: "WriteableBuffer") -> int:
        view = memoryview(buffer).cast("B")
        data = self._head[: len(view)] or self._read(len(view))
        self._head = self._head[len(data) :]
        view[: len(data)] = data
        return len(data)


class _Unzipped(io.RawIOBase):
    """The gzip members of a stream, one behind the other; `gzip.GzipFile` would drop up to a buffer before damage."""

    def __init__(self, zipped: io.RawIOBase, issues: Issues) -> None:
        self._zipped = zipped
        self._issues = issues
        self._input = b""
        self._member = _new_member()
        self._offset = 0  # in the unzipped bytes

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: "WriteableBuffer") -> int:
        view = memoryview(buffer).cast("B")
        try:
            data = self._inflate(len(view))
        except (EOFError, zlib.error) as error:
            self._issues.note(IssueKind.TRUNCATED_FILE, self._offset, f"gzip: {error}")
            return 0
        view[: len(data)] = data
        self._offset += len(data)
        return len(data)

    def _inflate(self, size: int) -> bytes:
        """Return some bytes, at most `size`, none at the end."""
        while self._refill():
            data = self._member.decompress(self._input, size)
            self._input = self._member.unconsumed_tail or self._member.unused_data
            if data:
                return data
        return b""

    def _refill(self) -> bool:
        """Get input for the member at hand or for the next one; False behind the last, zeros may follow it."""
        if not self._input:
            self._input = self._zipped.read(_SKIP_SIZE) or b""
        if self._member.eof:
            self._input = self._input.lstrip(b"\0")
            if self._input:
                self._member = _new_member()
            return bool(self._input)
        if not self._input:
            raise EOFError("the file ends inside a member")
        return True


def _new_member() -> "zlib._Decompress":
    return zlib.decompressobj(wbits=16 + zlib.MAX_WBITS)
