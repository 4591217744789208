"""One connection during the search: two directions read by the reference codec, its sessions, each step's effects."""

from __future__ import annotations

from collections import deque
from collections.abc import Hashable, Iterable, Iterator
from copy import deepcopy
from dataclasses import dataclass, field
from functools import cached_property
from itertools import islice
from typing import Any
from uuid import UUID

from wiregen.language.examples.trace import Goal, Move, Step
from wiregen.language.examples.watched_engine import Setup, Watched
from wiregen.runtime.codec.errors import DecodeError
from wiregen.runtime.codec.fragment import part_of
from wiregen.runtime.codec.options import Options
from wiregen.runtime.schema.sessions import Violates
from wiregen.runtime.schema.types import FrameReference
from wiregen.runtime.sessions.compiled_rows import change
from wiregen.runtime.sessions.decisions import Decision
from wiregen.runtime.sessions.events import TimedOut, Violation
from wiregen.runtime.sessions.instances import Instance
from wiregen.runtime.sessions.table import Table
from wiregen.runtime.stream.context import Context
from wiregen.runtime.stream.reference_decoder import reference_decoder

__all__ = ["Atom", "ConnectionState", "Outcome", "Setup"]

Atom = Hashable
"""A fact about the state of a connection that is worth reaching once."""

_SMALL = 2
_FEW_BYTES = 16
_HEAD = 8
"""Hexadecimal digits of the start of a fragmented frame: most frames say there which message they carry."""


@dataclass(slots=True, kw_only=True)
class Outcome:
    """The effects of a step."""

    met: list[Goal] = field(default_factory=list)
    violations: list[Violation] = field(default_factory=list)
    fault: str | None = None
    values: list[object] = field(default_factory=list)
    moves: tuple[Move, ...] = ()

    @property
    def broken(self) -> list[Violation]:
        return [each for each in self.violations if not each.lenient]

    @property
    def is_legal(self) -> bool:
        return not self.broken and self.fault is None


class _Remembering(Context):
    """A context that can say which part of it does not change."""

    def shared(self) -> tuple[object, ...]:
        """Return the parts that contexts of the same setup may share."""
        return self._limits, self._roles, self._rules_of, self.derived


