"""Messages and sessions: what no row allows, and what no session speaks of."""

from __future__ import annotations

from collections.abc import Iterator

from wiregen.checker.inspection import Inspection
from wiregen.checker.targets import Targets
from wiregen.model import Go, Row, Session, Violates

__all__ = ["RULES"]

_MAX_SHOWN = 4


def _message_never_accepted(inspection: Inspection) -> None:
    for session in inspection.protocol.sessions:
        named: dict[str, Row] = {}
        for row in session.rows:
            for name in row.targets or ():
                named.setdefault(name, row)
        for name, row in named.items():
            if not _is_settled(inspection, session, name):
                inspection.error(
                    "WG4018",
                    f"no row of session `{session.name}` accepts `{name}`",
                    inspection.place(row.path),
                    "refused under a condition, and unexpected without it",
                    help_="a row below that is legal, or `violates` without `when` if it never is",
                )


def _is_settled(inspection: Inspection, session: Session, name: str) -> bool:
    """Tell whether some row accepts a message, or one says without a condition that it is never legal."""
    rows = [row for row in session.rows if inspection.targets.is_about(session, row, name)]
    return any(isinstance(row.effect, Go) or _is_refusal(row) for row in rows)


def _is_refusal(row: Row) -> bool:
    """Tell whether a row says of what it names that it is never legal; `any` names nothing."""
    is_final = isinstance(row.effect, Violates) and not row.effect.lenient
    return is_final and row.when is None and row.targets is not None


def _any_never_accepted(inspection: Inspection) -> None:
    """What a session only meets by `any`, and never accepts. A lenient row is another rule's: something has to follow it."""
    for session in inspection.protocol.sessions:
        refused: dict[str, list[str]] = {}
        rows: dict[str, Row] = {}
        for name in _sent(inspection):
            row = _refused_by_any(inspection.targets, session, name)
            if row is not None:
                rows[row.path] = row
                refused.setdefault(row.path, []).append(name)
        for path, names in refused.items():
            shown = ", ".join(f"`{name}`" for name in names[:_MAX_SHOWN])
            more = f" and {len(names) - _MAX_SHOWN} more" if len(names) > _MAX_SHOWN else ""
            inspection.error(
                "WG4018",
                f"no row of session `{session.name}` accepts {shown}{more}",
                inspection.place(path),
                "refused here, and unexpected elsewhere",
                help_="a row where it is legal, or `any any => {}` in some state; or name it in a row that `violates`, if it never is",
            )


def _sent(inspection: Inspection) -> tuple[str, ...]:
    """Return what is sent by itself."""
    protocol = inspection.protocol
    messages = (message.name for message in protocol.messages if message.code is not None)
    return (*(preamble.name for preamble in protocol.preambles), *messages)


def _refused_by_any(targets: Targets, session: Session, name: str) -> Row | None:
    """Return the row that refuses as `any` what no row of a session names or accepts, whoever sends it."""
    senders = _senders(targets, session, name)
    rows = [row for row in session.rows if row.role is None or row.role in senders]
    about = [row for row in rows if _touches(targets, session, row, name)]
    if not about or any(row.targets is not None or not _refuses(row) for row in about):
        return None
    return about[0]


def _refuses(row: Row) -> bool:
    return isinstance(row.effect, Violates) and not row.effect.lenient


def _touches(targets: Targets, session: Session, row: Row, name: str) -> bool:
    """Tell whether a row may take a message, be it as the last piece of a join."""
    if targets.is_about(session, row, name):
        return True
    pieces = (piece for each in row.targets or () for piece in targets.pieces(each))
    return any(piece == name or name in targets.messages(piece) for piece in pieces)


def _senders(targets: Targets, session: Session, name: str) -> tuple[str, ...]:
    """Return who may send a message, as the rows of a session call it."""
    if not session.roles:
        return targets.roles(name)
    named = (row.role for row in session.rows if row.role and name in (row.targets or ()))
    role = next(named, None)
    return session.roles if role is None else (role,)


def _message_never_mentioned(inspection: Inspection) -> None:
    sessions = inspection.protocol.sessions
    if not sessions:
        return
    everywhere = [(session, row) for session in sessions for row in session.rows]
    for message in inspection.protocol.messages:
        if message.code is None or any(
            inspection.targets.is_about(session, row, message.name) for session, row in everywhere
        ):
            continue
        inspection.note(
            "WG4019",
            f"no session speaks of `{message.name}`",
            inspection.place(message.path, "name"),
            "legal at any time",
            help_="name it in a row where it is legal; what no row names, sessions let pass",
        )


def _timer_never_begins(inspection: Inspection) -> None:
    for session in inspection.protocol.sessions:
        if not session.keys or not session.states:
            continue
        first = session.states[0].name
        changed = {name for row in session.rows for name in _changed_in(row, first)}
        for timer in session.timers:
            if timer.states == (first,) and not changed:
                inspection.warning(
                    "WG4023",
                    f"this timer never begins: in `{first}` no instance of `{session.name}` is kept",
                    inspection.place(timer.path),
                    "in the first state",
                    help_="an instance that is as it began is forgotten; put the timer into the state behind the first message",
                )


def _changed_in(row: Row, state: str) -> Iterator[str]:
    """Yield the variables that a row changes and then leaves the instance in a state."""
    if isinstance(row.effect, Go):
        stays = row.effect.state is None and (row.states is None or state in row.states)
        if stays or row.effect.state == state:
            yield from (update.variable for update in row.effect.updates)


def _variable_named_as_field(inspection: Inspection) -> None:
    for session in inspection.protocol.sessions:
        named = dict.fromkeys(name for row in session.rows for name in _seen_by(inspection, row))
        for variable in session.variables:
            owner = next((name for name in named if variable.name in inspection.targets.fields(name)), None)
            if owner is not None:
                field = inspection.targets.fields(owner)[variable.name]
                inspection.error(
                    "WG4028",
                    f"`{variable.name}` means two things in the rows of session `{session.name}`",
                    inspection.place(variable.path, "name"),
                    "a variable",
                    inspection.also(field.path, f"a field that is seen with `{owner}`", "name"),
                    help_="give the variable a name that no message in its rows, and no frame of theirs, has",
                )


def _seen_by(inspection: Inspection, row: Row) -> tuple[str, ...]:
    """Return what a row's expressions are about; `any` is about everything, where there are expressions."""
    if row.targets is not None:
        return tuple(name for each in row.targets for name in (each, *inspection.targets.messages(each)))
    has_updates = isinstance(row.effect, Go) and bool(row.effect.updates)
    return tuple(inspection.targets.by_name) if row.when is not None or has_updates else ()


RULES = (
    _message_never_accepted,
    _any_never_accepted,
    _message_never_mentioned,
    _timer_never_begins,
    _variable_named_as_field,
)
