"""Frames from a stream in chunks of any size.

Compiled code decodes whole frames directly from the chunk. If a chunk cuts a frame, its lengths and counts
give the number of missing bytes; the frame is decoded when they have arrived. The reference codec explains
errors. It also reads frames without compiled code, and those whose end only it can find. The work is linear
at every chunk size. Memory: at most one frame, which its limit bounds, and the bytes that were fed and not
yet read.

A frame that is cut is judged when it is whole, or when the stream ends. A size, count or choice that is
wrong or over its limit is refused earlier, as soon as its bytes have arrived. Invariant: the sizes of
chunks do not matter; the same bytes yield the same frames and errors.
"""

from __future__ import annotations

from ..codec.compiled import BRIEF, BRIEF_REFERENCE, READ_FAULTS
from ..codec.errors import DecodeError
from .chunk_reader import ChunkReader
from .partial_frame import PartialFrame
from .suspended_frame import SuspendedFrame

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from .chunk_reader import Buffer, DecodeFrom, F, Item
else:
    F = None

__all__ = ["Decoder"]
_FAULTS = (DecodeError, *READ_FAULTS)
BRIEF_BYTES = 128 * 1024
"""Bytes of a chunk, and of the frame that it ends, that a brief call reads."""
BRIEF_INFLATED = 32 * 1024
"""Bytes to which all frames of a brief call together may inflate."""
_NO_ITEMS: Iterator[Any] = iter(())


def _message(frame: object) -> Any:
    """Return the message of a frame; an error or a preamble is returned unchanged."""
    return getattr(frame, "message", frame)


