"""The distance from a connection state to a goal: the facts that the goal needs, and the variables in the
conditions of its row.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from dataclasses import dataclass

from wiregen.language.examples.connection_state import Atom, Setup
from wiregen.language.examples.trace import Goal
from wiregen.runtime.schema.expressions import ContextReference, Expression, VariableReference
from wiregen.runtime.schema.node import nodes_in
from wiregen.runtime.schema.sessions import Transition

__all__ = ["Need", "facts_in", "need_of"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Need:
    """The needs of a goal. `slots`: the places of the variables that decide whether its row is taken."""

    facts: frozenset[Hashable]
    session: str = ""
    state: str = ""
    slots: tuple[int, ...] = ()

    def view(self, atoms: tuple[Atom, ...]) -> Hashable:
        """Return the values of these variables in a connection state."""
        return frozenset(
            tuple(values[slot] for slot in self.slots)
            for name, state, values in _instances(atoms)
            if (name, state) == (self.session, self.state)
        )


def facts_in(atoms: tuple[Atom, ...]) -> Iterator[Hashable]:
    """Yield the states of the sessions, and the contexts and reassemblies that are not empty."""
    yield from ((name, state) for name, state, _ in _instances(atoms))
    for atom in atoms:
        match atom:
            case (str() as name, int() as count, frozenset()) if count:
                yield name


def _instances(atoms: tuple[Atom, ...]) -> Iterator[tuple[str, str, tuple[Hashable, ...]]]:
    for atom in atoms:
        match atom:
            case (str() as name, str() as state, _, tuple() as values):
                yield name, state, values


def need_of(setup: Setup, goal: Goal) -> Need:
    """Return the needs of a goal: a session in its state, and the contexts that its row names."""
    session = setup.schema.sessions.get(goal.session)
    if session is None:
        return Need(facts=frozenset())
    place = (goal.session, goal.state)
    if goal.kind != "row":
        return Need(facts=frozenset({place}), session=goal.session, state=goal.state)
    asked = tuple(_asked(session.rows, goal))
    names = {node.name for node in nodes_in(asked) if isinstance(node, VariableReference)}
    slots = tuple(slot for slot, each in enumerate(session.variables) if each.name in names)
    when = session.rows[goal.number].when
    contexts = (node.context for node in nodes_in(when) if isinstance(node, ContextReference))
    return Need(facts=frozenset({place, *contexts}), session=goal.session, state=goal.state, slots=slots)


def _asked(rows: tuple[Transition, ...], goal: Goal) -> Iterator[Expression | None]:
    """Yield the conditions of a goal's row, and of the rows above it that may be taken instead."""
    targets = rows[goal.number].targets
    for row in rows[: goal.number + 1]:
        is_here = row.states is None or goal.state in row.states
        if is_here and (targets is None or row.targets is None or set(targets) & set(row.targets)):
            yield row.when
