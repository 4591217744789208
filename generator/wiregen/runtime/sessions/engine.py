"""The sessions of one connection: the row that a message takes (`_choose_row`), and its effect on the instances.

Invariant: `decide` does not change any state; `commit` cannot fail. So a message that is refused, or cannot
be encoded, leaves the state unchanged.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping
from typing import Any

from ..codec.errors import DecodeError
from ..codec.fragment import Part
from ..codec.options import ContextSource
from ..reference.expressions import Undefined, Value
from ..reference.tree import FrameValue, Record
from ..schema.sessions import Violates
from .closures import NOTHING
from .compiled_rows import STAY, Change, Row, Rows, change
from .decisions import Decision, Move, crowded, forgotten, refuse, violation_of
from .events import TimedOut, Violation
from .instances import Instance, Instances
from .table import KindRows, Matters, Program
from .timers import Timers

__all__ = ["Engine"]

_Saved = tuple[list[int], list[tuple[Instance, tuple[Value, ...]]]]

UNREAD = Record("", {})
"""Replaces the message of a frame that could not be read."""


class Engine:
    """All instances of all sessions of one connection.

    Attributes:
        trail: If given, receives each step that changes a state: session, key, from, to.
    """

    def __init__(
        self,
        program: Program,
        *,
        strict: bool = False,
        limits: Mapping[str, int | None] | None = None,
        contexts: ContextSource | None = None,
        options: Mapping[str, object] | None = None,
        variant: str | None = None,
        now: float = 0.0,
    ) -> None:
        self.program = program
        self.limits = {**program.schema.limits, **(limits or {})}
        self.contexts = contexts
        self.variant = variant
        self.now = now
        self.sender: str | None = None
        self.side: str | None = None
        self.trail: list[tuple[str, Hashable, str, str]] | None = None
        self._strict = strict
        self._matters = {role: program.matters.setdefault(role, {}) for role in program.roles}
        self._timers = Timers()
        self.instances = {
            table.name: Instances(table, options or {}, self.limits["open"], gives_way=not strict)
            for table in program.tables
        }
        self._kept = tuple(self.instances.values())
        self._delays: list[list[tuple[tuple[float, Row], ...] | None]] = [
            [None] * len(table.states) for table in program.tables
        ]
        for kept in self._kept:
            for instance in kept.all() if kept.table.has_timers else ():
                self._arm(instance)

    # ---- values for rows, in addition to the message

    def context(self, name: str, keys: tuple[object, ...]) -> Value:
        if self.contexts is None:
            raise Undefined("context", name)
        return self.contexts.lookup(name, keys, self.sender)

    # ---- messages

    def matters(self, sender: str, item: object) -> Matters:
        """Return the session entries for a frame (or preamble) from a sender."""
        message = _message_of(item)
        kind: object = type(message)
        if kind is Record:
            kind = message.name
        found = self._matters[sender].get(kind)
        if found is None:
            frame = None if message is item else item
            found = self.program.look(sender, frame, message)
            if self.program.is_usual(sender, frame, kind):
                self._matters[sender][kind] = found
        return found

    def step(self, sender: str, item: object, now: float, found: list[Violation]) -> tuple[Value, ...]:
        """Apply a received frame (or preamble) in every session that allows it; return the frames inside it.

        Its violations are added to `found`.
        """
        message = item if type(item) is Record else getattr(item, "message", item)
        frame = None if message is item else item
        kind: object = type(message)
        matters = self._matters[sender].get(kind) or self.matters(sender, item)
        n_found = len(found)
        self.sender, self.now = sender, now
        for entry in matters.entries:
            self.side = entry.sender
            kept = self._kept[entry.table.number]
            instance = kept.single
            if instance is not None:
                row = self._choose_row(instance, entry.rows, message, frame, found)
                if row is not None:
                    row.apply(message, frame, instance.values, self)
                    self._go(instance, row.state)
                continue
            for instance, rows in _meant(entry, kept, message, frame, sender, self.program):
                move = self._move(instance, rows, message, frame, found)
                if move is not None:
                    self._fire(*move)
                    if kept.forgotten is not None:
                        found.append(forgotten(kept))
        if matters.is_foreign or len(found) > n_found:
            new = found[n_found:]
            self._complete(new, sender, now, is_foreign=matters.is_foreign)
            found[n_found:] = new
        return () if matters.frames is None else tuple(matters.frames(message))

    def decide(self, sender: str, item: object, now: float) -> Decision:
        """Return the effect of a frame (or preamble) that is to be sent, without the frames inside it."""
        decision = Decision()
        matters = self.matters(sender, item)
        message = _message_of(item)
        frame = None if message is item else item
        self.sender = sender
        for entry in matters.entries:
            self.side = entry.sender
            kept = self._kept[entry.table.number]
            for instance, rows in _meant(entry, kept, message, frame, sender, self.program):
                move = self._move(instance, rows, message, frame, decision.violations)
                if move is not None:
                    decision.moves.append(move)
        is_other = matters.is_other is not None and self.is_other(sender, item)
        if matters.is_foreign or is_other or decision.violations:
            self._complete(decision.violations, sender, now, is_foreign=matters.is_foreign, is_other=is_other)
        return decision

    def is_other(self, sender: str, item: object) -> bool:
        """Return whether the reader would mistake the frame to be sent for another."""
        is_other = self.matters(sender, item).is_other
        self.sender = sender
        return is_other is not None and bool(is_other(_message_of(item), item, [], self))

    def commit(self, decision: Decision, now: float) -> None:
        """Apply the changes of a decision."""
        self.now = now
        for move in decision.moves:
            self._fire(*move)
            self._kept[move[0].table.number].forgotten = None

    def see(
        self,
        sender: str,
        item: object,
        now: float,
        *,
        despite: str | None = None,
        framed: Callable[[object], object] | None = None,
    ) -> None:
        """Apply a frame, and after it those inside it. `framed`: puts a bare message inside it into its frame.

        Raises:
            SessionError: One of them may not be sent now; those before it were applied.
        """
        decision = self.decide(sender, item, now)
        refuse(decision, despite)
        self.commit(decision, now)
        for inner in self.inner(sender, item):
            self.see(sender, framed(inner) if framed else inner, now, despite=despite, framed=framed)

    def miss(self, sender: str, error: DecodeError, now: float) -> Violation | None:
        """Apply a frame of which only the header could be read, so that it may be answered.

        Return the violation of the header alone, which precedes the error in the body. Otherwise a
        forbidden frame does not change the state, and only the error is reported.
        """
        if not error.recoverable or not error.header:
            return None
        name = self.program.schema.sends.get(sender)
        if name is None:  # a side that sends no frames has no row that could allow one
            return None
        frame = FrameValue(name, dict(error.header), UNREAD)
        frame.part = Part("", (), 0, True, header=error.header)
        decision = self.decide(sender, frame, now)
        refusal = decision.refusal
        if refusal is None:
            self.commit(decision, now)
        return refusal if refusal is not None and self._is_of_header(refusal, sender, frame.name) else None

    def _is_of_header(self, violation: Violation, sender: str, frame: str) -> bool:
        """Return whether a row forbids the frame for every message: no row above it is about particular messages."""
        session = self.program.schema.sessions.get(violation.session)
        for row in () if session is None else session.rows:
            is_here = row.states is None or violation.state in row.states
            if not is_here or (row.role not in (None, sender) and not (session and session.roles)):
                continue
            if row.targets is not None and frame not in row.targets:
                return False
            if isinstance(row.effect, Violates) and row.effect.name == violation.name:
                return True
        return False

    def has_inner(self, sender: str, item: object) -> bool:
        """Return whether frames are allowed inside a message."""
        return self.matters(sender, item).frames is not None

    def inner(self, sender: str, item: Any) -> Value:
        """Return the frames inside a message."""
        frames = self.matters(sender, item).frames
        return () if frames is None else frames(item.message)

    def _choose_row(
        self, instance: Instance, rows: tuple[Rows, ...], m: object, f: object, found: list[Violation]
    ) -> Row | None:
        """Return the row that a message takes, or None if no row is legal."""
        values = instance.values
        for when, group in rows[instance.state]:
            if when is not None:
                try:
                    if not when(m, f, values, self):
                        continue
                except NOTHING:
                    continue
            for row in group:
                if row.violation is None:
                    return row
                is_lenient = row.is_lenient and not self._strict
                found.append(violation_of(row.violation, instance, lenient=is_lenient))
                if not is_lenient:
                    return None
        found.append(violation_of("unexpected_message", instance))
        return None

    def _move(
        self, instance: Instance, rows: tuple[Rows, ...], m: object, f: object, found: list[Violation]
    ) -> Move | None:
        """Return the legal row and its changes, or None if there is none or no room for the instance."""
        row = self._choose_row(instance, rows, m, f, found)
        if row is None:
            return None
        move = (instance, row, row.changes(m, f, instance.values, self))
        if self._has_room(move):
            return move
        found.append(crowded(self._kept[instance.table.number], instance))
        return None

    def _complete(
        self, found: list[Violation], sender: str, now: float, *, is_foreign: bool, is_other: bool = False
    ) -> None:
        """Add sender and time to violations, and a violation if the sender must not send the message."""
        if is_foreign and all(each.lenient for each in found):
            found.append(Violation(self.program.foreign))
        if is_other and all(each.lenient for each in found):
            found.append(Violation("wrong_kind"))
        for violation in found:
            violation.rule = self.program.rules.get(violation.name, violation.rule)
            violation.role, violation.time = sender, now

    def _has_room(self, move: Move) -> bool:
        """Return whether the instance is kept, or may be; an instance equal to a new one is not counted."""
        instance, row, changes = move
        if instance.is_kept or self._kept[instance.table.number].has_room:
            return True
        return row.state in (STAY, instance.state) and not changes

    def _fire(self, instance: Instance, row: Row, changes: list[Change]) -> None:
        for slot, action, value in changes:
            change(instance.values, slot, action, value)
        self._go(instance, row.state)

    def _go(self, instance: Instance, state: int) -> None:
        """Move an instance, whose variables are changed already, to a state, or STAY."""
        table, before = instance.table, instance.state
        if state != STAY and state != before:
            instance.state = state
            if self.trail is not None:
                self.trail.append((table.name, instance.shown_key, table.states[before], table.states[state]))
        elif instance.since == self.now and table.has_fixed_timers and table.places and not instance.fired:
            return  # its timers have begun at this very moment
        if table.keys:
            self._kept[table.number].settle(instance)
        if table.has_timers:
            self._arm(instance)

    # ---- timers

    def _arm(self, instance: Instance) -> None:
        """Restart all timers of an instance."""
        instance.fired = 0
        instance.since = self.now
        self._wait(instance)

    def _wait(self, instance: Instance) -> None:
        """Schedule the earliest of an instance's timers that have not run out."""
        timers = self._delays[instance.table.number][instance.state]
        if timers is None:
            timers = self._timers_of(instance)
        if len(timers) > instance.fired and instance.is_kept:
            instance.due = due = instance.since + timers[instance.fired][0]
            if instance.queued is None or due < instance.queued:
                self._timers.push(instance, due)
        else:
            instance.due = None

    def _timers_of(self, instance: Instance) -> tuple[tuple[float, Row], ...]:
        """Return the seconds and rows of the timers of an instance's state, the earliest first."""
        table = instance.table
        self.side = None
        found = []
        for timer in table.timers[instance.state]:
            try:
                found.append((timer.after(None, None, instance.values, self) / 1000, timer.row))
            except NOTHING:
                continue
        timers = tuple(sorted(found, key=lambda each: each[0]))
        if table.has_fixed_timers:
            self._delays[table.number][instance.state] = timers
        return timers

    def next_timeout(self) -> float | None:
        """Return the time at which the next timer runs out."""
        return self._timers.next()

    def expire(self, now: float) -> Iterator[Violation | TimedOut]:
        """Take the rows of all timers that have run out, the earliest first."""
        while (instance := self._timers.pop(now)) is not None:
            delay, row = self._timers_of(instance)[instance.fired]
            due = instance.since + delay
            table, state = instance.table, instance.table.states[instance.state]
            if row.violation is not None:
                instance.fired += 1
                self._wait(instance)
                violation = violation_of(row.violation, instance, lenient=row.is_lenient and not self._strict)
                violation.rule, violation.time = self.program.rules.get(row.violation), due
                yield violation
                continue
            self.now = due
            self._fire(instance, row, row.changes(None, None, instance.values, self))
            yield TimedOut(table.name, instance.shown_key, state, table.states[instance.state], due)

    # ---- going back

    def save(self) -> _Saved:
        """Return the state for `restore`."""
        return [kept.n_forgotten for kept in self._kept], [
            (instance, instance.snapshot()) for kept in self._kept for instance in kept.all()
        ]

    def restore(self, before: _Saved) -> None:
        """Restore the saved state."""
        counts, saved = before
        known = {instance for instance, _ in saved}
        for kept, count in zip(self._kept, counts, strict=True):
            kept.n_forgotten, kept.forgotten = count, None
            for instance in kept.all():
                if instance not in known:
                    kept.forget(instance)
        for instance, state in saved:
            instance.restore(state)
            self.instances[instance.table.name].take_back(instance)
            self._timers.wait(instance)


def _message_of(item: object) -> Value:
    """Return the message of a frame, or the preamble itself."""
    return item if type(item) is Record else getattr(item, "message", item)


def _meant(
    entry: KindRows, kept: Instances, message: object, frame: object, sender: str, program: Program
) -> Iterable[tuple[Instance, tuple[Rows, ...]]]:
    """Return the instances that a message addresses, and the rows it may take there."""
    table = entry.table
    if kept.single is not None:
        return ((kept.single, entry.rows),)
    key = () if not table.keys else None if entry.key is None else entry.key(message, frame)
    if key is None:
        return [
            (instance, entry.named_rows)
            for instance in kept.all()
            if not table.per_sender or instance.sender == sender
        ]
    sides = (entry.side,) if entry.side is not None or not table.roles else program.roles
    return [
        (kept.get(key, side=side, sender=sender if table.per_sender else None), entry.rows) for side in sides
    ]
