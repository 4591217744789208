"""The sources of bytes: a file, stdin, hexadecimal digits; and the detection of captures."""

import string
import sys
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from io import BufferedReader
from pathlib import Path
from typing import IO, BinaryIO, Final, cast

from wiregen.tools.cli.failure import Failure
from wiregen.tools.cli.growing_file import GrowingFile
from wiregen.tools.cli.messages import is_terminal

__all__ = ["Input", "from_hex", "open_bytes", "open_growing", "open_lines", "refuse_stdin_twice"]

_CHUNK: Final = 1 << 16
_MOST_LINE: Final = 1 << 28
_MOST_CAPTURE: Final = 1 << 30
"""The most bytes of a capture from a pipe, all of which are stored on the disk."""
_HEAD_SIZE: Final = 4


@dataclass(frozen=True, slots=True, kw_only=True)
class Input:
    """Bytes that were opened.

    Attributes:
        path: That of a capture, or None: the bytes are a stream.
        size: In bytes, or None if it is not known in advance.
        is_live: The bytes may arrive slowly, so results are shown at once.
        is_followed: The file is still being written; Ctrl-C ends it.
        growing: The bytes of a capture that is still being written, in place of those of `path`.
    """

    chunks: Iterator[bytes]
    path: Path | None = None
    size: int | None = None
    is_live: bool = False
    is_followed: bool = False
    growing: "BinaryIO | None" = None


def from_hex(digits: str, option: str = "--hex") -> Input:
    """Return the bytes of an option's hexadecimal digits."""
    plain = "".join(digits.split()).removeprefix("0x")
    wrong = next((char for char in plain if char not in string.hexdigits), None)
    if wrong is not None or len(plain) % 2:
        what = f"`{wrong}` is not a hexadecimal digit" if wrong is not None else "an odd number of digits"
        raise Failure(
            f"{option}: {what}", f"write pairs of digits, with or without spaces: {option} '32 41 00000001'"
        )
    data = bytes.fromhex(plain)
    return Input(chunks=iter((data,) if data else ()), size=len(data))


def refuse_stdin_twice(*names: str | None) -> None:
    """Refuse several `-` among the names of inputs: the first reader would leave nothing to the others."""
    if names.count("-") > 1:
        raise Failure(
            "stdin would be read twice, but can be read only once", "give files for all inputs but one"
        )


@contextmanager
def open_bytes(name: str | None, *, is_capture: bool | None) -> Iterator[Input]:
    """Open a file by name, or stdin (`-`, or None if it is not a terminal); `is_capture` None: detect it."""
    if name is None and is_terminal(sys.stdin):
        raise Failure("the input is missing", "give a FILE, `-` to type or paste the input, or --hex")
    if name is None or name == "-":
        with _open_stream(sys.stdin.buffer, is_capture) as source:
            yield source
        return
    with _open(name) as file:
        if not Path(name).is_file():
            with _open_stream(file, is_capture) as source:
                yield source
            return
        head = file.read(_HEAD_SIZE)
        file.seek(0)
        if is_capture or (is_capture is None and _looks_like_capture(head, name)):
            yield Input(chunks=iter(()), path=Path(name), size=_size(file))
        else:
            yield Input(chunks=_chunks(file), size=_size(file))


@contextmanager
def open_growing(name: str | None, *, is_capture: bool | None) -> Iterator[Input]:
    """Open a file that is still being written; its bytes end when the file is deleted."""
    if name is None or name == "-" or not Path(name).is_file():
        raise Failure("--follow needs a file", "give the FILE that grows; stdin is always read as it arrives")
    with _open(name) as file:
        growing = GrowingFile(file)
        try:
            head: bytes | None = b"" if is_capture is not None else _head_of(growing)
        except KeyboardInterrupt:  # it ends the file, as a later one does
            head = None
        file.seek(0)
        if head is None:
            yield Input(chunks=iter(()), is_followed=True)
            return
        if is_capture or (is_capture is None and _looks_like_capture(head, name)):
            yield Input(chunks=iter(()), path=Path(name), is_followed=True, growing=cast(BinaryIO, growing))
        else:
            yield Input(chunks=iter(lambda: growing.read1(_CHUNK), b""), is_followed=True)