class ConnectionState:
    """A connection between two sides, seen from between them."""

    def __init__(self, setup: Setup) -> None:
        self.setup = setup
        limits = dict(setup.limits)
        self.context = _Remembering(setup.schema, limits=limits)
        self.engine = Watched(setup, self.context)
        self.decoders = {
            role: reference_decoder(
                setup.schema,
                Options(
                    role, context=self.context, limits=limits, strict=setup.is_strict, variant=setup.variant
                ),
                "yield",
                context=self.context,
            )
            for role in setup.schema.roles
        }
        self.now = 0.0
        self.ended: frozenset[str] = frozenset()
        self.begun: frozenset[str] = frozenset()
        self._outcome = Outcome()
        self._was_heard = False
        self._known: dict[str, Hashable] = {}
        self._atoms: dict[str, tuple[Atom, ...]] = {}
        self.context.listener = self._hear

    @classmethod
    def after(cls, setup: Setup, steps: Iterable[Step]) -> ConnectionState:
        """Return the connection after these steps."""
        world = cls(setup)
        for step in steps:
            world.take(step)
        return world

    def copy(self) -> ConnectionState:
        """Return another connection in the same state.

        Parts that steps do not change are shared, so copying costs less than repeating the steps.
        """
        program = self.setup.program
        shared = (self.setup, self.setup.schema, program, *program.tables)
        known: dict[int, Any] = {
            id(each): each for each in (*shared, *self.engine.shared(), *self.context.shared())
        }
        known |= {id(self._outcome): Outcome(), id(self._known): {}, id(self._atoms): {}}
        known |= {id(self.engine.met): [], id(self._remembered): {}}
        made = deepcopy(self, known)
        del made._remembered  # the copy computes it again when it is read
        return made

    def take(self, step: Step) -> Outcome:
        """Let a step happen."""
        self._outcome, self.engine.met, self.engine.trail = Outcome(), [], []
        self._known, self._atoms = {}, {}
        vars(self).pop("_remembered", None)
        self.now = step.at
        self._outcome.violations += self._expired(step.at)
        match step.kind:
            case "message":
                assert step.role is not None
                self.begun |= {step.role}
                for _, _, item in self.decoders[step.role].items(step.data):
                    self._judge(item, step.role)
            case "eof":
                assert step.role is not None
                self.ended |= {step.role}
                self._end(step.role)
        self._outcome.met += self.engine.met
        trail = self.engine.trail
        self._outcome.moves = tuple(dict.fromkeys((name, before, after) for name, _, before, after in trail))
        return self._outcome

    def _expired(self, now: float) -> Iterator[Violation]:
        for event in self.engine.expire(now):
            if isinstance(event, Violation | TimedOut):
                self._outcome.met.append(self._timer(event))
            if isinstance(event, Violation):
                yield event

    def _timer(self, event: Violation | TimedOut) -> Goal:
        """Return the timer that ran out, identified by its effect."""
        timers = self.setup.schema.sessions[event.session].timers
        violation = event.name if isinstance(event, Violation) else None
        after = None if isinstance(event, Violation) else event.next_state
        for number, timer in enumerate(timers):
            is_here = timer.states is None or event.state in timer.states
            if isinstance(timer.effect, Violates):
                is_so = timer.effect.name == violation
            else:
                is_so = timer.effect.state in (after, None)
            if is_here and is_so:
                return Goal(
                    kind="timer", session=event.session, state=event.state, number=number, violation=violation
                )
        raise AssertionError("a timer that the schema does not have")

    def _judge(self, item: Any, role: str) -> None:
        if isinstance(item, DecodeError):
            self._outcome.fault = item.code
            return
        value = item.value
        if not self._was_heard:
            self._hear(value, role)
        self._was_heard = False
        self._outcome.values.append(value)
        part = part_of(value)
        if part is not None and part.last and part.index > 0:
            self._outcome.met.append(Goal(kind="join", session=part.join))

    def _end(self, role: str) -> None:
        for _, _, item in self.decoders[role].finish_items():
            if isinstance(item, DecodeError):
                self._outcome.fault = item.code
                found = self.context.joins.first_open(role)
                if found is not None:
                    goal = Goal(kind="cut", session=found[0], violation=item.code)
                    self._outcome.met.append(goal)

    def _hear(self, frame: object, sender: str | None) -> None:
        assert sender is not None
        self._was_heard = True
        found: list[Violation] = []
        inner = self.engine.step(sender, frame, self.now, found)
        self.engine.add_general(found, sender)
        self._outcome.violations += found
        for each in inner:
            self._hear(each, sender)

    # ---- states that are worth reaching

    def atoms(self) -> tuple[Atom, ...]:
        """Return the present facts in rough form: of each instance its state and values, and the contexts and joins."""
        return (
            *_of_sessions(self.engine, tuple(self.engine.instances)),
            *self.remembered(),
            *self.openings(),
            ("ended", self.ended),
        )

    def openings(self, *senders: str) -> Iterator[Atom]:
        """Yield which roles have sent the preambles with which they begin, these senders included."""
        if self.setup.schema.opens:
            yield ("begun", self.begun.union(senders).intersection(self.setup.schema.opens))

    def fingerprint(self, sessions: tuple[str, ...]) -> Hashable:
        """Return the exact state that a message of these sessions meets."""
        return (tuple(map(self.exact, sessions)), self.remembered_exactly())

    def exact(self, session: str) -> Hashable:
        """Return the exact state of a session: the states and values of its instances."""
        if session not in self._known:
            self._known[session] = tuple(
                (each.place, each.state, repr(each.values)) for each in self.engine.instances[session].all()
            )
        return self._known[session]

    def remembered_exactly(self, names: tuple[str, ...] | None = None) -> tuple[str, ...]:
        """Return the exact content of contexts and joins, of all of them if `names` is None."""
        found = self._remembered
        return tuple(found.values() if names is None else [found[name] for name in names])

    @cached_property
    def _remembered(self) -> dict[str, str]:
        return {name: repr(held) for name, held in self.context.snapshot().items()}

    def atoms_of(self, session: str) -> tuple[Atom, ...]:
        """Return the present facts of one session."""
        if session not in self._atoms:
            self._atoms[session] = _of_sessions(self.engine, (session,))
        return self._atoms[session]

    def foreseen(self, decision: Decision, sessions: tuple[str, ...]) -> tuple[Atom, ...]:
        """Return the facts of sessions after a decision."""
        saved = [
            (instance, instance.snapshot(), instance.is_kept, instance.queued)
            for instance, _, _ in decision.moves
        ]
        for instance, row, changes in decision.moves:
            if row.state >= 0:
                instance.state = row.state
            for each in changes:
                change(instance.values, *each)
        found = _of_sessions(self.engine, sessions, tuple(each for each, _, _ in decision.moves))
        for instance, snapshot, is_kept, queued in saved:
            instance.restore(snapshot)
            instance.is_kept, instance.queued = is_kept, queued
        return found

    def remembered(self) -> Iterator[Atom]:
        """Yield the facts about the content of contexts and joins, in rough form."""
        for name, entries in self.context.entries.items():
            yield (
                name,
                min(_SMALL, len(entries)),
                frozenset(map(_rough, entries.values())),
            )
        for name, join in self.setup.schema.joins.items():
            is_frame = isinstance(join.type, FrameReference)
            for role in self.setup.schema.roles:
                open_ = [each for each in self.context.joins.snapshot()[name] if each["from"] == role]
                sizes = [min(len(each["data"]) // 2, _SMALL) for each in open_]
                begun = sorted(each["data"][:_HEAD] for each in open_ if is_frame)
                yield (name, role, tuple(sorted(sizes))[:2], tuple(begun)[:2])


def _of_sessions(
    engine: Watched, sessions: tuple[str, ...], more: tuple[Instance, ...] = ()
) -> tuple[Atom, ...]:
    found: list[Atom] = []
    for name in sessions:
        kept = engine.instances[name]
        others = [each for each in more if each.table.name == name]
        instances = [each for each in kept.all() if each not in others] + others
        instances = [each for each in instances if each is kept.single or not _is_new(each, engine)]
        found += [
            (name, "kept", min(len(instances), _SMALL)),
            *((name, *_rough_instance(each)) for each in instances),
        ]
    return tuple(dict.fromkeys(found))


def _is_new(instance: Instance, engine: Watched) -> bool:
    return instance.state == 0 and instance.values == engine.firsts[instance.table.name]


def _rough_instance(instance: Instance) -> tuple[Atom, ...]:
    table: Table = instance.table
    seen: dict[object, int] = {}
    values = tuple([_rough_value(value, seen) for value in instance.values])
    return (table.states[instance.state], instance.sender, values)


def _rough_value(value: object, seen: dict[object, int]) -> Atom:
    if type(value) is int:  # most values are, and millions are compared
        return value if -_SMALL <= value <= _SMALL else ("large", value > 0)
    if isinstance(value, deque):
        return (min(len(value), _SMALL), tuple(_rough_value(each, seen) for each in islice(value, _SMALL)))
    if isinstance(value, bytes) and len(value) <= _FEW_BYTES:
        return value
    if isinstance(value, UUID | bytes | str):
        return ("the", seen.setdefault(value, len(seen)))
    return _rough(value)


def _rough(value: object) -> Atom:
    """Return a small number as it is, and only the fact that it is large otherwise."""
    if isinstance(value, bool) or not isinstance(value, int):
        return repr(value)
    if -_SMALL <= value <= _SMALL:
        return value
    return ("large", value > 0)
