"""State diagrams as data: the transitions and timers of a session as nodes and edges, without a layout."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal, TypeAlias

from wiregen.language.spelling import expression_text
from wiregen.schema import model as m

__all__ = ["Arrow", "DrawnState", "Edge", "StateDiagram", "state_diagrams"]

EdgeKind: TypeAlias = Literal["row", "timer"]


@dataclass(frozen=True, slots=True, kw_only=True)
class DrawnState:
    """A state. `is_final`: no allowed transition leaves it."""

    name: str
    doc: str
    is_initial: bool
    is_final: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Edge:
    """A transition or timer in one state; one that applies in several states is as many edges.

    `role` None: any role; of a timer always None. `messages` None: every message that the session handles.
    `guard` and `updates`: the text of the .wire file, "" and () where there are none. `after`: of a timer, in
    milliseconds. `violation`: its name; the state does not change then. `is_lenient`: the violation is only
    recorded, unless strict. `path`: of the transition in the model.
    """

    source: str
    target: str
    kind: EdgeKind
    role: str | None
    messages: tuple[str, ...] | None
    guard: str
    after: str
    updates: tuple[str, ...]
    violation: str | None
    is_lenient: bool
    doc: str
    path: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Arrow:
    """All allowed edges from one state to another (or the same), to be drawn as one line."""

    source: str
    target: str
    edges: tuple[Edge, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class StateDiagram:
    """One session. `keys`: one instance for each value of these fields.

    `per_sender`: and for each direction.
    """

    session: str
    doc: str
    keys: tuple[str, ...]
    per_sender: bool
    roles: tuple[str, ...]
    nodes: tuple[DrawnState, ...]
    edges: tuple[Edge, ...]

    @property
    def arrows(self) -> tuple[Arrow, ...]:
        """Return the allowed edges, grouped by source and target, in the order of the text."""
        groups: dict[tuple[str, str], list[Edge]] = {}
        for edge in self.edges:
            if edge.violation is None:
                groups.setdefault((edge.source, edge.target), []).append(edge)
        return tuple(
            Arrow(source=source, target=target, edges=tuple(edges))
            for (source, target), edges in groups.items()
        )

    @property
    def violations(self) -> tuple[Edge, ...]:
        """Return the edges that are violations."""
        return tuple(edge for edge in self.edges if edge.violation is not None)


def state_diagrams(protocol: m.Protocol) -> tuple[StateDiagram, ...]:
    """Return a diagram for each session, in the order of the text."""
    return tuple(_diagram(session, protocol.roles) for session in protocol.sessions)


def _diagram(session: m.Session, roles: tuple[str, ...]) -> StateDiagram:
    edges = tuple(_edges(session))
    left = {edge.source for edge in edges if edge.violation is None and edge.target != edge.source}
    nodes = (
        DrawnState(name=state.name, doc=state.doc, is_initial=number == 0, is_final=state.name not in left)
        for number, state in enumerate(session.states)
    )
    return StateDiagram(
        session=session.name,
        doc=session.doc,
        keys=session.keys,
        per_sender=session.per_sender,
        roles=session.roles or roles,
        nodes=tuple(nodes),
        edges=edges,
    )


def _edges(session: m.Session) -> Iterator[Edge]:
    for state in (each.name for each in session.states):
        for row in session.rows:
            if row.states is None or state in row.states:
                guard = "" if row.when is None else expression_text(row.when)
                yield _edge(state, row, role=row.role, messages=row.targets, guard=guard)
        for timer in session.timers:
            if timer.states is None or state in timer.states:
                yield _edge(state, timer, after=expression_text(timer.after))


def _edge(
    state: str,
    what: m.Row | m.Timer,
    *,
    role: str | None = None,
    messages: tuple[str, ...] | None = (),
    guard: str = "",
    after: str = "",
) -> Edge:
    effect = what.effect
    updates = effect.updates if isinstance(effect, m.Go) else ()
    return Edge(
        source=state,
        target=(effect.state if isinstance(effect, m.Go) else None) or state,
        kind="timer" if isinstance(what, m.Timer) else "row",
        role=role,
        messages=messages,
        guard=guard,
        after=after,
        updates=tuple(f"{each.variable} = {expression_text(each.value)}" for each in updates),
        violation=effect.name if isinstance(effect, m.Violates) else None,
        is_lenient=isinstance(effect, m.Violates) and effect.is_lenient,
        doc=what.doc,
        path=what.path,
    )