def _head_of(file: GrowingFile | BufferedReader) -> bytes:
    """Return the first bytes, as soon as they show whether the file may be a capture."""
    from wiregen.formats.capture import may_become_capture

    head = b""
    while len(head) < _HEAD_SIZE and may_become_capture(head):
        more = file.read1(_HEAD_SIZE - len(head))
        if not more:
            break
        head += more
    return head


@contextmanager
def open_lines(name: str | None) -> Iterator[Iterator[bytes]]:
    """Open a file of lines by name, or stdin; a line has at most 256 MiB."""
    if name is None and is_terminal(sys.stdin):
        raise Failure("the input is missing", "give a FILE of decoded lines, or `-` to type or paste them")
    if name is None or name == "-":
        yield _lines(sys.stdin.buffer)
        return
    with _open(name) as file:
        yield _lines(file)


@contextmanager
def _open_stream(stream: BinaryIO, is_capture: bool | None) -> Iterator[Input]:
    """Open stdin, a pipe or a device; a capture is stored in a file, because it may have to be read twice."""
    from wiregen.formats.capture import may_be_capture

    head = b"" if is_capture is False else _head_of(cast(BufferedReader, stream))
    if not is_capture and (is_capture is False or not may_be_capture(head)):
        yield Input(chunks=_rejoined(head, stream), is_live=True)
        return
    # An input that is declared a capture and is not one is refused by its first bytes, because a device never ends.
    chunks = _rejoined(head, stream) if may_be_capture(head) else (head,)
    with tempfile.NamedTemporaryFile(prefix="wiregen-") as file:
        _put_aside(chunks, file)
        if is_capture or _looks_like_capture(head, file.name):
            yield Input(chunks=iter(()), path=Path(file.name), size=_size(file))
        else:
            yield Input(chunks=_chunks(file), size=_size(file))


def _put_aside(chunks: Iterable[bytes], file: IO[bytes]) -> None:
    """Write a stream to a file, which is then read from its beginning; exit if the stream is too long."""
    size = 0
    for chunk in chunks:
        size += len(chunk)
        if size > _MOST_CAPTURE:
            raise Failure(
                f"a capture from a pipe is longer than {_MOST_CAPTURE >> 20} MiB",
                "write it to a file and give the file; or add --no-pcap if it is not a capture",
            )
        file.write(chunk)
    file.seek(0)


def _open(name: str) -> BinaryIO:
    path = Path(name)
    if path.is_dir():
        raise Failure(f"`{name}` is a folder", "give a file of bytes, a capture, or `-` for stdin")
    try:
        return path.open("rb")
    except (OSError, ValueError) as error:
        reason = (getattr(error, "strerror", None) or str(error)).lower()
        raise Failure(
            f"`{name}` cannot be read: {reason}", "give a file of bytes, a capture, or `-` for stdin"
        ) from None


def _looks_like_capture(head: bytes, name: str) -> bool:
    from wiregen.formats.capture import CaptureError, is_capture, may_be_capture

    try:
        return may_be_capture(head) and is_capture(name)
    except CaptureError as error:  # the library of the compression is missing
        message, _, way_out = str(error).partition(": ")
        raise Failure(message, way_out) from None


def _size(file: IO[bytes]) -> int:
    position = file.tell()
    size = file.seek(0, 2)
    file.seek(position)
    return size


def _chunks(file: IO[bytes]) -> Iterator[bytes]:
    while chunk := file.read(_CHUNK):
        yield chunk


def _lines(stream: BinaryIO) -> Iterator[bytes]:
    while line := stream.readline(_MOST_LINE + 1):
        if len(line) > _MOST_LINE:
            raise Failure(
                "a line is longer than 256 MiB",
                "write one JSON object per line, as `wiregen decode` does",
            )
        yield line


def _rejoined(head: bytes, stream: BinaryIO) -> Iterator[bytes]:
    """Yield the bytes that were read to recognise the stream, then the rest as it arrives."""
    if head:
        yield head
    # read1 returns the available bytes, so that the caller does not wait for a full buffer.
    read = getattr(stream, "read1", stream.read)
    while chunk := read(_CHUNK):
        yield chunk
