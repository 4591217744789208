"""Breadth first over what could be said: each world that is new in some way is looked at once, the nearest first.

Worlds that have a fact no other had come in turn with those that only put two facts together for the first time; their number
is bounded, so the search ends soon whatever the protocol is.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import combinations
from typing import Final

from wiregen.runtime.errors import DecodeError, EncodeError
from wiregen.runtime.options import Options
from wiregen.traces.drafts import Draft, Drafts
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


class Search:
    """A search under one setup, which can go on where it stopped; `findings` is how goals were reached.

    `session`: what only another session with keys asks for is not said; None: everything is.
    """

    def __init__(self, setup: Setup, drafts: Drafts, session: str | None = None) -> None:
        self.setup = setup
        self.session = session
        self.findings: dict[Goal, Finding] = {}
        self._drafts = drafts.about(session)
        self._wanted: set[Goal] = set()
        self._near: deque[tuple[Step, ...]] = deque([()])
        self._far: deque[tuple[Step, ...]] = deque()
        self._atoms: set[Atom] = set()
        self._pairs: set[tuple[Atom, Atom]] = set()
        self._failures: Counter[str] = Counter()
        self._n_looked = 0
        self._is_new(World(setup).atoms())

    def run(self, goals: Iterable[Goal], most: int) -> None:
        """Look at so many worlds more, for these goals; worlds that were looked at before are not looked at again."""
        self._wanted = {goal for goal in goals if self._is_open(goal)}
        for _ in range(most):
            if not self._wanted or not (self._near or self._far):
                return
            self._look(self._next())

    def _next(self) -> tuple[Step, ...]:
        """Return the next world: of the two sorts in turn."""
        self._n_looked += 1
        is_near = self._near and (self._n_looked % 2 or not self._far)
        return (self._near if is_near else self._far).popleft()

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
        for draft in self._drafts.now(world):
            if self._failures[draft.name] >= _MOST_FAILURES:
                continue
            if draft.is_piece:
                self._try_once(steps, draft, world, seen)
            elif is_joining and _may_be_last(draft, world):
                self._try_draft(steps, draft, world)
            else:
                self._foresee(steps, draft, world)
            if not self._wanted:
                return

    def _try_once(self, steps: tuple[Step, ...], draft: Draft, world: World, seen: set[Atom]) -> None:
        """Let a piece pass, if none passed here that did the same to the sessions."""
        decision, met = world.engine.foresee(draft.sender, draft.seen)
        what = (draft.name, draft.written is draft.seen, tuple(met), world.foreseen(decision))
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

    def _foresee(self, steps: tuple[Step, ...], draft: Draft, world: World) -> None:
        """Keep what would come of a draft, without letting it happen."""
        decision, met = world.engine.foresee(draft.sender, draft.seen)
        outcome = Outcome(met=met, violations=decision.violations)
        goals = [goal for goal in met if self._is_better(goal, outcome)]
        atoms: tuple[Atom, ...] = ()
        if decision.refusal is None and len(steps) + 1 < _DEEPEST:
            atoms = (*world.foreseen(decision), *_remembered(draft, world))
        if not goals and not self._has_new(atoms):
            return
        if _says_more(draft, world):
            self._try_draft(steps, draft, world)
            return
        data = self._encoded(draft, world)
        if data is None:
            return
        steps = (*steps, Step(kind="message", role=draft.sender, at=world.now, data=data))
        for goal in goals:
            self._reach(goal, steps, outcome)
        if atoms:
            self._keep(steps, atoms)

    def _has_new(self, atoms: tuple[Atom, ...]) -> bool:
        return any(atom not in self._atoms for atom in atoms) or any(
            pair not in self._pairs for pair in combinations(atoms, 2)
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
        if how is not None:
            (self._near if how == 1 else self._far).append(steps)

    def _is_new(self, atoms: tuple[Atom, ...]) -> int | None:
        """Return 1 where an atom is new, 2 where a pair of them is; they are known from now on."""
        pairs = set(combinations(atoms, 2))
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
    return world.engine.has_inner(draft.sender, draft.seen) or _is_remembered(draft, world)


def _may_be_last(draft: Draft, world: World) -> bool:
    """Tell whether something may become whole by it."""
    return world.context.joins.first_open(draft.sender) is not None and _is_remembered(draft, world)


def _is_remembered(draft: Draft, world: World) -> bool:
    return hasattr(draft.seen, "message") and not world.context.is_quiet(draft.seen)


def _remembered(draft: Draft, world: World) -> tuple[Atom, ...]:
    """Return what is remembered after a frame."""
    context = world.context
    if not _is_remembered(draft, world):
        return ()
    saved, listener = context.snapshot(), context.listener
    context.listener = None
    try:
        options = Options(draft.sender, context=context, limits=dict(world.setup.limits))
        context.take(draft.seen, options)
        return tuple(world.remembered())
    except (DecodeError, EncodeError):
        return ()
    finally:
        context.restore(saved)
        context.listener = listener
