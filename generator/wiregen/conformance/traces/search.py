"""Breadth-first search over the possible messages: each connection state that is new in some way is examined once.

States with a fact that earlier ones lack alternate with those that only combine two facts for the first
time. The number of both is bounded, so the search ends soon for any protocol.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Hashable, Iterable, Iterator
from dataclasses import dataclass
from heapq import heappop, heappush
from itertools import combinations
from typing import Final

from wiregen.conformance.traces.candidates import Drafts
from wiregen.conformance.traces.distance import Need, facts_in, need_of
from wiregen.conformance.traces.memo import Verdicts
from wiregen.conformance.traces.message_values import MessageDraft, Spread
from wiregen.conformance.traces.prediction import PredictedEffect, Prediction, is_remembered
from wiregen.language.examples.connection_state import Atom, ConnectionState, Outcome, Setup
from wiregen.language.examples.trace import Goal, Step

__all__ = ["ReachedGoal", "TraceSearch"]

_DEEPEST: Final = 14
_MOST_FAILURES: Final = 16
"""Values of one kind of message that cannot be encoded in a connection state before the kind is given up there."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ReachedGoal:
    """How a goal was reached. `rank`: 0 if the last step has no other effect worth mention."""

    steps: tuple[Step, ...]
    rank: int


@dataclass(frozen=True, slots=True, kw_only=True)
class _Place:
    """A connection state to be examined. `before`: the one in which the last of its steps was tried, if it is known."""

    before: ConnectionState | None = None
    steps: tuple[Step, ...]
    atoms: tuple[Atom, ...]
    number: int

    def world(self, setup: Setup) -> ConnectionState:
        if self.before is None:
            return ConnectionState.after(setup, self.steps)
        world = self.before.copy()
        world.take(self.steps[-1])
        return world


