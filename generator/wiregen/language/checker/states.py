"""The states of one session as a graph, and the rows that earlier rows always precede."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import TypeAlias

from wiregen.language.checker.conditions import CheckBudget, are_there, never, read_by
from wiregen.language.checker.subjects import SessionSubjects
from wiregen.language.checker.targets import Targets
from wiregen.language.checker.updates import line_updates
from wiregen.language.checker.value_ranges import Subjects
from wiregen.schema.model import Expression, Go, Row, Session, Timer, Violates
from wiregen.schema.values import truth_of

__all__ = ["States"]

_Case: TypeAlias = tuple[str, str]
"""A role and a name of a message, frame or join that a row can be about."""
_Table: TypeAlias = dict[_Case, list[Row]]
"""The rows that are tried for each case, in the order of the text."""
_EVERY = "any"
_MAX_CASES = 100_000
_MAX_EVERYWHERE = 20_000
_MAX_EARLIER = 24
_MAX_LOOKS = 4000
_MAX_SHOWN = 4


class States:
    """One session: the transitions between its states, and the rows that match each message."""

    def __init__(self, session: Session, targets: Targets, roles: tuple[str, ...]) -> None:
        self.session = session
        self._targets = targets
        self._roles = session.roles or roles
        self._n_cases = 0

    @cached_property
    def reachable(self) -> frozenset[str]:
        """The states that can be reached, beginning with the first."""
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
        """The states that the rows and timers of a state lead to, without those of `any` state."""
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
        """Return whether some row leads from a state to another one."""
        return any(other != state for other in (*self.successors.get(state, ()), *self._from_anywhere))

    def ends(self, state: str) -> bool:
        """Return whether an instance in a state has ended: no row leaves the state, or changes a first value."""
        return not self.leaves(state) and not any(
            states is None or state in states for states in self._changing
        )

    @cached_property
    def _changing(self) -> tuple[tuple[str, ...] | None, ...]:
        """The states of each row and timer that may change a variable from its first value."""
        firsts = {variable.name: variable.initial for variable in self.session.variables}
        return tuple(
            line.states
            for line, update in line_updates(self.session)
            if update.value != firsts.get(update.variable)
        )

    def shadowed(self, subjects: SessionSubjects) -> Iterator[tuple[Row, tuple[Row, ...]]]:
        """Yield each row that is never taken, with the earlier rows that take all its cases.

        For very large sessions the search stops early.
        """
        anywhere: _Table = {}
        own: dict[str, _Table] = {state.name: {} for state in self.session.states}
        patience = CheckBudget(_MAX_LOOKS)
        for row in self.session.rows:
            cases = self.cases(row)
            self._n_cases += len(cases) * len(row.states or ("",))
            if self._n_cases > _MAX_CASES:
                return
            places = (
                [anywhere] if row.states is None else [own[state] for state in row.states if state in own]
            )
            look = _Look(row, subjects.of(row), patience)
            if row.states is None and self._n_cases + len(cases) * len(own) <= _MAX_EVERYWHERE:
                self._n_cases += len(cases) * len(own)
                takers = self._takers(look, cases, (anywhere, *own.values()), anywhere)
            else:
                takers = self._takers(look, cases, places, anywhere)
            if takers and not look.is_impossible:
                yield row, takers
            for table in places if _is_final(row) else ():
                for case in cases:
                    _take(table.setdefault(case, []), row)

    def _takers(
        self, look: _Look, cases: tuple[_Case, ...], places: Sequence[_Table], anywhere: _Table
    ) -> tuple[Row, ...]:
        """Return a few of the rows that together take all cases in all places; () if a case is left over.

        A row of `any` state, where that is the first place, counts in each state.
        """
        found: dict[str, Row] = {}
        for case in cases:
            for place in places:
                takers = look.takers(self._earlier(case, place, anywhere))
                if not takers and (place is not anywhere or len(places) == 1):
                    return ()
                found.update((row.path, row) for row in takers)
                if takers and place is anywhere:
                    break
        return tuple(found.values())[:_MAX_SHOWN]

    def cases(self, row: Row) -> tuple[_Case, ...]:
        """Return the cases of a row: roles and names; `any` message is a name of its own.

        A message gives a case for roles that do not send it too: a peer may send it all the same, and a row may refuse it.
        """
        named = (_EVERY,) if row.targets is None else row.targets
        names = dict.fromkeys(inner for name in named for inner in (name, *self._inside(name)))
        roles = self._roles if row.role is None else (row.role,)
        return tuple((role, name) for name in names for role in roles)

    def _inside(self, name: str) -> tuple[str, ...]:
        return () if name == _EVERY else self._targets.messages(name)

    def _earlier(self, case: _Case, place: _Table, anywhere: _Table) -> tuple[Row, ...]:
        """Return the earlier rows that are tried for a case."""
        role, name = case
        cases = [case] if name == _EVERY or not self._has_keys(name) else [case, (role, _EVERY)]
        tables = (place,) if place is anywhere else (place, anywhere)
        return tuple(row for table in tables for each in cases for row in table.get(each, ()))

    def _has_keys(self, name: str) -> bool:
        """Return whether rows of `any` message match this name too: a message without the key matches by name only."""
        fields = self._targets.fields(name)
        return all(key in fields for key in self.session.keys)


class _Look:
    """One row, compared with the rows before it. A row counts as covered only where that is certain."""

    def __init__(self, row: Row, subjects: Subjects, patience: CheckBudget) -> None:
        self._row = row
        self._subjects = subjects
        self._patience = patience
        self._own = [] if row.when is None else [(row.when, True)]
        self._read = frozenset() if row.when is None else frozenset(read_by(row.when))
        self._known: dict[tuple[str, ...], tuple[Row, ...]] = {}

    @cached_property
    def is_impossible(self) -> bool:
        """Whether the row's own condition never holds."""
        return never(self._own, self._subjects)

    def takers(self, earlier: tuple[Row, ...]) -> tuple[Row, ...]:
        """Return the earlier row that takes everything that this one could, or several that do together, or ()."""
        key = tuple(row.path for row in earlier)
        if key not in self._known:
            self._known[key] = self._takers(earlier)
        return self._known[key]

    def _takers(self, earlier: tuple[Row, ...]) -> tuple[Row, ...]:
        plain = [row for row in earlier if _is_always(row.when)]
        if plain:
            return (plain[0],)
        same = [row for row in earlier if row.when == self._row.when]
        if same:
            return (same[0],)
        sure = [row for row in earlier if self._is_sure(row.when)] if self._patience.is_left else []
        for some in (*((row,) for row in sure), tuple(sure)):
            refused = [(row.when, False) for row in some if row.when is not None]
            if some and self._patience.lasts() and never([*self._own, *refused], self._subjects):
                return self._needed(some)
        return ()

    def _needed(self, rows: tuple[Row, ...]) -> tuple[Row, ...]:
        """Return a subset of the rows that is enough to cover the row."""
        for row in rows if len(rows) > 1 else ():
            others = tuple(each for each in rows if each is not row)
            refused = [(each.when, False) for each in others if each.when is not None]
            if never([*self._own, *refused], self._subjects):
                return self._needed(others)
        return rows

    def _is_sure(self, when: Expression | None) -> bool:
        """Return whether the values that another row's condition reads are certainly there where this row's holds."""
        return when is None or are_there((when,), self._subjects, self._read)


def _take(rows: list[Row], row: Row) -> None:
    """Add a row to the rows that are tried for a case.

    Rows after an unconditional one are left out; of very many rows only the first are kept.
    """
    is_full = len(rows) >= _MAX_EARLIER
    if not (rows and _is_always(rows[-1].when)) and (_is_always(row.when) or not is_full):
        rows.append(row)


def _is_final(row: Row) -> bool:
    return not (isinstance(row.effect, Violates) and row.effect.is_lenient)


def _is_always(when: Expression | None) -> bool:
    return when is None or truth_of(when) is True
