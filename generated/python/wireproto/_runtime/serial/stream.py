"""Frames of a serialization from a stream in chunks of any size.

A framer finds the end of a frame, a reader decodes it. The decoder holds at most one frame, which its limit
bounds, and the bytes that were fed and not yet read. The work is linear at every chunk size.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, Generic, Literal, Protocol, TypeAlias, TypeVar

from ..codec.compiled import as_bytes
from ..codec.errors import DecodeError

__all__ = ["Framer", "StreamDecoder"]

F = TypeVar("F")
Buffer: TypeAlias = bytes | bytearray | memoryview


class Framer(Protocol):
    """Finds frames in a buffer.

    Attributes:
        needed: The minimum number of missing bytes, after a call that returned None.
    """

    needed: int

    def find(self, data: bytes | bytearray, start: int) -> tuple[int, int] | None:
        """Return the start and the end of the body of the frame at `start`, or None if it is not whole.

        For a frame that is not whole, it is called again with the same bytes and more, possibly at another offset.

        Raises:
            DecodeError: Its positions are offsets in `data`.
        """


class StreamDecoder(Generic[F]):
    """Frames from chunks of one direction of a connection.

    Attributes:
        fed: The number of bytes that were fed.
    """

    __slots__ = ("_base", "_data", "_failed", "_framer", "_position", "_raises", "_read", "_skip", "fed")

    def __init__(
        self,
        framer: Framer,
        read: Callable[[bytes, int, int], F],
        errors: Literal["raise", "yield"] = "raise",
    ) -> None:
        """`read(body, start, end)` makes a frame; the positions are the frame's in the stream."""
        if errors not in ("raise", "yield"):
            raise ValueError("errors is 'raise' or 'yield'")
        self._framer = framer
        self._read = read
        self._raises = errors == "raise"
        self._data = bytearray()
        self._position = 0
        self._base = 0
        self._skip = 0
        self._failed: DecodeError | None = None
        self.fed = 0

    @property
    def offset(self) -> int:
        """The offset of the next frame in the stream."""
        if self._failed is not None:
            return self._failed.frame_offset
        return max(self._skip, self._base + self._position)

    @property
    def pending(self) -> int:
        """The number of bytes that were fed and do not belong to a frame that was read."""
        return max(0, self.fed - self.offset)

    @property
    def needed(self) -> int:
        """The minimum number of bytes that the incomplete frame still needs, or 0 without one."""
        return self._framer.needed if self.pending and self._failed is None else 0

    def begin_inside(self) -> None:
        """Treat the next bytes as the middle of a stream, which makes no difference: each frame is
        independent of earlier ones.
        """

    def feed(self, chunk: Buffer) -> Iterator[F]:
        """Take in a chunk, and return an iterator over the frames that are complete now.

        Raises:
            DecodeError: By the iterator, after the frames before the error. With errors="yield" it is an item instead.
        """
        self._enqueue(chunk)
        return self._frames()

    def items(self, chunk: Buffer) -> Iterator[tuple[int, int, F | DecodeError]]:
        """Return the same as (offset, size, frame or error): together they tile the stream.

        An error after which decoding cannot continue is one item of `finish_items`, as only then its size
        is known.
        """
        self._enqueue(chunk)
        return self._items()

    def messages(self, chunk: Buffer) -> Iterator[Any]:
        """Return an iterator over the messages that are complete now, without the frames around them."""
        self._enqueue(chunk)
        return (getattr(frame, "message", frame) for frame in self._frames())

    def finish(self) -> None:
        """End the stream. Frames that were fed and not read are dropped.

        Raises:
            DecodeError: A frame is cut, or the stream was given up before.
        """
        for item in self._frames():
            del item
        self._cut()
        if self._failed is not None:
            raise self._failed.copy()

    def finish_items(self) -> Iterator[tuple[int, int, F | DecodeError]]:
        """End the stream, and return the remaining items."""
        yield from self._items()
        self._cut()
        error = self._failed
        if error is not None and error.frame_offset < self.fed:
            yield error.frame_offset, self.fed - error.frame_offset, error.copy()
            self._failed = error.copy()
            self._failed.frame_offset = self.fed

    # -- fed bytes --------------------------------------------------------------------------------------------------

    def _enqueue(self, chunk: Buffer) -> None:
        data = as_bytes(chunk)
        self._data += data
        self.fed += len(data)

    def _frames(self) -> Iterator[Any]:
        if self._failed is not None and self._raises:
            raise self._failed.copy()
        for _, _, item in self._items(is_fatal_too=True):
            if self._raises and isinstance(item, DecodeError):
                raise item
            yield item

    def _items(self, *, is_fatal_too: bool = False) -> Iterator[tuple[int, int, F | DecodeError]]:
        while self._failed is None and self._skipped():
            start = self.offset
            try:
                place = self._framer.find(self._data, self._position)
                if place is None:
                    break
                yield self._one(start, *place)
            except DecodeError as error:
                fault = self._fail(error.moved(self._base), start)
                if is_fatal_too or self._failed is None:
                    yield start, self.offset - start, fault
        self._drop(len(self._data) if self._failed is not None else self._position)

    def _skipped(self) -> bool:
        """Continue after a skipped frame; return whether bytes remain."""
        if self._skip > self._base + self._position:
            self._position = min(len(self._data), self._skip - self._base)
        return self._position < len(self._data)

    def _one(self, start: int, body: int, end: int) -> tuple[int, int, F | DecodeError]:
        size = end - self._position
        content = bytes(memoryview(self._data)[body:end])
        self._position = end
        try:
            return start, size, self._read(content, start, start + size)
        except DecodeError as error:
            return start, size, error

    def _drop(self, count: int) -> None:
        del self._data[:count]
        self._base += count
        self._position = 0

    # -- faults -----------------------------------------------------------------------------------------------------

    def _fail(self, error: DecodeError, start: int) -> DecodeError:
        """Skip to the end of the bad frame if it is known, else give up the stream."""
        if error.recoverable and error.end is not None and error.end > start:
            self._skip = error.end
        else:
            self._failed = error.copy()
            self._failed.frame_offset = start
        return error

    def _cut(self) -> None:
        """Give up the stream if its end cuts a frame."""
        if self._failed is None and self.pending:
            found = f"{self.pending} bytes"
            self._failed = DecodeError(
                "truncated", frame_offset=self.offset, at=self.fed, expected="a whole frame", found=found
            )
