"""Sessions that cannot proceed, rows that are never taken, and what grows without an end."""

from __future__ import annotations

from collections.abc import Iterator

from wiregen.checker.fields import fault_of_value
from wiregen.checker.inspection import Inspection
from wiregen.checker.states import States
from wiregen.diagnostics import Label
from wiregen.model import (
    Call,
    Go,
    LimitReference,
    Row,
    Session,
    Timer,
    Update,
    VariableReference,
)
from wiregen.values import truth_of
from wiregen.walk import nested_expressions

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


def _row_never_taken(inspection: Inspection) -> None:
    for states in _sessions(inspection):
        for row, earlier in states.shadowed():
            inspection.error(
                "WG4011",
                "this row is never taken",
                inspection.place(row.path),
                "nothing is left for it",
                inspection.also(earlier.path, "takes it first"),
                help_="rows are tried from top to bottom; the one with a condition stands first",
            )


def _condition_never_holds(inspection: Inspection) -> None:
    for session in inspection.protocol.sessions:
        for row in session.rows:
            if row.when is not None and truth_of(row.when) is False:
                inspection.error(
                    "WG4012", "this condition never holds", inspection.place(row.path, "when"), "always false"
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


def _list_only_grows(inspection: Inspection) -> None:
    for session in inspection.protocol.sessions:
        updates = list(_updates(session))
        grown = {update.variable for update in updates if _grows(update)}
        shrunk = {update.variable for update in updates if not _grows(update)}
        for variable in session.variables:
            if variable.is_list and variable.name in grown - shrunk:
                inspection.warning(
                    "WG4020",
                    f"`{variable.name}` grows as long as the session lasts",
                    inspection.place(variable.path, "name"),
                    "pushed to, and never dropped from",
                    help_="`drop`, `remove` or `= []` where an entry has served",
                )


def _grows(update: Update) -> bool:
    """Tell whether a variable only becomes longer: something is pushed to what it was."""
    value = update.value
    while isinstance(value, Call) and value.function == "push":
        value = value.arguments[0]
    return (
        isinstance(value, VariableReference) and value is not update.value and value.name == update.variable
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


def _instance_never_ends(inspection: Inspection) -> None:
    for states in _sessions(inspection):
        session = states.session
        if not session.keys or not session.states or not states.leaves(session.states[0].name):
            continue
        if not _comes_to_an_end(states):
            inspection.note(
                "WG4022",
                f"no instance of session `{session.name}` ever ends",
                inspection.place(session.path, "name"),
                "one for each key, kept to the last",
                help_="a row back to the first state, or to one that nothing leaves, frees it; `limits.open` bounds them",
            )


def _comes_to_an_end(states: States) -> bool:
    first = states.session.states[0].name
    into_first = any(
        first in states.successors.get(state, ()) for state in states.reachable if state != first
    )
    return into_first or any(not states.leaves(state) for state in states.reachable)


def _declared(inspection: Inspection, name: str) -> Label | None:
    found = inspection.targets.by_name.get(name)
    return None if found is None else inspection.also(found.path, "declared here", "name")


def _sessions(inspection: Inspection) -> Iterator[States]:
    for session in inspection.protocol.sessions:
        yield States(session, inspection.targets, inspection.protocol.roles)


def _lines(session: Session) -> tuple[Row | Timer, ...]:
    return (*session.rows, *session.timers)


def _updates(session: Session) -> Iterator[Update]:
    for line in _lines(session):
        if isinstance(line.effect, Go):
            yield from line.effect.updates


RULES = (
    _state_unreachable,
    _row_never_taken,
    _condition_never_holds,
    _message_never_from_role,
    _message_of_both_roles,
    _session_cannot_begin,
    _key_of_no_message,
    _first_value_outside_type,
    _list_only_grows,
    _timer_without_limit,
    _instance_never_ends,
)
