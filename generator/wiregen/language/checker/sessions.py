"""Sessions that cannot proceed, rows that are never taken, and state that grows without bound."""

from __future__ import annotations

from collections.abc import Iterator

from wiregen.language.checker.fields import fault_of_value
from wiregen.language.checker.inspection import Inspection
from wiregen.language.checker.states import States
from wiregen.language.diagnostics import Label
from wiregen.schema.model import (
    Expression,
    Go,
    LimitReference,
    ListOf,
    Null,
    Range,
    Row,
    Session,
    Timer,
    VariableReference,
    VariableType,
)
from wiregen.schema.walk import nested_expressions

__all__ = ["RULES"]


def _state_unreachable(inspection: Inspection) -> None:
    for states in _sessions(inspection):
        for state in states.session.states:
            if state.name not in states.reachable:
                inspection.error(
                    "WG4010",
                    f"no transition of session `{states.session.name}` leads to state `{state.name}`",
                    inspection.place(state.path, "name"),
                    "never reached",
                    help_=f"add a transition that leads to it, `=> {state.name}`, or remove it",
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
                        f"the {row.role} never sends `{name}`, but this transition accepts it",
                        inspection.place(row.path),
                        f"sent by the {row.role}",
                        _declared(inspection, name),
                        help_=f"write `{' or '.join(senders)}` here, or refuse it with `violates`",
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
                        f"`{name}` is sent by the {before.role} in one transition and by the {row.role} in another",
                        inspection.place(row.path),
                        f"sent by the {row.role}",
                        inspection.also(before.path, f"sent by the {before.role}"),
                        help_="give each message to one role, because the messages identify the roles of the session",
                    )


def _session_cannot_begin(inspection: Inspection) -> None:
    for session in inspection.protocol.sessions:
        if session.states and not any(_begins(line, session.states[0].name) for line in _lines(session)):
            inspection.error(
                "WG4015",
                f"`{session.states[0].name}`, the initial state of session `{session.name}`, accepts no message",
                inspection.place(session.states[0].path, "name"),
                "accepts no message",
                help_="write the initial state first, and add a transition that accepts a message",
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
                    f"no message of session `{session.name}` has the key `{key}`",
                    inspection.place(session.path, "keys"),
                    "unknown key",
                    help_="use a field of its messages as the key, or remove `per`",
                )


def _first_value_outside_type(inspection: Inspection) -> None:
    for session in inspection.protocol.sessions:
        for variable in session.variables:
            initial = variable.initial
            values = initial.items if isinstance(initial, ListOf) else (initial,)
            faults = (_fault_of_first(each, variable.type, inspection) for each in values)
            fault = next((each for each in faults if each is not None), None)
            if fault is not None:
                inspection.error(
                    "WG4017",
                    f"the initial value of `{variable.name}` is outside of its type",
                    inspection.place(variable.path, "value"),
                    fault,
                )


def _fault_of_first(value: Expression, type_: VariableType, inspection: Inspection) -> str | None:
    if isinstance(value, Null | Range):
        return "a variable has no null" if isinstance(value, Null) else "a range is not a value"
    return fault_of_value(value, type_, inspection.declared)


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
                    f"the value of option `{option.name}` is outside of its type",
                    inspection.place(f"{conversation.path}.{option.name}", "value"),
                    fault,
                )


def _timer_without_limit(inspection: Inspection) -> None:
    for session in inspection.protocol.sessions:
        for timer in session.timers:
            if not any(_is_settable(each) for each in nested_expressions(timer.after)):
                inspection.warning(
                    "WG4021",
                    "the time of this timer is a plain number",
                    inspection.place(timer.path),
                    "cannot be configured",
                    help_="declare a limit, `limits { idle = 30 s }`, and write `after limits.idle`",
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
