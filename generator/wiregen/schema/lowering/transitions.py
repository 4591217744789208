"""Sessions in the schema: transitions in text order, with unchanged names of states, roles, targets and variables."""

from __future__ import annotations

from typing import Protocol as Interface
from typing import TypeVar

from wiregen.runtime.schema import sessions as s
from wiregen.schema import model as m

__all__ = ["lower_sessions", "rules_of"]


_Part = TypeVar("_Part")


class _Lower(Interface):
    """Lowers a part of the model."""

    def __call__(self, part: _Part) -> _Part: ...


def lower_sessions(protocol: m.Protocol, lower: _Lower) -> dict[str, s.Session]:
    """Return the sessions by name; `lower` lowers their parts."""
    return {session.name: _session(session, lower) for session in protocol.sessions}


def rules_of(protocol: m.Protocol) -> dict[str, str]:
    """Return the texts of the rules that violations refer to, by name."""
    lines: list[m.Row | m.Timer] = []
    for session in protocol.sessions:
        lines += (*session.rows, *session.timers)
    named = {line.effect.name for line in lines if isinstance(line.effect, m.Violates)} | {protocol.role_rule}
    return {rule.name: rule.text for rule in protocol.rules if rule.name in named}


def _session(session: m.Session, lower: _Lower) -> s.Session:
    return s.Session(
        keys=session.keys,
        per_sender=session.per_sender,
        roles=session.roles,
        variables=tuple(map(lower, session.variables)),
        states=tuple(state.name for state in session.states),
        rows=tuple(map(lower, session.rows)),
        timers=tuple(map(lower, session.timers)),
    )
