"""The states of one session as a graph, and which of its rows an earlier one leaves nothing to."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from typing import TypeAlias

from wiregen.checker.targets import Targets
from wiregen.model import Expression, Go, Row, Session, Timer, Violates
from wiregen.values import truth_of

__all__ = ["States"]

_Case: TypeAlias = tuple[str, str]
"""A role and a name that a row can be about."""
_EVERY = "any"
_MAX_CASES = 100_000


class States:
    """One session: which state follows which, and which row is met for what."""

    def __init__(self, session: Session, targets: Targets, roles: tuple[str, ...]) -> None:
        self.session = session
        self._targets = targets
        self._roles = session.roles or roles
        self._n_cases = 0

    @cached_property
    def reachable(self) -> frozenset[str]:
        """The states that some row leads to, beginning with the first."""
        if not self.session.states:
            return frozenset()
        return self.reachable_from(self.session.states[0].name)

    def reachable_from(self, start: str) -> frozenset[str]:
        seen = {start, *self._from_anywhere}
        waiting = list(seen)
        while waiting:
            for state in self.successors.get(waiting.pop(), ()):
                if state not in seen:
                    seen.add(state)
                    waiting.append(state)
        return frozenset(seen)

    @cached_property
    def successors(self) -> dict[str, tuple[str, ...]]:
        """The states that the rows and timers of a state lead to, those of `any` left out."""
        found: dict[str, dict[str, None]] = {}
        for states, target in self._moves:
            for state in states or ():
                found.setdefault(state, {})[target] = None
        return {state: tuple(targets) for state, targets in found.items()}

    @cached_property
    def _from_anywhere(self) -> tuple[str, ...]:
        return tuple(target for states, target in self._moves if states is None)

    @cached_property
    def _moves(self) -> tuple[tuple[tuple[str, ...] | None, str], ...]:
        lines: tuple[Row | Timer, ...] = (*self.session.rows, *self.session.timers)
        return tuple(
            (line.states, line.effect.state)
            for line in lines
            if isinstance(line.effect, Go) and line.effect.state is not None
        )

    def leaves(self, state: str) -> bool:
        """Tell whether some row leads from a state to another one."""
        return any(other != state for other in (*self.successors.get(state, ()), *self._from_anywhere))

    def shadowed(self) -> Iterator[tuple[Row, Row]]:
        """Yield each row that is never taken, with an earlier one that takes all it could; nothing for very large sessions."""
        anywhere: dict[_Case, Row] = {}
        own: dict[str, dict[_Case, Row]] = {state.name: {} for state in self.session.states}
        for row in self.session.rows:
            cases = self.cases(row)
            self._n_cases += len(cases) * len(row.states or ("",))
            if self._n_cases > _MAX_CASES:
                return
            places = (
                [anywhere] if row.states is None else [own[state] for state in row.states if state in own]
            )
            takers = [self._taker(row, case, place, anywhere) for place in places for case in cases]
            if takers and None not in takers and takers[0] is not None:
                yield row, takers[0]
            for place in places:
                self._take(row, cases, place)

    def cases(self, row: Row) -> tuple[_Case, ...]:
        """Return the roles and names that a row is about; `any` message is a name of its own.

        A role's name stands beside messages that it does not send: a peer may do it all the same, and a row may say so.
        """
        named = (_EVERY,) if row.targets is None else row.targets
        names = dict.fromkeys(inner for name in named for inner in (name, *self._inside(name)))
        roles = self._roles if row.role is None else (row.role,)
        return tuple((role, name) for name in names for role in roles)

    def _inside(self, name: str) -> tuple[str, ...]:
        return () if name == _EVERY else self._targets.messages(name)

    def _taker(
        self, row: Row, case: _Case, place: dict[_Case, Row], anywhere: dict[_Case, Row]
    ) -> Row | None:
        """Return the earlier row that takes a case whatever its message holds (or under the same condition)."""
        role, name = case
        cases = [case] if name == _EVERY or not self._has_keys(name) else [case, (role, _EVERY)]
        for found in (table.get(each) for table in (place, anywhere) for each in cases):
            if found is not None:
                return found
        return None

    def _has_keys(self, name: str) -> bool:
        """Tell whether `any` speaks of this name too: a message without the key is met by its name only."""
        fields = self._targets.fields(name)
        return all(key in fields for key in self.session.keys)

    @staticmethod
    def _take(row: Row, cases: tuple[_Case, ...], place: dict[_Case, Row]) -> None:
        if _is_final(row) and _is_always(row.when):
            for case in cases:
                place.setdefault(case, row)


def _is_final(row: Row) -> bool:
    return not (isinstance(row.effect, Violates) and row.effect.lenient)


def _is_always(when: Expression | None) -> bool:
    return when is None or truth_of(when) is True
