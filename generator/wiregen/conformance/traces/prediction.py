"""The effects of one kind of message in a connection state, for all values; the state does not change.

Invariant: sessions decide independently. Each is asked once for each combination of the values on which it
depends, and the verdicts are combined. Most values differ in fields on which no session depends.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import partial
from itertools import repeat
from typing import TypeAlias

from wiregen.conformance.traces.memo import SessionVerdict, Verdicts
from wiregen.conformance.traces.message_values import MessageDraft, Spread
from wiregen.language.examples.connection_state import Atom, ConnectionState, Outcome
from wiregen.language.examples.trace import Goal
from wiregen.runtime.codec.errors import DecodeError, EncodeError
from wiregen.runtime.codec.fragment import part_of
from wiregen.runtime.codec.options import Options
from wiregen.runtime.sessions.events import Violation
from wiregen.runtime.sessions.table import KindRows, Matters

__all__ = ["PredictedEffect", "Prediction", "is_remembered"]

_Choice: TypeAlias = tuple[int, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class PredictedEffect:
    """The effect of a message. `atoms`: the facts after it if it is accepted, else empty."""

    outcome: Outcome
    atoms: tuple[Atom, ...]


class _Asker:
    """A session or context to ask, the places of a choice on which it depends, and its verdicts, here or in
    an equal state.
    """

    def __init__(
        self,
        session: str | None,
        ask: Callable[[MessageDraft], SessionVerdict],
        world: ConnectionState,
        spread: Spread,
        verdicts: Verdicts,
    ) -> None:
        self._ask = ask
        self._spread = spread
        self._verdicts = verdicts
        self._places = spread.concerns(session)
        self._known = verdicts.of(session, spread, world)

    def column(self) -> list[int]:
        """Return the number of the verdict on each choice."""
        seen, which = self._spread.seen_at(self._places)
        numbers = [self.said(each) for each in seen]
        return [numbers[number] for number in which]

    def said(self, choice: _Choice) -> int:
        token = self._spread.token(choice, self._places)
        number = self._known.get(token)
        if number is None:
            part = self._ask(self._spread.only(choice, self._places))
            number = self._known[token] = self._verdicts.number(part)
        return number


class Prediction:
    """The effects of all values of one kind of message in one world."""

    def __init__(self, world: ConnectionState, spread: Spread, verdicts: Verdicts) -> None:
        self._world = world
        self._spread = spread
        self._parts = verdicts.parts
        self._matters = world.engine.matters(spread.sender, spread.base)
        self._askers = [
            _Asker(entry.table.name, partial(self._said_by, self._alone(entry)), world, spread, verdicts)
            for entry in self._matters.entries
        ]
        self._memory = _Asker(None, self._remembered, world, spread, verdicts)

    def effects(self) -> Iterator[tuple[PredictedEffect, list[_Choice]]]:
        """Yield the possible effects and the choices with each, the plainest first."""
        alike: dict[tuple[int, ...], list[_Choice]] = {}
        for choice, numbers in zip(self._spread.choices(), self._said(), strict=False):
            alike.setdefault(numbers, []).append(choice)
        for numbers, choices in self._remembering(alike):
            yield self._together([self._parts[number] for number in numbers]), choices

    def _said(self) -> Iterator[tuple[int, ...]]:
        """Yield the verdicts of the sessions on each choice."""
        columns = [asker.column() for asker in self._askers]
        return zip(*columns, strict=True) if columns else repeat(())

    def _remembering(
        self, alike: dict[tuple[int, ...], list[_Choice]]
    ) -> Iterable[tuple[tuple[int, ...], list[_Choice]]]:
        """Return the choices, with the remembered entries of those that are accepted."""
        if not is_remembered(self._spread.base, self._world):
            return alike.items()
        found: dict[tuple[int, ...], list[_Choice]] = {}
        for numbers, choices in alike.items():
            if any(self._parts[number].is_refused for number in numbers):
                found[numbers] = choices
                continue
            for choice in choices:
                found.setdefault((*numbers, self._memory.said(choice)), []).append(choice)
        return found.items()

    def _alone(self, entry: KindRows) -> Matters:
        """Return the rows of one session alone for such a message."""
        return Matters(self._matters.name, (entry,), is_foreign=False, frames=None)

    def _said_by(self, matters: Matters, draft: MessageDraft) -> SessionVerdict:
        decision, met = self._world.engine.foresee_one(matters, draft.sender, draft.seen)
        is_refused = decision.refusal is not None
        session = matters.entries[0].table.name
        return SessionVerdict(
            session=session,
            met=tuple(met),
            violations=tuple(decision.violations),
            atoms=() if is_refused else self._world.foreseen(decision, (session,)),
            is_refused=is_refused,
        )

    def _remembered(self, draft: MessageDraft) -> SessionVerdict:
        atoms = _remembered(draft, self._world)
        part = part_of(draft.seen)
        if part is None or not part.last or part.index == 0:
            return SessionVerdict(atoms=atoms)
        return SessionVerdict(met=(Goal(kind="join", session=part.join),), atoms=atoms)

    def _together(self, parts: list[SessionVerdict]) -> PredictedEffect:
        sender = self._spread.sender
        violations = [each for part in parts for each in part.violations]
        met = [each for part in parts for each in part.met]
        if self._matters.is_foreign and all(each.lenient for each in violations):
            name = self._world.engine.program.foreign
            violations.append(Violation(name))
            met.append(Goal(kind="wrong_role", role=sender, violation=name))
        outcome = Outcome(met=met, violations=violations)
        return PredictedEffect(outcome=outcome, atoms=tuple(self._atoms(parts)) if outcome.is_legal else ())

    def _atoms(self, parts: list[SessionVerdict]) -> Iterator[Atom]:
        """Yield the facts after the message, in the order in which a connection state lists them."""
        said = {part.session: part.atoms for part in parts}
        for name in self._world.engine.instances:
            yield from said[name] if name in said else self._world.atoms_of(name)
        yield from said.get(None, ())
        yield from self._world.openings(self._spread.sender)


def is_remembered(item: object, world: ConnectionState) -> bool:
    """Return whether contexts or reassemblies may change with such a message."""
    return hasattr(item, "message") and not world.context.is_quiet(item)


def _remembered(draft: MessageDraft, world: ConnectionState) -> tuple[Atom, ...]:
    """Return the remembered entries after a frame."""
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
