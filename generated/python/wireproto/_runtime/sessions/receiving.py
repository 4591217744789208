"""One direction of a connection: bytes to frames, each frame to the sessions, and the events of both."""

from __future__ import annotations

from typing import Any

from ..codec.errors import DecodeError
from ..codec.fragment import part_of
from ..stream.joins import Joins
from .engine import Engine
from .events import Ended, Event, Fault, Received, Violation
from .package import Package

__all__ = ["Reading"]

_NO_MORE = object()


class Reading:
    """One direction.

    Attributes:
        is_dead: Reading has ended: frames cannot be found, or an error has ended the direction.
        has_more: There may be frames in the fed bytes that were not read yet.
        is_postponed: The next of them may take long, and a brief call left it.
    """

    def __init__(
        self,
        package: Package,
        engine: Engine,
        role: str,
        decoder: Any,
        *,
        keep_going: bool,
        continues: bool,
        shows_pieces: bool,
    ) -> None:
        self._shows_pieces = shows_pieces
        self._engine = engine
        self._role = role
        self._decoder = decoder
        self._keep_going = keep_going
        self._continues = continues
        self._has_context = package.make_context is not None
        self._violations: list[Violation] = []
        self._n_tolerated = (
            0  # of `_violations`, from the front: one frame may hold thousands of frames, each with a note
        )
        self._was_seen = False
        self._now = 0.0
        self.is_dead = False
        self.has_ended = False
        self.has_more = False
        self.is_postponed = False

    @property
    def n_pending(self) -> int:
        """The number of bytes that were fed and do not belong to a frame that was read."""
        return int(self._decoder.pending)

    def feed_briefly(
        self, chunk: bytes | bytearray | memoryview, now: float, most: int | None, joins: Joins | None
    ) -> list[Event]:
        """Return the events of `feed` up to a frame that may take long.

        `joins`: the open reassemblies, which a short fragment may complete to a long frame.
        """
        decoder = self._decoder
        if joins is not None and joins.may_take_long(decoder.pending + len(chunk)):
            decoder.feed(chunk)
            self.has_more = self.is_postponed = True
            return []
        decoder.be_brief(True)
        try:
            events = self.feed(chunk, now, most)
            self.is_postponed = decoder.is_postponed and not self.is_dead
            self.has_more |= self.is_postponed
            return events
        finally:
            decoder.be_brief(False)

    def feed(self, chunk: bytes | bytearray | memoryview, now: float, most: int | None = None) -> list[Event]:
        """Return the events that are complete now; a violation or an error that ends the connection is the last event.

        `most`: events after which the rest is left for a later call.
        """
        events: list[Event] = []
        self.has_more = self.is_postponed = False
        if self.is_dead or self.has_ended:
            return events
        self._now = now
        decoder = self._decoder
        frames = decoder.feed(chunk)
        while True:
            if most is not None and len(events) >= most:
                self.has_more = True
                return events
            offset = decoder.offset
            self._was_seen = False
            item = next(frames, _NO_MORE)
            if item is _NO_MORE:
                return events
            if isinstance(item, DecodeError):
                violation = self._engine.miss(self._role, item, now)
                if violation is not None:
                    violation.offset = offset
                    events.append(violation)
                    if not self._keep_going:
                        return events
                events.append(Fault(item, self._role, now))
                self.is_dead = not (item.recoverable and self._continues)
                if self.is_dead:
                    return events
                continue
            if not self._was_seen:
                if self._violations:
                    self._violations, self._n_tolerated = [], 0
                self._see(item)
            if self._has_context and not self._shows_pieces and part_of(item) is not None:
                item = _whole(item)
            if not self._violations:
                if item is not None:
                    events.append(Received(item, self._role, offset, now))
            elif self._report(item, offset, now, events) and not self._keep_going:
                return events

    def observe(self, item: object, sender: str | None) -> None:
        """Let the sessions see a whole frame, before it changes the context, and the frames inside it."""
        if not self._was_seen:
            self._was_seen, self._violations, self._n_tolerated = True, [], 0
        self._see(item)

    def end(self, now: float) -> list[Event]:
        """Return the events of the end of the stream."""
        if self.has_ended:
            return []
        self.has_ended = True
        events: list[Event] = []
        if not self.is_dead:
            try:
                self._decoder.finish()
            except DecodeError as error:
                self.is_dead = True
                events.append(Fault(error, self._role, now))
        return [*events, Ended(self._role, now)]

    def _see(self, item: object) -> None:
        violations = self._violations
        for inner in self._engine.step(self._role, item, self._now, violations):
            if violations and self._is_over():
                return
            self._see(inner)

    def _is_over(self) -> bool:
        """Return whether a violation that is not tolerated ends the connection; each violation is examined once."""
        violations = self._violations
        while self._n_tolerated < len(violations) and violations[self._n_tolerated].lenient:
            self._n_tolerated += 1
        return not self._keep_going and self._n_tolerated < len(violations)

    def _report(self, item: object, offset: int, now: float, events: list[Event]) -> bool:
        """Add the events of a frame; return whether a rule was broken."""
        notes = tuple(self._violations)
        broken = [note for note in notes if not note.lenient]
        for note in notes:
            note.offset, note.frame = offset, item
        if broken and not self._keep_going:
            events += notes[: notes.index(broken[0]) + 1]
            return True
        events += notes
        if item is not None:
            events.append(Received(item, self._role, offset, now, notes))
        return bool(broken)


def _whole(piece: Any) -> object:
    """Return the reassembled frame of a last fragment, or the fragment with its reassembled data, or None for
    other fragments.
    """
    if not piece.part.last:
        return None
    joined = piece.part.joined
    return joined if hasattr(joined, "message") else piece
