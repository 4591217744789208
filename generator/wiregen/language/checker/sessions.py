"""Sessions that cannot proceed, rows that are never taken, and state that grows without bound."""

from __future__ import annotations

from collections.abc import Iterator

from wiregen.language.checker.fields import fault_of_value
from wiregen.language.checker.inspection import Inspection
from wiregen.language.checker.states import States
from wiregen.language.diagnostics import Label
from wiregen.schema.model import (
    Go,
    LimitReference,
    Row,
    Session,
    Timer,
    VariableReference,
)
from wiregen.schema.walk import nested_expressions

__all__ = ["RULES"]


def _state_unreachable(inspection: Inspection) -> None:
    for states in _sessions(inspection):
        for state in states.session.states:
            if state.name not in states.reachable:
                inspection.error(
                    "WG4010",
                    f"no row of session `{states.session.name}` leads to state `{state.name}`",
                    inspection.place(state.path, "name"),
                    "never reached",
                    help_="`=> state` behind a row leads there",
                )


def _message_never_from_role(inspection: Inspection) -> None:
    for session in inspection.protocol.sessions:
        for row in session.rows:
            if session.roles or row.role is None or not isinstance(row.effect, Go):
                continue
            for name in row.targets or ():
                senders = inspection.targets.roles(name)
                if row.role not in senders:
                    inspection.error(
                        "WG4013",
                        f"`{name}` is never sent by the {row.role}, and this row calls it legal",
                        inspection.place(row.path),
                        f"from the {row.role}",
                        _declared(inspection, name),
                        help_=f"write `{' or '.join(senders)}` here, or `violates` behind it",
                    )


def _message_of_both_roles(inspection: Inspection) -> None:
    for session in inspection.protocol.sessions:
        first: dict[str, Row] = {}
        for row in session.rows if session.roles else ():
            for name in row.targets or () if row.role is not None else ():
                before = first.setdefault(name, row)
                if before.role != row.role:
                    inspection.error(
                        "WG4014",
                        f"`{name}` is the {before.role}'s in one row and the {row.role}'s in another",
                        inspection.place(row.path),
                        f"the {row.role}'s",
                        inspection.also(before.path, f"the {before.role}'s"),
                        help_="with roles of its own, a session tells the sides apart by their messages",
                    )


def _session_cannot_begin(inspection: Inspection) -> None:
    for session in inspection.protocol.sessions:
        if session.states and not any(_begins(line, session.states[0].name) for line in _lines(session)):
            inspection.error(
                "WG4015",
                f"nothing is legal in `{session.states[0].name}`, the first state of session `{session.name}`",
                inspection.place(session.states[0].path, "name"),
                "ends before it begins",
                help_="the first state named is the first state; some row of it has to be legal",
            )


def _begins(line: Row | Timer, state: str) -> bool:
    return isinstance(line.effect, Go) and (line.states is None or state in line.states)


def _key_of_no_message(inspection: Inspection) -> None:
    for session in inspection.protocol.sessions:
        named = {name for row in session.rows for name in row.targets or ()}
        fields = {name for target in named for name in inspection.targets.fields(target)}
        for key in session.keys:
            if named and key not in fields:
                inspection.error(
                    "WG4016",
                    f"no message of session `{session.name}` has the field `{key}`",
                    inspection.place(session.path, "keys"),
                    "no such key",
                    help_="there is one instance for each value of the key, so some row has to name a message that has it",
                )


def _first_value_outside_type(inspection: Inspection) -> None:
    for session in inspection.protocol.sessions:
        for variable in session.variables:
            fault = (
                None
                if variable.is_list
                else fault_of_value(variable.initial, variable.type, inspection.declared)
            )
            if fault is not None:
                inspection.error(
                    "WG4017",
                    f"the first value of `{variable.name}` is not one of its type",
                    inspection.place(variable.path, "value"),
                    fault,
                )


def _option_outside_type(inspection: Inspection) -> None:
    """Report options that a conversation sets to a value outside their type."""
    variables = (each for session in inspection.protocol.sessions for each in session.variables)
    types = {each.name: each.type for each in variables if each.is_option}
    for conversation in inspection.protocol.conversations:
        for option in conversation.options:
            fault = fault_of_value(option.value, types[option.name], inspection.declared)
            if fault is not None:
                inspection.error(
                    "WG4017",
                    f"`{option.name}` is set to what is not one of its type",
                    inspection.place(f"{conversation.path}.{option.name}", "value"),
                    fault,
                )


def _timer_without_limit(inspection: Inspection) -> None:
    for session in inspection.protocol.sessions:
        for timer in session.timers:
            if not any(_is_settable(each) for each in nested_expressions(timer.after)):
                inspection.warning(
                    "WG4021",
                    "the time of this timer is written into the session",
                    inspection.place(timer.path),
                    "no connection can set it",
                    help_="name it: `limits { idle = 30 s }`, and `after limits.idle`",
                )


def _is_settable(expression: object) -> bool:
    return isinstance(expression, LimitReference | VariableReference)


def _declared(inspection: Inspection, name: str) -> Label | None:
    found = inspection.targets.by_name.get(name)
    return None if found is None else inspection.also(found.path, "declared here", "name")


def _sessions(inspection: Inspection) -> Iterator[States]:
    for session in inspection.protocol.sessions:
        yield States(session, inspection.targets, inspection.protocol.roles)


def _lines(session: Session) -> tuple[Row | Timer, ...]:
    return (*session.rows, *session.timers)


RULES = (
    _state_unreachable,
    _message_never_from_role,
    _message_of_both_roles,
    _session_cannot_begin,
    _key_of_no_message,
    _first_value_outside_type,
    _option_outside_type,
    _timer_without_limit,
)
