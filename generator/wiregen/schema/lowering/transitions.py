"""Sessions in the schema: transitions in text order, with the names of states, roles, targets and variables as they stand."""

from __future__ import annotations

from typing import Protocol as Interface
from typing import assert_never

from wiregen.runtime.schema import sessions as s
from wiregen.runtime.schema.expressions import Expression
from wiregen.runtime.schema.types import Type
from wiregen.schema import model as m

__all__ = ["lower_sessions", "rules_of"]


class _Lowering(Interface):
    """What lowers the types and the expressions of a transition."""

    def type(self, type_: m.Type) -> Type: ...

    def expression(self, expression: m.Expression) -> Expression: ...

    def optional(self, expression: m.Expression | None) -> Expression | None: ...


def lower_sessions(protocol: m.Protocol, lowering: _Lowering) -> dict[str, s.Session]:
    """Return the sessions by name."""
    return {session.name: _session(session, lowering) for session in protocol.sessions}


def rules_of(protocol: m.Protocol) -> dict[str, str]:
    """Return what the rules say that a violation names."""
    lines: list[m.Row | m.Timer] = []
    for session in protocol.sessions:
        lines += (*session.rows, *session.timers)
    named = {line.effect.name for line in lines if isinstance(line.effect, m.Violates)} | {protocol.role_rule}
    return {rule.name: rule.text for rule in protocol.rules if rule.name in named}


def _session(session: m.Session, lowering: _Lowering) -> s.Session:
    return s.Session(
        keys=session.keys,
        per_sender=session.per_sender,
        roles=session.roles,
        variables=tuple(
            s.Variable(
                name=variable.name,
                type=lowering.type(variable.type),
                is_list=variable.is_list,
                initial=lowering.expression(variable.initial),
                is_option=variable.is_option,
            )
            for variable in session.variables
        ),
        states=tuple(state.name for state in session.states),
        rows=tuple(
            s.Transition(
                row.states, row.role, row.targets, lowering.optional(row.when), _effect(row.effect, lowering)
            )
            for row in session.rows
        ),
        timers=tuple(
            s.Timer(timer.states, lowering.expression(timer.after), _effect(timer.effect, lowering))
            for timer in session.timers
        ),
    )


def _effect(effect: m.Effect, lowering: _Lowering) -> s.Effect:
    match effect:
        case m.Go():
            updates = tuple(
                s.Update(each.variable, lowering.expression(each.value)) for each in effect.updates
            )
            return s.Go(effect.state, updates)
        case m.Violates():
            return s.Violates(effect.name, effect.lenient)
        case _:
            assert_never(effect)
