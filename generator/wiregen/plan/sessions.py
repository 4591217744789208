"""Sessions in the careful plan: rows in text order, with the names of states, roles, targets and variables as they stand."""

from __future__ import annotations

from typing import Any, Protocol, assert_never

from wiregen import model as m

__all__ = ["lower_sessions", "rules_of"]

Plain = Any


class _Lowering(Protocol):
    """What lowers the types and the expressions of a row."""

    def type(self, type_: m.Type) -> Plain: ...

    def expression(self, expression: m.Expression) -> Plain: ...

    def optional(self, expression: m.Expression | None) -> Plain: ...


def lower_sessions(protocol: m.Protocol, lowering: _Lowering) -> dict[str, Plain]:
    """Return the sessions by name."""
    return {session.name: _session(session, lowering) for session in protocol.sessions}


def rules_of(protocol: m.Protocol) -> dict[str, str]:
    """Return what the rules say that a violation names."""
    lines: list[m.Row | m.Timer] = []
    for session in protocol.sessions:
        lines += (*session.rows, *session.timers)
    named = {line.effect.name for line in lines if isinstance(line.effect, m.Violates)} | {protocol.role_rule}
    return {rule.name: rule.text for rule in protocol.rules if rule.name in named}


def _session(session: m.Session, lowering: _Lowering) -> dict[str, Plain]:
    return {
        "keys": session.keys,
        "per_sender": session.per_sender,
        "roles": session.roles,
        "variables": tuple(
            (
                variable.name,
                lowering.type(variable.type),
                variable.is_list,
                lowering.expression(variable.initial),
                variable.is_option,
            )
            for variable in session.variables
        ),
        "states": tuple(state.name for state in session.states),
        "rows": tuple(
            (row.states, row.role, row.targets, lowering.optional(row.when), _effect(row.effect, lowering))
            for row in session.rows
        ),
        "timers": tuple(
            (timer.states, lowering.expression(timer.after), _effect(timer.effect, lowering))
            for timer in session.timers
        ),
    }


def _effect(effect: m.Effect, lowering: _Lowering) -> Plain:
    match effect:
        case m.Go():
            updates = tuple((each.variable, lowering.expression(each.value)) for each in effect.updates)
            return ("go", effect.state, updates)
        case m.Violates():
            return ("violates", effect.name, effect.lenient)
        case _:
            assert_never(effect)
