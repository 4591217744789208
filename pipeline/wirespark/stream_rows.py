"""One direction of a connection: bytes in pieces go in, rows come out, and together they tile the stream.

Where bytes are wrong, the walk goes on at the next place where frames follow each other, and one row says what lies between. A
length in a bad frame is believed only if it leads to such a place. Invariant: what comes out depends on the bytes and on the
state at the beginning alone, never on how they are cut into pieces; what is held is a few frames.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

from wirespark.decoders import Context, Snapshot, context_of, decoder_of
from wirespark.options import Wishes
from wirespark.resynchronisation import Trial
from wirespark.untyped import Made

__all__ = ["Row", "Walk"]


class Row(NamedTuple):
    """A frame or a fault; `item` is a DecodeError of the generated package, then with the first of its bytes."""

    offset: int
    size: int
    item: Made
    raw: bytes | None = None
    time: int | None = None


@dataclass(slots=True)
class _Fault:
    """A bad place whose end is not known yet. `end` and `tried` count in the window.

    Attributes:
        is_cut: Nothing is wrong but that the stream ends in what looks like a frame.
    """

    offset: int
    error: Made
    raw: bytes
    end: int | None
    tried: int
    is_cut: bool = False


class Walk:
    """Rows out of the bytes of one direction.

    Attributes:
        context: What is known about the connection; both its directions share it.
        offset: Where in the stream the first byte lies that belongs to no row yet.
        due: From here on the next end of a frame is noted as `cut`, with what is known there.
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
        self._time: int | None = None
        self._held: Row | None = None
        self._held_bytes = b""
        self.due: int | None = None
        self.cut: tuple[int, Snapshot | None] | None = None
        self._needed = 0
        self._is_waiting = False
        self._fault: _Fault | None = None
        package = wishes.package
        self._error: Made = package.native.DecodeError
        self._has_tails = any(
            hasattr(each, "tail") and "message" in getattr(each, "__slots__", ())
            for each in vars(package.native).values()
        )
        self._odd: dict[type, bool] = {}
        self._trial = Trial(wishes, role)

    @property
    def end(self) -> int:
        """Return where in the stream the next bytes will lie."""
        return self.offset + len(self._window) + sum(map(len, self._pieces))

    @property
    def given(self) -> int:
        """Return where in the stream the rows end that came out; the last frame waits for its successor."""
        if self._held is not None:
            return self._held.offset
        return self.offset if self._fault is None else self._fault.offset

    @property
    def is_free(self) -> bool:
        """Say whether what comes next are frames like any other: no fault is open, and the stream's opening is over."""
        is_opening = self._is_beginning and self._role in self._wishes.package.plan.opens
        return self._fault is None and not is_opening

    def release(self) -> bytes:
        """Return the bytes behind the last frame, and forget them; only where it is free."""
        rest = b"".join((self._window, *self._pieces))
        self._window, self._needed, self._is_waiting = b"", 0, False
        self._pieces.clear()
        return rest

    def confirm(self) -> tuple[Row, ...]:
        """Take note that a right frame follows, which somebody else reads; return the row that waited for it."""
        held, self._held = self._held, None
        return () if held is None else (held,)

    def move(self, size: int) -> None:
        """Take note of whole frames that somebody else has read; only where no bytes and no row wait."""
        self.offset += size
        self._is_beginning = self._is_beginning and not size

    def snapshot(self) -> Snapshot | None:
        """Return what has to be known to go on behind the last frame that was read."""
        return None if self.context is None else self.context.snapshot()

    def feed(self, data: bytes, time: int | None = None) -> Iterator[Row]:
        """Take the next bytes of the stream and when they came, and return what is complete now."""
        self._time = time
        self._pieces.append(data)
        self._needed -= len(data)
        if self._needed <= 0:
            yield from self._rows(is_end=False)

    def finish(self, time: int | None = None) -> Iterator[Row]:
        """Take note that the stream ends here, and return what is left, and what never became whole."""
        self._time = time
        yield from self._rows(is_end=True)
        error = None if self.context is None else self.context.unfinished(self._role)
        if error is not None:
            error.frame_offset = error.at = self.offset
            yield Row(self.offset, 0, error.moved(0), b"", time)

    def gap(self, size: int, time: int | None = None) -> Iterator[Row]:
        """Take note of bytes that nobody has; the stream goes on where frames follow each other again."""
        self._time = time
        yield from self._rows(is_end=True)
        if self.context is not None:
            self.context.damage(self._role)
        start = self.offset
        error = self._error("gap", frame_offset=start, at=start, expected=f"{size} bytes", found="none")
        yield Row(start, size, error, b"", time)
        self.offset += size
        self._is_beginning = False
        lost = self._error("lost_sync", frame_offset=self.offset, at=self.offset, expected="a frame")
        self._fault = _Fault(self.offset, lost, b"", None, 0)
        self._trial.begin(self.context)

    # ---- frames

    def _rows(self, *, is_end: bool) -> Iterator[Row]:
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

    def _frames(self, *, is_end: bool) -> Iterator[Row]:
        """Yield the frames of the window up to its end or to a fault, and leave only what is behind them."""
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
            self._held = Row(base + start, size, item, None, self._time)
            self.offset = base + done
            if self.due is not None and self.offset >= self.due:
                self.cut, self.due = (self.offset, self.snapshot()), None
        self._leave(begin, done)
        if decoder.pending and not decoder.needed:
            self._stumble(next(error for _, _, error in decoder.finish_items()), base)
        self._needed = decoder.needed

    def _leave(self, begin: int, done: int) -> None:
        """Drop the bytes that belong to rows, but for those of the frame that waits for its successor."""
        if done:
            self._held_bytes = self._window[begin:done]
            self._window = self._window[done:]

    def _may_be_odd(self, message: object) -> bool:
        """Say whether things of this class have to be looked at: faults, and what may be whole by its own length alone."""
        class_ = type(message)
        is_unknown = class_.__name__.startswith("Unknown")
        return issubclass(class_, self._error) or is_unknown or hasattr(class_, "tail") or self._has_tails

    def _is_bad(self, item: Made, message: object, end: int, *, is_end: bool) -> bool | None:
        """Say whether an item is a fault, or a frame for whose end only its length speaks; None: not known yet."""
        if isinstance(item, self._error):
            return True
        is_tolerated = getattr(message, "tail", b"") or getattr(item, "tail", b"")
        if not is_tolerated and not type(message).__name__.startswith("Unknown"):
            return False
        self._trial.begin(self.context)
        verdict = self._trial.verdict(self._window, end, is_end=is_end)
        return None if verdict is None else not verdict

    def _stumble(self, item: Made, base: int) -> None:
        """Take note of a fault at the beginning of the window."""
        error = item if isinstance(item, self._error) else self._overlong()
        moved = error.moved(base) if isinstance(item, self._error) else error
        end = moved.end - self.offset if moved.recoverable and moved.end is not None else None
        self._begin_fault(moved, end)

    def _begin_fault(self, error: Made, end: int | None, *, is_cut: bool = False) -> None:
        self._fault = _Fault(self.offset, error, b"", end, 1, is_cut)
        self._needed = 0
        self._trial.begin(self.context)

    def _overlong(self) -> Made:
        """Return the error of a frame whose length says more than its fields take, and leads nowhere."""
        return self._error(
            "trailing_bytes",
            frame_offset=self.offset,
            at=self.offset,
            expected="the end of the frame",
            found="more bytes, and no frame behind them",
        )

    def _cut(self) -> None:
        """Take note of a frame that the end of the stream cuts."""
        decoder = decoder_of(self._wishes, self._role, self._trial.copy(self.context))
        if not self._is_beginning:
            decoder.begin_inside()
        for _ in decoder.items(self._window):
            raise AssertionError("what was cut is whole")
        error = next(error for _, _, error in decoder.finish_items())
        self._begin_fault(error.moved(self.offset), None, is_cut=self._trial.may_begin(self._window))

    # ---- faults

    def _resynchronised(self, fault: _Fault, *, is_end: bool) -> Row | None:
        """Return the row of a bad place once it is known where it ends, before it the frame that waited.

        None: more bytes have to come.
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
        return Row(fault.offset, self.offset - fault.offset, fault.error, raw, self._time)

    def _settled(self, held: Row, *, is_end: bool, is_cut: bool) -> Row | None:
        """Return the frame before a fault; where its length has hidden other frames, a fault up to the first of them.

        None: more bytes have to come.
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
            expected="a frame behind this one",
        )
        return Row(held.offset, place, error, data[: min(place, self._wishes.error_bytes)], self._time)

    def _place(self, fault: _Fault, *, is_end: bool) -> int | None:
        """Return where in the window frames go on, its end where they do not; None where that is not known yet."""
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
        """Drop what was tried in vain, but for what an error row shows."""
        if fault.end is not None or fault.tried <= 0:
            return
        most = self._wishes.error_bytes
        fault.raw += self._window[: min(fault.tried, max(0, most - len(fault.raw)))]
        self._window = self._window[fault.tried :]
        self.offset += fault.tried
        fault.tried = 0
