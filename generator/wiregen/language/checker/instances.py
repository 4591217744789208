"""State that a connection keeps for its whole life: lists that only grow, instances and entries that are never freed.

A session without `per` lives as long as its connection, and may never end. An instance of a key is freed in two ways,
the only ones in the runtime. It is again in the first state with the first values; or it is in a state without
transitions out of it that changes no variable, and is evicted when memory is needed.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from functools import cached_property
from itertools import takewhile
from typing import TypeAlias

from wiregen.language.checker.conditions import are_there, never, read_by
from wiregen.language.checker.inspection import Inspection
from wiregen.language.checker.intervals import intersected
from wiregen.language.checker.states import States
from wiregen.language.checker.updates import brings_back, grows, line_updates, lines, shrinks
from wiregen.language.checker.value_ranges import Subjects, numbers_of
from wiregen.schema.model import (
    Context,
    Expression,
    FieldReference,
    Go,
    Operation,
    Row,
    Session,
    Timer,
    Update,
    VariableReference,
    Violates,
)
from wiregen.schema.values import truth_of

__all__ = ["RULES"]

_Node: TypeAlias = tuple[str, frozenset[str]]
"""A state, and the variables whose values differ from their first ones in it."""
_Move: TypeAlias = tuple[str | None, frozenset[str], frozenset[str]]
"""The state that a row leads to (None: it stays), the variables that it changes, and those that it may reset."""
_MAX_NODES = 500


class _Lives:
    """The states that an instance of a key can reach."""

    def __init__(self, inspection: Inspection, session: Session) -> None:
        self._states = States(session, inspection.targets, inspection.protocol.roles)
        self._session = session
        self._subjects = inspection.subjects(session)
        self._variables = {variable.name: variable for variable in session.variables}
        self.first = session.states[0].name

    @cached_property
    def trapped(self) -> tuple[_Node, ...]:
        """The nodes from which an instance is never freed, in the order in which they are found."""
        before: dict[_Node, list[_Node]] = {}
        for node, others in self._followers.items():
            for other in others:
                before.setdefault(other, []).append(node)
        freed = {node for node in self._followers if self._is_freed(node)}
        waiting = list(freed)
        while waiting:
            new = [each for each in before.get(waiting.pop(), ()) if each not in freed]
            freed.update(new)
            waiting += new
        return tuple(node for node in self._followers if node not in freed)

    def ends_outside(self, state: str) -> bool:
        """Return whether an instance in a state goes on to another state in which it ends."""
        reached = self._states.reachable_from(state) - {state}
        return self._states.leaves(state) and any(self._states.ends(other) for other in reached)

    @cached_property
    def _followers(self) -> Mapping[_Node, tuple[_Node, ...]]:
        found: dict[_Node, tuple[_Node, ...]] = {}
        waiting: list[_Node] = [(self.first, frozenset())]
        while waiting:
            node = waiting.pop()
            if node not in found:
                is_crowded = len(found) > _MAX_NODES
                found[node] = tuple(dict.fromkeys(self._after(node, is_crowded=is_crowded)))
                waiting += found[node]
        return found

    def _after(self, node: _Node, *, is_crowded: bool) -> Iterable[_Node]:
        """Yield the nodes after a node; if there are very many (`is_crowded`), only their states are kept apart."""
        state, changed = node
        for target, dirtied, cleaned in self._moves[state]:
            yield (target or state), frozenset() if is_crowded else (changed - cleaned) | dirtied

    def _is_freed(self, node: _Node) -> bool:
        state, changed = node
        return self._states.ends(state) or (state == self.first and not changed)

    def _is_taken(self, line: Row | Timer) -> bool:
        if not isinstance(line.effect, Go):
            return False
        when = line.when if isinstance(line, Row) else None
        return when is None or not never([(when, True)], self._subjects.of(line))

    @cached_property
    def _moves(self) -> Mapping[str, tuple[_Move, ...]]:
        """The moves that are possible in each state."""
        found: dict[str, dict[_Move, None]] = {state.name: {} for state in self._session.states}
        for line in lines(self._session):
            if not self._is_taken(line):
                continue
            move = self._move(line)
            for state in line.states or found:
                found[state][move] = None
        return {state: tuple(moves) for state, moves in found.items()}

    def _move(self, line: Row | Timer) -> _Move:
        assert isinstance(line.effect, Go)
        subjects = self._subjects.of(line)
        known = [each for each in line.effect.updates if each.variable in self._variables]
        cleaned = {
            each.variable
            for each in known
            if brings_back(each, self._variables[each.variable], subjects)
            and not self._is_held(line, each, subjects)
        }
        dirtied = frozenset(each.variable for each in known) - cleaned
        return line.effect.state, dirtied, frozenset(cleaned)

    def _is_held(self, line: Row | Timer, update: Update, subjects: Subjects) -> bool:
        """Return whether the rows keep a field from resetting a variable, as in `when n < last violates …`."""
        variable = VariableReference(name=update.variable)
        found, own = numbers_of(update.value, subjects), numbers_of(variable, subjects)
        if not isinstance(line, Row) or not isinstance(update.value, FieldReference):
            return False
        if found is None or own is None or intersected(found, own) != found:
            return False  # not a number, or it wraps around
        first = self._variables[update.variable].initial
        conditions: list[tuple[Expression, bool]] = [
            (Operation(operator="==", left=update.value, right=first), True),
            (Operation(operator="!=", left=variable, right=first), True),
        ]
        if line.when is not None:
            conditions.append((line.when, True))
        return never([*conditions, *self._refused_before(line, subjects)], subjects)

    def _refused_before(self, line: Row, subjects: Subjects) -> Iterator[tuple[Expression, bool]]:
        """Yield the conditions under which earlier rows take everything that a row could take."""
        read = frozenset() if line.when is None else frozenset(read_by(line.when))
        for row in takewhile(lambda each: each is not line, self._session.rows):
            if row.when is not None and self._covers(row, line) and are_there((row.when,), subjects, read):
                yield row.when, False

    def _covers(self, row: Row, line: Row) -> bool:
        """Return whether a row is tried wherever another one is, and is final where it is taken."""
        if row.role not in (None, line.role) or (isinstance(row.effect, Violates) and row.effect.is_lenient):
            return False
        if row.states is not None and not set(
            line.states or (each.name for each in self._session.states)
        ) <= set(row.states):
            return False
        return row.targets == line.targets or (
            line.targets is not None and row.targets is not None and set(line.targets) <= set(row.targets)
        )


def _list_only_grows(inspection: Inspection) -> None:
    for session in inspection.protocol.sessions:
        subjects = inspection.subjects(session)
        updates = list(line_updates(session))
        grown = {update.variable: line for line, update in updates if grows(update)}
        shrunk = {update.variable for line, update in updates if shrinks(update, subjects.of(line))}
        for variable in session.variables:
            growing = [line for line, update in updates if update.variable == variable.name and grows(update)]
            if not variable.is_list or variable.name not in grown or variable.name in shrunk:
                continue
            if not _end_frees(inspection, session, growing):
                inspection.error(
                    "WG4020",
                    f"the list `{variable.name}` only grows",
                    inspection.place(variable.path, "name"),
                    "never becomes shorter",
                    inspection.also(grown[variable.name].path, "an item is added here"),
                    help_="remove entries that are no longer needed: `drop`, `remove` or `= []`",
                )


def _end_frees(inspection: Inspection, session: Session, growing: list[Row | Timer]) -> bool:
    """Return whether a list is freed with the instance of its key: every state where it grows leads to an end."""
    if not session.keys or not session.states:
        return False
    lives = _Lives(inspection, session)
    every = tuple(state.name for state in session.states)
    return all(lives.ends_outside(state) for line in growing for state in line.states or every)


def _instance_never_freed(inspection: Inspection) -> None:
    for session in inspection.protocol.sessions:
        if not session.keys or not session.states:
            continue
        lives = _Lives(inspection, session)
        if not lives.trapped:
            continue
        first, keys = lives.first, ", ".join(session.keys)
        dirty = next((sorted(changed) for state, changed in lives.trapped if state == first), [])
        changed = next((each for each in session.variables if each.name in dirty), None)
        inspection.error(
            "WG4022",
            f"an instance of session `{session.name}` may never be freed: {_trap(session, lives)}",
            inspection.place(session.path, "name"),
            f"one per value of `{keys}`, until the connection ends",
            (
                None
                if changed is None
                else inspection.also(changed.path, f"changed, and not reset to this in `{first}`")
            ),
            help_=f"return to `{first}` with the initial values of all variables, or end in a state without outgoing transitions; "
            "if no message does that, use a timer: `after limits.idle => …`",
        )


def _trap(session: Session, lives: _Lives) -> str:
    """Return the state in which an instance is stuck, as text."""
    states = {state for state, _ in lives.trapped}
    names = [state.name for state in session.states if state.name in states]
    if lives.first in states:
        return f"in `{lives.first}` its variables do not have their initial values"
    return f"from `{names[0]}` it never reaches a state in which it is freed"


def _entry_never_cleared(inspection: Inspection) -> None:
    for context in inspection.protocol.contexts:
        if context.keys and context.settings and not _is_cleared(inspection, context):
            inspection.error(
                "WG4006",
                f"the entries of context `{context.name}` are never cleared",
                inspection.place(context.path, "name"),
                f"one per value of `{', '.join(context.keys)}`, until the connection ends",
                help_="add `clear Message` for the last message that needs the entry",
            )


def _is_cleared(inspection: Inspection, context: Context) -> bool:
    """Return whether a message clears entries: of any role for a context of one role, else of a role that sets them."""
    setting = {role for each in context.settings for role in inspection.targets.roles(each.target)}
    clearing = {
        role
        for each in context.clearings
        if each.when is None or truth_of(each.when) is not False
        for target in each.targets
        for role in inspection.targets.roles(target)
    }
    return bool(clearing if context.role is not None else clearing & setting)


RULES = (_list_only_grows, _instance_never_freed, _entry_never_cleared)