class TraceSearch:
    """A search under one setup, which can be continued; `findings` is how goals were reached.

    `sessions`: those whose goals it may reach. `is_fine`: distinguish more connection states, at the cost
    of depth.
    """

    def __init__(
        self,
        setup: Setup,
        drafts: Drafts,
        sessions: tuple[str, ...],
        verdicts: Verdicts,
        *,
        is_fine: bool = False,
    ) -> None:
        self.is_fine = is_fine
        self.setup = setup
        self.sessions = sessions
        self.findings: dict[Goal, ReachedGoal] = {}
        self._drafts = drafts.anew()
        self._verdicts = verdicts
        self._wanted: dict[Goal, None] = {}
        self._near: deque[_Place] = deque([_Place(steps=(), atoms=(), number=0)])
        self._apt: dict[int, _Place] = {}
        self._novel: list[tuple[int, int, tuple[Hashable, ...]]] = []
        self._far: deque[_Place] = deque()
        self._atoms: set[Atom] = set()
        self._pairs: set[tuple[Atom, Atom]] = set()
        self._failures: Counter[str] = Counter()
        self._needs: tuple[Need, ...] = ()
        self._views: Counter[Hashable] = Counter()
        self._n_looked = 0
        self._n_kept = 0
        self._is_new(ConnectionState(setup).atoms())

    def begin_in(self, steps: tuple[Step, ...], goals: Iterable[Goal]) -> None:
        """Accept what the steps of a conversation show of these goals, and examine soon the connection states after
        them, as far as the steps are legal here.
        """
        self._wanted = dict.fromkeys(goal for goal in goals if self._is_open(goal))
        world = ConnectionState(self.setup)
        for number, step in enumerate(steps, 1):
            outcome = world.take(step)
            for goal in outcome.met:
                self._reach(goal, steps[:number], outcome)
            if not outcome.is_legal or number >= _DEEPEST:
                return
            atoms = world.atoms()
            self._is_new(atoms)
            self._n_kept += 1
            self._near.append(_Place(steps=steps[:number], atoms=atoms, number=self._n_kept))

    def run(self, goals: Iterable[Goal], most: int) -> bool:
        """Examine so many further connection states for these goals; return whether one was reached.

        Connection states are not examined twice.
        """
        self._wanted = dict.fromkeys(goal for goal in goals if self._is_open(goal))
        before = dict(self.findings)
        self._sort()
        for _ in range(most):
            if not self._wanted or not (self._near or self._apt or self._far):
                break
            self._look(self._next())
        return self.findings != before

    def _sort(self) -> None:
        """Set aside those of the known connection states in which a goal may be near."""
        self._needs = tuple(dict.fromkeys(need_of(self.setup, goal) for goal in self._wanted))
        places = sorted((*self._apt.values(), *self._far), key=lambda place: place.number)
        self._apt, self._novel, self._far = {}, [], deque()
        for place in places:
            self._put(place)

    def _put(self, place: _Place) -> None:
        """Sort a connection state by the needs of goals that it meets: those whose views were examined
        least come first.
        """
        facts = frozenset(facts_in(place.atoms))
        views = tuple((need, need.view(place.atoms)) for need in self._needs if need.facts <= facts)
        if views:
            self._apt[place.number] = place
            heappush(self._novel, (self._least(views), place.number, views))
        else:
            self._far.append(place)

    def _least(self, views: tuple[Hashable, ...]) -> int:
        return min(self._views[view] for view in views)

    def _next(self) -> _Place:
        """Return the next connection state: from each of the queues in turn."""
        self._n_looked += 1
        for turn in range(4):
            match (self._n_looked + turn) % 4:
                case 0 if self._apt:
                    return self._apt.pop(next(iter(self._apt)))
                case 2 if self._apt:
                    return self._next_apt()
                case 1 if self._near:
                    return self._near.popleft()
                case 3 if self._far:
                    return self._far.popleft()
        raise AssertionError("all places of the search are empty")

    def _next_apt(self) -> _Place:
        while True:
            before, number, views = heappop(self._novel)
            if number not in self._apt:
                continue
            now = self._least(views)
            if now == before:
                self._views.update(views)
                return self._apt.pop(number)
            heappush(self._novel, (now, number, views))

    def _is_open(self, goal: Goal) -> bool:
        return goal not in self.findings or self.findings[goal].rank > 0

    def _look(self, place: _Place) -> None:
        steps, world = place.steps, place.world(self.setup)
        due = world.engine.next_timeout()
        if due is not None:
            self._try(steps, Step(kind="tick", role=None, at=due), world)
        for role in self.setup.schema.roles:
            if world.context.joins.first_open(role) is not None:
                self._try(steps, Step(kind="eof", role=role, at=world.now), world)
        self._failures.clear()
        seen: set[Atom] = set()
        for found in self._drafts.now(world):
            if isinstance(found, MessageDraft):
                if self._failures[found.name] < _MOST_FAILURES:
                    self._try_once(steps, found, world, seen)
            else:
                self._foresee(steps, found, world)
            if not self._wanted:
                return

    def _try_once(
        self, steps: tuple[Step, ...], draft: MessageDraft, world: ConnectionState, seen: set[Atom]
    ) -> None:
        """Apply a fragment, unless one that did the same to the sessions was applied here."""
        decision, met = world.engine.foresee(draft.sender, draft.seen)
        what = (
            draft.name,
            draft.written is draft.seen,
            tuple(met),
            world.foreseen(decision, tuple(world.engine.instances)),
        )
        if what not in seen:
            seen.add(what)
            self._try_draft(steps, draft, world)

    def _try_draft(self, steps: tuple[Step, ...], draft: MessageDraft, world: ConnectionState) -> None:
        data = self._encoded(draft, world)
        if data is not None:
            self._try(steps, Step(kind="message", role=draft.sender, at=world.now, data=data), world)

    def _encoded(self, draft: MessageDraft, world: ConnectionState) -> bytes | None:
        data = draft.encoded(world)
        self._failures[draft.name] += 1 if data is None else -_MOST_FAILURES
        return data

    def _foresee(self, steps: tuple[Step, ...], spread: Spread, world: ConnectionState) -> None:
        """Keep the predicted effects of a kind of message, without applying it."""
        for effect, choices in Prediction(world, spread, self._verdicts).effects():
            if not self._wanted:
                return
            for choice in choices if self._is_worth(effect, steps) else ():
                draft = spread.draft(choice)
                if self._settle(steps, draft, effect, world):
                    break
                if self._failures[draft.name] >= _MOST_FAILURES:
                    return

    def _is_worth(self, effect: PredictedEffect, steps: tuple[Step, ...]) -> bool:
        if any(self._is_better(goal, effect.outcome) for goal in effect.outcome.met):
            return True
        return len(steps) + 1 < _DEEPEST and self._has_new(effect.atoms)

    def _settle(
        self, steps: tuple[Step, ...], draft: MessageDraft, effect: PredictedEffect, world: ConnectionState
    ) -> bool:
        """Keep the effect of a message; return whether it could be sent at all."""
        data = self._encoded(draft, world)
        if data is None:
            return False
        step = Step(kind="message", role=draft.sender, at=world.now, data=data)
        if _says_more(draft, world):
            self._try(steps, step, world)
            return True
        steps = (*steps, step)
        for goal in effect.outcome.met:
            self._reach(goal, steps, effect.outcome)
        if effect.atoms and len(steps) < _DEEPEST:
            self._keep(steps, effect.atoms, world)
        return True

    def _has_new(self, atoms: tuple[Atom, ...]) -> bool:
        return any(atom not in self._atoms for atom in atoms) or any(
            pair not in self._pairs for pair in self._together(atoms)
        )

    def _try(self, steps: tuple[Step, ...], step: Step, before: ConnectionState) -> None:
        """Apply a step after those that led to a connection state, and keep the result."""
        world = before.copy()
        outcome = world.take(step)
        steps = (*steps, step)
        for goal in outcome.met:
            self._reach(goal, steps, outcome)
        if outcome.is_legal and len(steps) < _DEEPEST:
            self._keep(steps, world.atoms(), before)

    def _keep(self, steps: tuple[Step, ...], atoms: tuple[Atom, ...], before: ConnectionState) -> None:
        how = self._is_new(atoms)
        if how is None:
            return
        self._n_kept += 1
        place = _Place(before=before, steps=steps, atoms=atoms, number=self._n_kept)
        if how == 1:
            self._near.append(place)
        else:
            self._put(place)

    def _together(self, atoms: tuple[Atom, ...]) -> Iterator[tuple[Atom, Atom]]:
        yield from _pairs(atoms)
        if self.is_fine:
            yield from _surroundings(atoms)

    def _is_new(self, atoms: tuple[Atom, ...]) -> int | None:
        """Return 1 if an atom is new, 2 if a pair of atoms is; they are known from now on."""
        pairs = set(self._together(atoms))
        is_first = any(atom not in self._atoms for atom in atoms)
        is_second = not pairs <= self._pairs
        self._atoms.update(atoms)
        self._pairs |= pairs
        return 1 if is_first else 2 if is_second else None

    def _is_better(self, goal: Goal, outcome: Outcome) -> bool:
        """Return whether a goal is wanted, and was not shown as well before."""
        if goal not in self._wanted:
            return False
        rank, known = _rank(goal, outcome), self.findings.get(goal)
        return rank is not None and (known is None or rank < known.rank)

    def _reach(self, goal: Goal, steps: tuple[Step, ...], outcome: Outcome) -> None:
        if not self._is_better(goal, outcome):
            return
        rank = _rank(goal, outcome)
        assert rank is not None
        self.findings[goal] = ReachedGoal(steps=steps, rank=rank)
        if rank == 0:
            self._wanted.pop(goal, None)