class Decoder(ChunkReader[F]):
    """Frames from chunks of one direction of a connection.

    Attributes:
        is_brief: Whether `feed` stops before a frame that may take long; `be_brief` sets it.
        is_postponed: Whether it has stopped so: the frame is read when `feed` is called again and is not brief.
    """

    __slots__ = ()

    def be_brief(self, is_brief: bool) -> None:
        """Let the iterators of `feed` stop before a frame that may take long, or let them read all; for this thread."""
        self.is_brief, self.is_postponed = is_brief, False
        BRIEF.inflated_left = BRIEF_INFLATED if is_brief else None
        BRIEF.has_inflated = False

    @property
    def pending(self) -> int:
        """The number of bytes that were fed and do not belong to a frame that was read."""
        return max(0, self.fed - self.offset)

    @property
    def needed(self) -> int:
        """The minimum number of bytes that the incomplete frame still needs, or 0 without one."""
        return 0 if self._incomplete is None else max(0, self._incomplete.needed)

    def begin_inside(self) -> None:
        """Treat the next bytes as frames from the first byte on: the sender's preamble, if any, came before."""
        self._decode_opening = None

    def feed(self, chunk: Buffer) -> Iterator[F]:
        """Add a chunk, and return an iterator over the frames that are now complete.

        Raises:
            DecodeError: Raised by the iterator, after the frames before the error. With errors="yield" it is an item instead.
        """
        return _NO_ITEMS if self._is_too_little(chunk) else self._frames()

    def bare_messages(self, chunk: Buffer) -> Iterator[Any]:
        """Return an iterator over the messages of these frames, which is faster; each frame must carry a message.

        A context needs whole frames: with a context, they are read.
        """
        return _NO_ITEMS if self._is_too_little(chunk) else self._frames(self._decode_message, is_bare=True)

    def items(self, chunk: Buffer) -> Iterator[Item[F]]:
        """Return an iterator over (offset, size, frame or error); the items cover the stream without gaps.

        An error in a frame of known size comes when that frame was fed whole, or from `finish_items`. An
        error after which decoding cannot continue is one item of `finish_items`, as only then its size is
        known. So is the error of a reassembly that lacks its last fragment, which has no bytes of its own.
        """
        return _NO_ITEMS if self._is_too_little(chunk) else self._items()

    def finish(self) -> None:
        """End the stream. Frames that were fed and not read are dropped.

        Raises:
            DecodeError: A frame is incomplete, or decoding stopped at an earlier error; with errors="yield" too.
                `finish_items` returns it.
        """
        for item in self._frames():
            del item
        late = self._late[2] if self._late is not None else None
        error = late if isinstance(late, DecodeError) else self._cut() or self._unfinished()
        if error is not None:
            raise error

    def finish_items(self) -> Iterator[Item[F]]:
        """End the stream, and return the remaining items."""
        yield from self._items()
        start = self.offset
        if self._late is not None:
            start, _, late = self._late
            self._late = None
            yield start, self.fed - start, late
        fault = self._cut()
        if fault is not None and self._failed is None:
            yield start, self.fed - start, fault
        if self._failed is not None and self._failed_at < self.fed:
            yield self._failed_at, self.fed - self._failed_at, self._failed.copy()
            self._failed_at = self.fed
        error = self._unfinished()
        if error is not None:
            yield self.fed, 0, error

    # -- whole frames
    # -----------------------------------------------------------------------------------------------

    def _frames(
        self, decode_message: DecodeFrom[object] | None = None, *, is_bare: bool = False
    ) -> Iterator[Any]:
        """Yield frames; if `is_bare` their messages, which `decode_message` reads where there is such a function."""
        decode_from, state, notes = decode_message or self._decode_from, self._state, self._notes
        while self._load():
            if self.is_brief and self._postpones():
                return
            if self._incomplete is not None or self._decode_opening is not None:
                item = self._resume()
                if item is not None:
                    frame: Any = self._handed(item[2])
                    yield _message(frame) if is_bare else frame
                continue
            chunk = self._chunk
            start = offset = self._position
            stop = size = len(chunk)
            n_last = self._n_last
            if n_last and size - offset >= n_last:
                stop += 1 - n_last
            elif n_last and not self._is_whole and self._extents is not None:
                # Less is left than the last frame took: measured faster than tried.
                if self._hold():
                    if self._n_queued:
                        continue
                    return
                stop = offset + 1  # the next one may be shorter
            self._is_whole = False
            while offset < stop and chunk is self._chunk:
                if state is not None and state.is_spent:
                    state.begin()
                try:
                    frame, offset = decode_from(chunk, offset, size, state)
                except _FAULTS as error:
                    fault = self._stumble(error)
                    if self.is_postponed:
                        return
                    if fault is not None:
                        frame = self._handed(fault)
                        yield _message(frame) if is_bare else frame
                    break
                start, self._position = self._position, offset
                if notes is not None and type(getattr(frame, "message", None)) not in notes.quiet:
                    frame = self._handed(self._noted(frame, chunk, start, offset, self._base))
                yield _message(frame) if is_bare and decode_message is None else frame
                offset = self._position
            if offset > start:
                self._n_last = offset - start

    def _items(self) -> Iterator[Item[F]]:
        if self._late is not None and self._late[0] + self._late[1] <= self.fed:
            late, self._late = self._late, None
            yield late
        notes = self._notes
        while self._load(is_quiet=True):
            start = self.offset
            if self._incomplete is not None or self._decode_opening is not None:
                item = self._resume()
                if item is not None and self._failed is None and not self._is_late(item):
                    yield item
                continue
            if self._state is not None:
                self._state.begin()
            try:
                frame, end = self._decode_from(self._chunk, self._position, len(self._chunk), self._state)
            except _FAULTS as error:
                fault = self._stumble(error)
                if fault is not None and self._failed is None:
                    item = (start, self.offset - start, fault)
                    if not self._is_late(item):
                        yield item
                continue
            begin, self._position = self._position, end
            if notes is None or type(getattr(frame, "message", None)) in notes.quiet:
                yield start, end - begin, frame
            else:
                yield start, end - begin, self._noted(frame, self._chunk, begin, end, self._base)

    def _postpones(self) -> bool:
        """Decide whether the next frame may take long, and is left for a call that is not brief."""
        n_bytes = len(self._chunk) - self._position
        incomplete = self._incomplete
        if type(incomplete) is SuspendedFrame or (incomplete is None and self._decode_opening is not None):
            n_bytes += 0 if incomplete is None else len(incomplete.data)
            self.is_postponed = n_bytes > BRIEF_REFERENCE
        else:
            self.is_postponed = n_bytes > BRIEF_BYTES
        return self.is_postponed

    def _is_late(self, item: Item[F]) -> bool:
        """Return whether an error's frame ends after the fed bytes; the error is then kept until they arrive."""
        start, size, _ = item
        if start + size <= self.fed:
            return False
        self._late = item
        return True

    def _handed(self, item: F | DecodeError) -> F:
        if self._raises and isinstance(item, DecodeError):
            raise item
        return item  # type: ignore[return-value]

    # -- the end ----------------------------------------------------------------------------------------------------

    def _cut(self) -> DecodeError | None:
        """Return the error of a frame that the end of the stream cuts off."""
        if self._incomplete is None:
            return None
        incomplete = self._incomplete
        try:
            if isinstance(incomplete, PartialFrame):
                steps = self._reading(b"".join(incomplete.chunks), 0, incomplete.start)
                next(steps)
                steps.send(True)
            else:
                incomplete.steps.send(True)
        except DecodeError as error:
            return self._fail(error.settled(), incomplete.start)
        raise AssertionError("a reading goes on without bytes")

    def _unfinished(self) -> DecodeError | None:
        """Return the error of a reassembly that the end of the stream leaves without its last fragment."""
        return None if self._notes is None or self._failed is not None else self._notes.unfinished(self.fed)
