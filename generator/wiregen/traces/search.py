"""Breadth first over what could be said: each world that is new in some way is looked at once, the nearest first.

Worlds that have a fact no other had come in turn with those that only put two facts together for the first time; their number
is bounded, so the search ends soon whatever the protocol is.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Hashable, Iterable, Iterator
from dataclasses import dataclass
from itertools import combinations
from typing import Any, Final

from wiregen.traces.drafts import Drafts
from wiregen.traces.outlook import Effect, Outlook, is_remembered
from wiregen.traces.spread import Draft, Spread
from wiregen.traces.trace import Goal, Step
from wiregen.traces.world import Atom, Outcome, Setup, World

__all__ = ["Finding", "Search"]

_DEEPEST: Final = 14
_MOST_FAILURES: Final = 16
"""Values of one kind of message that cannot be written in a world before no more are tried there."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """How a goal was reached. `rank`: 0 where the last step does nothing else that is worth a word."""

    steps: tuple[Step, ...]
    rank: int


@dataclass(frozen=True, slots=True, kw_only=True)
class _Place:
    """A world to be looked at. `facts`: which sessions are in which states, and which contexts and joins are not empty."""

    steps: tuple[Step, ...]
    facts: frozenset[Hashable]
    number: int


class Search:
    """A search under one setup, which can go on where it stopped; `findings` is how goals were reached.

    `sessions`: those whose goals it may reach.
    """

    def __init__(self, setup: Setup, drafts: Drafts, sessions: tuple[str, ...]) -> None:
        self.setup = setup
        self.sessions = sessions
        self.findings: dict[Goal, Finding] = {}
        self._drafts = drafts.anew()
        self._wanted: set[Goal] = set()
        self._near: deque[_Place] = deque([_Place(steps=(), facts=frozenset(), number=0)])
        self._apt: deque[_Place] = deque()
        self._far: deque[_Place] = deque()
        self._atoms: set[Atom] = set()
        self._pairs: set[tuple[Atom, Atom]] = set()
        self._failures: Counter[str] = Counter()
        self._needs: list[frozenset[Hashable]] = []
        self._n_looked = 0
        self._n_kept = 0
        self._is_new(World(setup).atoms())

    def run(self, goals: Iterable[Goal], most: int) -> bool:
        """Look at so many worlds more, for these goals; tell whether one was reached.

        Worlds that were looked at before are not looked at again.
        """
        self._wanted = {goal for goal in goals if self._is_open(goal)}
        before = dict(self.findings)
        self._sort()
        for _ in range(most):
            if not self._wanted or not (self._near or self._apt or self._far):
                break
            self._look(self._next())
        return self.findings != before

    def _sort(self) -> None:
        """Put aside those of the known worlds in which a goal may be near."""
        self._needs = list(dict.fromkeys(_needs(self.setup, goal) for goal in self._wanted))
        places = sorted((*self._apt, *self._far), key=lambda place: place.number)
        self._apt = deque(place for place in places if self._is_apt(place))
        self._far = deque(place for place in places if not self._is_apt(place))

    def _is_apt(self, place: _Place) -> bool:
        """Tell whether a session is in the state of a goal, and everything is remembered that its row asks for."""
        return any(needs <= place.facts for needs in self._needs)

    def _next(self) -> tuple[Step, ...]:
        """Return the next world: of the three sorts in turn."""
        self._n_looked += 1
        sorts = (self._apt, self._near, self._far)
        turn = self._n_looked % 3
        return next(each for each in (*sorts[turn:], *sorts[:turn]) if each).popleft().steps

    def _is_open(self, goal: Goal) -> bool:
        return goal not in self.findings or self.findings[goal].rank > 0

    def _look(self, steps: tuple[Step, ...]) -> None:
        world = World.after(self.setup, steps)
        due = world.engine.next_timeout()
        if due is not None:
            self._try(steps, Step(kind="tick", role=None, at=due))
        for role in self.setup.plan["roles"]:
            if world.context.joins.first_open(role) is not None:
                self._try(steps, Step(kind="eof", role=role, at=world.now))
        self._failures.clear()
        is_joining = any(goal.kind == "join" for goal in self._wanted)
        seen: set[Atom] = set()
        for found in self._drafts.now(world):
            if isinstance(found, Draft):
                if self._failures[found.name] < _MOST_FAILURES:
                    self._try_once(steps, found, world, seen)
            elif is_joining and _may_be_last(found, world):
                self._try_all(steps, found, world)
            else:
                self._foresee(steps, found, world)
            if not self._wanted:
                return

    def _try_all(self, steps: tuple[Step, ...], spread: Spread, world: World) -> None:
        for draft in map(spread.draft, spread):
            if self._wanted and self._failures[draft.name] < _MOST_FAILURES:
                self._try_draft(steps, draft, world)

    def _try_once(self, steps: tuple[Step, ...], draft: Draft, world: World, seen: set[Atom]) -> None:
        """Let a piece pass, if none passed here that did the same to the sessions."""
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

    def _try_draft(self, steps: tuple[Step, ...], draft: Draft, world: World) -> None:
        data = self._encoded(draft, world)
        if data is not None:
            self._try(steps, Step(kind="message", role=draft.sender, at=world.now, data=data))

    def _encoded(self, draft: Draft, world: World) -> bytes | None:
        data = draft.encoded(world)
        self._failures[draft.name] += 1 if data is None else -_MOST_FAILURES
        return data

    def _foresee(self, steps: tuple[Step, ...], spread: Spread, world: World) -> None:
        """Keep what would come of a kind of message, without letting it happen."""
        outlook = Outlook(world, spread)
        done: set[int] = set()
        for choice in spread:
            effect = outlook.of(choice)
            if id(effect) in done or not self._wanted:
                continue
            draft = spread.draft(choice) if self._is_worth(effect, steps) else None
            if draft is None or self._settle(steps, draft, effect, world):
                done.add(id(effect))
            elif self._failures[draft.name] >= _MOST_FAILURES:
                return

    def _is_worth(self, effect: Effect, steps: tuple[Step, ...]) -> bool:
        if any(self._is_better(goal, effect.outcome) for goal in effect.outcome.met):
            return True
        return len(steps) + 1 < _DEEPEST and self._has_new(effect.atoms)

    def _settle(self, steps: tuple[Step, ...], draft: Draft, effect: Effect, world: World) -> bool:
        """Keep what comes of a message; tell whether it could be said at all."""
        data = self._encoded(draft, world)
        if data is None:
            return False
        step = Step(kind="message", role=draft.sender, at=world.now, data=data)
        if _says_more(draft, world):
            self._try(steps, step)
            return True
        steps = (*steps, step)
        for goal in effect.outcome.met:
            self._reach(goal, steps, effect.outcome)
        if effect.atoms and len(steps) < _DEEPEST:
            self._keep(steps, effect.atoms)
        return True

    def _has_new(self, atoms: tuple[Atom, ...]) -> bool:
        return any(atom not in self._atoms for atom in atoms) or any(
            pair not in self._pairs for pair in _pairs(atoms)
        )

    def _try(self, steps: tuple[Step, ...], step: Step) -> None:
        """Let a step happen, and keep what came of it."""
        world = World.after(self.setup, steps)
        outcome = world.take(step)
        steps = (*steps, step)
        for goal in outcome.met:
            self._reach(goal, steps, outcome)
        if outcome.is_legal and len(steps) < _DEEPEST:
            self._keep(steps, world.atoms())

    def _keep(self, steps: tuple[Step, ...], atoms: tuple[Atom, ...]) -> None:
        how = self._is_new(atoms)
        if how is None:
            return
        self._n_kept += 1
        place = _Place(steps=steps, facts=frozenset(_facts(atoms)), number=self._n_kept)
        (self._near if how == 1 else self._apt if self._is_apt(place) else self._far).append(place)

    def _is_new(self, atoms: tuple[Atom, ...]) -> int | None:
        """Return 1 where an atom is new, 2 where a pair of them is; they are known from now on."""
        pairs = set(_pairs(atoms))
        is_first = any(atom not in self._atoms for atom in atoms)
        is_second = not pairs <= self._pairs
        self._atoms.update(atoms)
        self._pairs |= pairs
        return 1 if is_first else 2 if is_second else None

    def _is_better(self, goal: Goal, outcome: Outcome) -> bool:
        """Tell whether a goal is wanted, and was not shown as well before."""
        if goal not in self._wanted:
            return False
        rank, known = _rank(goal, outcome), self.findings.get(goal)
        return rank is not None and (known is None or rank < known.rank)

    def _reach(self, goal: Goal, steps: tuple[Step, ...], outcome: Outcome) -> None:
        if not self._is_better(goal, outcome):
            return
        rank = _rank(goal, outcome)
        assert rank is not None
        self.findings[goal] = Finding(steps=steps, rank=rank)
        if rank == 0:
            self._wanted.discard(goal)


def _pairs(atoms: tuple[Atom, ...]) -> Iterator[tuple[Atom, Atom]]:
    """Yield the facts two by two; of two sessions, which do not see each other, only what they are in."""
    for one, other in combinations(atoms, 2):
        match one, other:
            case (str(), str(), _, tuple()), (str(), str(), _, tuple()) if one[0] != other[0]:
                yield one[:3], other[:3]
            case _:
                yield one, other


def _facts(atoms: tuple[Atom, ...]) -> Iterator[Hashable]:
    for atom in atoms:
        match atom:
            case (str() as name, str() as state, *_, tuple()):
                yield name, state
            case (str() as name, int() as count, frozenset()) if count:
                yield name


def _needs(setup: Setup, goal: Goal) -> frozenset[Hashable]:
    """Return the facts without which a goal cannot be reached."""
    needs: set[Hashable] = set()
    if goal.session in setup.plan["sessions"]:
        needs |= {(goal.session, goal.state)}
        if goal.kind == "row":
            needs |= set(_contexts_in(setup.plan["sessions"][goal.session]["rows"][goal.number][3]))
    return frozenset(needs)


def _contexts_in(expression: Any) -> Iterator[str]:
    if isinstance(expression, tuple):
        if expression[:1] == ("context",):
            yield expression[1]
        for part in expression:
            yield from _contexts_in(part)


def _rank(goal: Goal, outcome: Outcome) -> int | None:
    """Return how well an outcome shows a goal, 0 the best; None: not at all."""
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


def _says_more(draft: Draft, world: World) -> bool:
    """Tell whether more may come of a frame than its sessions say: by what it holds, or by what is remembered of it."""
    return world.engine.has_inner(draft.sender, draft.seen) or is_remembered(draft.seen, world)


def _may_be_last(spread: Spread, world: World) -> bool:
    """Tell whether something may become whole by it."""
    return world.context.joins.first_open(spread.sender) is not None and is_remembered(spread.base, world)