def _pairs(atoms: tuple[Atom, ...]) -> Iterator[tuple[Atom, Atom]]:
    """Yield the facts in pairs; of two sessions, which do not affect each other, only their states."""
    for one, other in combinations(atoms, 2):
        match one, other:
            case (str(), str(), _, tuple()), (str(), str(), _, tuple()) if one[0] != other[0]:
                yield one[:3], other[:3]
            case _:
                yield one, other


def _surroundings(atoms: tuple[Atom, ...]) -> Iterator[tuple[Atom, Atom]]:
    """Yield each fact of a session with the states of all others: a state that two sessions allow, a third
    may have ended.
    """
    states = [atom for atom in atoms if isinstance(atom, tuple) and len(atom) == 4]
    for one in states:
        yield one, tuple(other[:3] for other in states if other[0] != one[0])


def _rank(goal: Goal, outcome: Outcome) -> int | None:
    """Return how well an outcome shows a goal, with 0 the best, or None if it does not show it."""
    names = [each.name for each in outcome.broken]
    if goal.kind == "cut":
        return 0 if outcome.fault == goal.violation and not names else None
    if outcome.fault is not None:
        return None
    if goal.violation is None:
        return None if names else 0
    if goal.violation not in names:
        return None
    return 0 if len(names) == 1 else 1 if names[0] == goal.violation else 2


def _says_more(draft: MessageDraft, world: ConnectionState) -> bool:
    """Return whether a frame may have effects beyond its sessions: by inner frames, or by remembered entries."""
    return world.engine.has_inner(draft.sender, draft.seen) or is_remembered(draft.seen, world)
