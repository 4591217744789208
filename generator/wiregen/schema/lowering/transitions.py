"""Sessions in the schema: transitions in text order, with the names of states, roles, targets and variables as they stand."""

from __future__ import annotations

from collections.abc import Callable
from typing import assert_never

from wiregen.runtime.schema import sessions as s
from wiregen.runtime.schema.types import Type
from wiregen.schema import model as m
from wiregen.schema.lowering.expressions import unnamed

__all__ = ["lower_sessions", "rules_of"]


def lower_sessions(protocol: m.Protocol, type_of: Callable[[m.Type], Type]) -> dict[str, s.Session]:
    """Return the sessions by name; `type_of` lowers the type of a variable."""
    return {session.name: _session(session, type_of) for session in protocol.sessions}


def rules_of(protocol: m.Protocol) -> dict[str, str]:
    """Return what the rules say that a violation names."""
    lines: list[m.Row | m.Timer] = []
    for session in protocol.sessions:
        lines += (*session.rows, *session.timers)
    named = {line.effect.name for line in lines if isinstance(line.effect, m.Violates)} | {protocol.role_rule}
    return {rule.name: rule.text for rule in protocol.rules if rule.name in named}


def _session(session: m.Session, type_of: Callable[[m.Type], Type]) -> s.Session:
    return s.Session(
        keys=session.keys,
        per_sender=session.per_sender,
        roles=session.roles,
        variables=tuple(
            s.Variable(
                name=variable.name,
                type=type_of(variable.type),
                is_list=variable.is_list,
                initial=unnamed(variable.initial),
                is_option=variable.is_option,
            )
            for variable in session.variables
        ),
        states=tuple(state.name for state in session.states),
        rows=tuple(
            s.Transition(row.states, row.role, row.targets, unnamed(row.when), _effect(row.effect))
            for row in session.rows
        ),
        timers=tuple(
            s.Timer(timer.states, unnamed(timer.after), _effect(timer.effect)) for timer in session.timers
        ),
    )


def _effect(effect: m.Effect) -> s.Effect:
    match effect:
        case m.Go():
            updates = tuple(s.Update(each.variable, unnamed(each.value)) for each in effect.updates)
            return s.Go(effect.state, updates)
        case m.Violates():
            return s.Violates(effect.name, effect.lenient)
        case _:
            assert_never(effect)
