"""What would come of one kind of message in a world, whatever values it has; nothing is let happen.

Invariant: sessions decide apart from each other. So each is asked once for what it is concerned with of the values, and what the
others say of the rest is put beside it; most values differ in nothing that anybody asks for.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from operator import itemgetter
from typing import Any, TypeAlias

from wiregen.runtime.errors import DecodeError, EncodeError
from wiregen.runtime.options import Options
from wiregen.runtime.session_events import Violation
from wiregen.runtime.session_table import Entry
from wiregen.traces.spread import Draft, Spread
from wiregen.traces.trace import Goal
from wiregen.traces.world import Atom, Outcome, World

__all__ = ["Effect", "Outlook", "is_remembered"]

_Choice: TypeAlias = tuple[int, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Effect:
    """What a message would do. `atoms`: what is so behind it, if it may pass; none where it may not."""

    outcome: Outcome
    atoms: tuple[Atom, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Part:
    """What one session says; None: what is remembered."""

    session: str | None = None
    met: tuple[Goal, ...] = ()
    violations: tuple[Violation, ...] = ()
    atoms: tuple[Atom, ...]
    is_refused: bool = False


class _Asker:
    """Who is asked, at which places of a choice it looks, and what it said of them."""

    def __init__(self, ask: Callable[[Draft], _Part], places: tuple[int, ...]) -> None:
        self.ask = ask
        self.places = places
        self.project: Callable[[_Choice], Any] = itemgetter(*places) if places else _nothing
        self.known: dict[Any, int] = {}


def _nothing(choice: _Choice) -> None:
    return None


class Outlook:
    """The effects of all values of one kind of message in one world."""

    def __init__(self, world: World, spread: Spread) -> None:
        self._world = world
        self._spread = spread
        self._matters = world.engine.matters(spread.sender, spread.base)
        self._askers = [
            _Asker(partial(self._said_by, entry), spread.concerns(entry.table.name))
            for entry in self._matters.entries
        ]
        self._memory = _Asker(self._remembered, spread.concerns(None))
        self._is_remembered = is_remembered(spread.base, world)
        self._numbers: dict[Any, int] = {}
        self._parts: list[_Part] = []
        self._effects: dict[tuple[int, ...], Effect] = {}

    def of(self, choice: _Choice) -> Effect:
        """Return the effect of a choice of values; the same object where it is the same."""
        parts = tuple([self._asked(asker, choice) for asker in self._askers])
        if self._is_remembered and not any(self._parts[part].is_refused for part in parts):
            parts = (*parts, self._asked(self._memory, choice))
        found = self._effects.get(parts)
        if found is None:
            found = self._effects[parts] = self._together([self._parts[part] for part in parts])
        return found

    def _asked(self, asker: _Asker, choice: _Choice) -> int:
        """Return the number of what is said of a choice."""
        seen = asker.project(choice)
        number = asker.known.get(seen)
        if number is None:
            part = asker.ask(self._spread.only(choice, asker.places))
            number = asker.known[seen] = self._number(part)
        return number

    def _said_by(self, entry: Entry, draft: Draft) -> _Part:
        decision, met = self._world.engine.foresee_one(entry, draft.sender, draft.seen)
        is_refused = decision.refusal is not None
        return _Part(
            session=entry.table.name,
            met=tuple(met),
            violations=tuple(decision.violations),
            atoms=() if is_refused else self._world.foreseen(decision, (entry.table.name,)),
            is_refused=is_refused,
        )

    def _remembered(self, draft: Draft) -> _Part:
        return _Part(atoms=_remembered(draft, self._world))

    def _number(self, part: _Part) -> int:
        """Return the number of a part, of those that say the same the first one's."""
        says = tuple((each.name, each.lenient) for each in part.violations)
        number = self._numbers.setdefault((part.session, part.met, says, part.atoms), len(self._parts))
        if number == len(self._parts):
            self._parts.append(part)
        return number

    def _together(self, parts: list[_Part]) -> Effect:
        sender = self._spread.sender
        violations = [each for part in parts for each in part.violations]
        met = [each for part in parts for each in part.met]
        if self._matters.is_foreign and all(each.lenient for each in violations):
            name = self._world.engine.program.foreign
            violations.append(Violation(name))
            met.append(Goal(kind="wrong_role", role=sender, violation=name))
        outcome = Outcome(met=met, violations=violations)
        return Effect(outcome=outcome, atoms=tuple(self._atoms(parts)) if outcome.is_legal else ())

    def _atoms(self, parts: list[_Part]) -> Iterator[Atom]:
        """Yield what is so then, in the order in which a world says it."""
        said = {part.session: part.atoms for part in parts}
        for name in self._world.engine.instances:
            yield from said[name] if name in said else self._world.atoms_of(name)
        yield from said.get(None, ())


def is_remembered(item: Any, world: World) -> bool:
    """Tell whether contexts or joins may take something in of such a message."""
    return hasattr(item, "message") and not world.context.is_quiet(item)


def _remembered(draft: Draft, world: World) -> tuple[Atom, ...]:
    """Return what is remembered after a frame."""
    context = world.context
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
