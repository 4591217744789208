"""One direction of a connection: pieces of bytes go in, rows come out, and together the rows tile the stream.

Where bytes are wrong, the walk resynchronises at the next offset where frames follow each other. One row
covers the bytes in between. A length in a bad frame is believed only if it leads to such an offset.

Invariant: the rows depend on the bytes and on the state at the beginning alone, never on how the bytes are
cut into pieces. Only a few frames are held in memory.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache, cached_property
from typing import NamedTuple

from wirespark.decoders import Context, Snapshot, context_of, decoder_of
from wirespark.options import Wishes
from wirespark.packages import Package
from wirespark.resynchronisation import OffsetTrial
from wirespark.timed_bytes import PieceTimes, TimedBytes
from wirespark.untyped import Made

__all__ = ["StreamCut", "StreamRow", "Walk"]


@cache
def _has_tails(package: Package) -> bool:
    """Return whether frames of a package may have bytes after their message."""
    return any(
        hasattr(each, "tail") and "message" in getattr(each, "__slots__", ())
        for each in vars(package.native).values()
    )


@cache
def _odd_classes(_package: Package) -> dict[type, bool]:
    """Return which classes of a package must be inspected, as far as that was asked for."""
    return {}


class StreamRow(NamedTuple):
    """A frame or an error.

    For an error, `item` is a DecodeError of the generated package and `raw` holds its first bytes.
    """

    offset: int
    size: int
    item: Made
    raw: bytes | None = None
    time: int | None = None


class StreamCut(NamedTuple):
    """A place where a stream can be cut: the offset of a frame, and the state of the connection there."""

    offset: int
    state: Snapshot | None


@dataclass(slots=True)
class _Fault:
    """An error whose end is not known yet. `end` and `tried` are offsets in the window.

    Attributes:
        is_cut: Whether the only error is that the stream ends within the bytes of a likely frame.
    """

    offset: int
    error: Made
    raw: bytes
    end: int | None
    tried: int
    is_cut: bool = False


class Walk:
    """Converts the bytes of one direction to rows.

    Attributes:
        context: The state of the connection, shared by both directions.
        offset: Stream offset of the first byte that does not belong to a row yet.
        due: Stream offset from which the next end of a frame is recorded as `cut`, with the state of the
            connection there.
    """

    def __init__(
        self,
        wishes: Wishes,
        role: str | None,
        *,
        context: Context | None = None,
        offset: int = 0,
        is_beginning: bool = True,
    ) -> None:
        self.context = context if context is not None else context_of(wishes)
        self.offset = offset
        self._wishes = wishes
        self._role = role
        self._is_beginning = is_beginning
        self._window = b""
        self._pieces: list[bytes] = []
        self._fed = offset
        self._held: StreamRow | None = None
        self._held_bytes = b""
        self.due: int | None = None
        self.cut: StreamCut | None = None
        self._needed = 0
        self._is_waiting = False
        self._fault: _Fault | None = None
        package = wishes.package
        self._error: Made = package.native.DecodeError
        self._has_tails = _has_tails(package)
        self._odd = _odd_classes(package)

    @cached_property
    def _times(self) -> PieceTimes:
        return PieceTimes()

    @cached_property
    def _trial(self) -> OffsetTrial:
        return OffsetTrial(self._wishes, self._role)

    @property
    def end(self) -> int:
        """Return the stream offset of the next bytes."""
        return self._fed

    @property
    def given(self) -> int:
        """Return the stream offset at which the returned rows end; the last frame waits for its successor."""
        if self._held is not None:
            return self._held.offset
        return self.offset if self._fault is None else self._fault.offset

    @property
    def is_free(self) -> bool:
        """Return whether plain frames come next: no error is open, and the opening of the stream is over."""
        is_opening = self._is_beginning and self._role in self._wishes.package.schema.opens
        return self._fault is None and not is_opening

    def release(self) -> list[TimedBytes]:
        """Return the bytes after the last frame in pieces, and drop them. Call it only if `is_free`."""
        rest = self._times.divided(b"".join((self._window, *self._pieces)), self.offset)
        self._fed = self.offset
        self._window, self._needed, self._is_waiting = b"", 0, False
        self._pieces.clear()
        return rest

    def confirm(self) -> tuple[StreamRow, ...]:
        """Record that a valid frame follows, read by another decoder, and return the row that waited for it."""
        held, self._held = self._held, None
        return () if held is None else (held,)

    def move(self, size: int) -> None:
        """Skip whole frames that another decoder has read. Call it only if no bytes and no row wait."""
        self.offset += size
        self._fed += size
        self._is_beginning = self._is_beginning and not size

    def snapshot(self) -> Snapshot | None:
        """Return the state from which decoding can continue after the last frame that was read."""
        return None if self.context is None else self.context.snapshot()

    def feed(self, data: bytes, time: int | None = None) -> Iterator[StreamRow]:
        """Add the next bytes of the stream, received at `time`, and yield the rows that are complete."""
        self._pieces.append(data)
        self._fed += len(data)
        self._times.add(self._fed, time, self.offset if self._held is None else self._held.offset)
        self._needed -= len(data)
        if self._needed <= 0:
            yield from self._rows(is_end=False)

    def finish(self, time: int | None = None) -> Iterator[StreamRow]:
        """End the stream, and yield the remaining rows, those of incomplete frames included."""
        yield from self._rows(is_end=True)
        error = None if self.context is None else self.context.unfinished(self._role)
        if error is not None:
            error.frame_offset = error.at = self.offset
            yield StreamRow(self.offset, 0, error.moved(0), b"", time)

    def gap(self, size: int, time: int | None = None) -> Iterator[StreamRow]:
        """Record that `size` bytes are missing. The stream continues where frames follow each other again."""
        yield from self._rows(is_end=True)
        if self.context is not None:
            self.context.damage(self._role)
        start = self.offset
        error = self._error("gap", frame_offset=start, at=start, expected=f"{size} bytes", found="none")
        yield StreamRow(start, size, error, b"", time)
        self.offset += size
        self._fed += size
        self._is_beginning = False
        lost = self._error("lost_sync", frame_offset=self.offset, at=self.offset, expected="a frame")
        self._fault = _Fault(self.offset, lost, b"", None, 0)
        self._trial.begin(self.context)

    # ---- frames

    def _rows(self, *, is_end: bool) -> Iterator[StreamRow]:
        self._window = b"".join((self._window, *self._pieces))
        self._pieces.clear()
        while self._window or self._fault is not None:
            if self._fault is not None:
                row = self._resynchronised(self._fault, is_end=is_end)
                if row is None:
                    return
                if row.size:
                    yield row
                continue
            yield from self._frames(is_end=is_end)
            if self._is_waiting:
                return
            if self._fault is None and not is_end:
                return
            if self._fault is None and self._window:
                self._cut()
        if is_end and self._held is not None:
            held, self._held = self._held, None
            yield held

    def _frames(self, *, is_end: bool) -> Iterator[StreamRow]:
        """Yield the frames of the window up to its end or to an error, and keep only the bytes after them."""
        decoder = decoder_of(self._wishes, self._role, self.context)
        if not self._is_beginning:
            decoder.begin_inside()
        base, window, odd = self.offset, self._window, self._odd
        begin = done = 0
        self._is_waiting = False
        for start, size, item in decoder.items(window):
            message = getattr(item, "message", item)
            is_odd = odd.get(type(message))
            if is_odd is None:
                is_odd = odd[type(message)] = self._may_be_odd(message)
            is_bad = is_odd and self._is_bad(item, message, start + size, is_end=is_end)
            if is_bad is None:
                self._leave(begin, done)
                self._is_waiting, self._needed = True, 1
                return
            if is_bad:
                self._leave(begin, done)
                self._stumble(item, base)
                return
            if self._held is not None:
                yield self._held
            begin, done = start, start + size
            self._is_beginning = False
            self._held = StreamRow(base + start, size, item, None, self._times.at(base + done))
            self.offset = base + done
            if self.due is not None and self.offset >= self.due:
                self.cut, self.due = StreamCut(self.offset, self.snapshot()), None
        self._leave(begin, done)
        if decoder.pending and not decoder.needed:
            self._stumble(next(error for _, _, error in decoder.finish_items()), base)
        self._needed = decoder.needed

    def _leave(self, begin: int, done: int) -> None:
        """Drop the bytes that belong to rows, except those of the frame that waits for its successor."""
        if done:
            self._held_bytes = self._window[begin:done]
            self._window = self._window[done:]

    def _may_be_odd(self, message: object) -> bool:
        """Return whether items of this class must be inspected.

        These are errors, and items that only their own length shows to be whole.
        """
        class_ = type(message)
        is_unknown = class_.__name__.startswith("Unknown")
        return issubclass(class_, self._error) or is_unknown or hasattr(class_, "tail") or self._has_tails

    def _is_bad(self, item: Made, message: object, end: int, *, is_end: bool) -> bool | None:
        """Return whether an item is an error, or a frame whose own length does not lead to another frame.

        Return None if that is not decided yet.
        """
        if isinstance(item, self._error):
            return True
        is_tolerated = getattr(message, "tail", b"") or getattr(item, "tail", b"")
        if not is_tolerated and not type(message).__name__.startswith("Unknown"):
            return False
        self._trial.begin(self.context)
        verdict = self._trial.verdict(self._window, end, is_end=is_end)
        return None if verdict is None else not verdict

    def _stumble(self, item: Made, base: int) -> None:
        """Open an error at the beginning of the window."""
        error = item if isinstance(item, self._error) else self._overlong()
        moved = error.moved(base) if isinstance(item, self._error) else error
        end = moved.end - self.offset if moved.recoverable and moved.end is not None else None
        self._begin_fault(moved, end)

    def _begin_fault(self, error: Made, end: int | None, *, is_cut: bool = False) -> None:
        self._fault = _Fault(self.offset, error, b"", end, 1, is_cut)
        self._needed = 0
        self._trial.begin(self.context)

    def _overlong(self) -> Made:
        """Return the error of a frame whose length exceeds its fields and does not lead to another frame."""
        return self._error(
            "trailing_bytes",
            frame_offset=self.offset,
            at=self.offset,
            expected="the end of the frame",
            found="more bytes, and no frame after them",
        )

    def _cut(self) -> None:
        """Open an error for a frame that the end of the stream cuts."""
        decoder = decoder_of(self._wishes, self._role, self._trial.copy(self.context))
        if not self._is_beginning:
            decoder.begin_inside()
        for _ in decoder.items(self._window):
            raise AssertionError("the frame that was cut is whole")
        error = next(error for _, _, error in decoder.finish_items())
        self._begin_fault(error.moved(self.offset), None, is_cut=self._trial.may_begin(self._window))

    # ---- faults

    def _resynchronised(self, fault: _Fault, *, is_end: bool) -> StreamRow | None:
        """Return the row of an error once its end is known. The frame that waited comes before it.

        Return None if more bytes are needed.
        """
        if self._held is not None:
            return self._settled(self._held, is_end=is_end, is_cut=fault.is_cut)
        place = self._place(fault, is_end=is_end)
        if place is None:
            self._forget(fault)
            return None
        most = self._wishes.error_bytes
        raw = fault.raw + self._window[: min(place, max(0, most - len(fault.raw)))]
        self._window = self._window[place:]
        self.offset += place
        self._fault = None
        self._is_beginning = False
        time = self._times.at(self.offset)
        return StreamRow(fault.offset, self.offset - fault.offset, fault.error, raw, time)

    def _settled(self, held: StreamRow, *, is_end: bool, is_cut: bool) -> StreamRow | None:
        """Return the frame before an error.

        If its length has hidden other frames, return an error up to the first of them.

        Return None if more bytes are needed.
        """
        data = self._held_bytes + self._window
        place = self._trial.hidden(data, held.size, is_end=is_end, is_cut=is_cut)
        if place is None:
            return None
        self._held = None
        if place == 0:
            return held
        self._window = data[place:]
        self.offset = held.offset + place
        self._fault = None
        error = self._error(
            "lost_sync",
            frame_offset=held.offset,
            at=held.offset + held.size,
            expected="a frame after this one",
        )
        raw = data[: min(place, self._wishes.error_bytes)]
        return StreamRow(held.offset, place, error, raw, self._times.at(self.offset))

    def _place(self, fault: _Fault, *, is_end: bool) -> int | None:
        """Return the offset in the window where frames continue.

        It is the end of the window if they do not continue, and None if that is not known yet.
        """
        window = self._window
        if fault.end is not None:
            verdict = self._trial.verdict(window, fault.end, is_end=is_end)
            if verdict is None:
                return None
            if verdict:
                return fault.end
            fault.end = None
        if self.context is not None and fault.tried <= 1:
            self.context.damage(self._role)
        for start in self._trial.candidates(window, fault.tried):
            verdict = self._trial.verdict(window, start, is_end=is_end)
            if verdict:
                return start
            fault.tried = start
            if verdict is None:
                return None
        fault.tried = max(fault.tried, len(window) - self._trial.header_size)
        return len(window) if is_end else None

    def _forget(self, fault: _Fault) -> None:
        """Drop the bytes that were tried in vain. The error row keeps the first of them."""
        if fault.end is not None or fault.tried <= 0:
            return
        most = self._wishes.error_bytes
        fault.raw += self._window[: min(fault.tried, max(0, most - len(fault.raw)))]
        self._window = self._window[fault.tried :]
        self.offset += fault.tried
        fault.tried = 0
