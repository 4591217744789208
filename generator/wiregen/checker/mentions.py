"""Messages and sessions: what no row allows, and what no session speaks of."""

from __future__ import annotations

from collections.abc import Iterator

from wiregen.checker.inspection import Inspection
from wiregen.model import Go, Row, Session, Violates

__all__ = ["RULES"]


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
    rows = [row for row in session.rows if _is_about(inspection, session, row, name)]
    return any(isinstance(row.effect, Go) or _is_refusal(row) for row in rows)


def _is_refusal(row: Row) -> bool:
    return isinstance(row.effect, Violates) and not row.effect.lenient and row.when is None


def _is_about(inspection: Inspection, session: Session, row: Row, name: str) -> bool:
    """Tell whether a row may take what a name stands for, or some of it."""
    if row.targets is None:
        fields = inspection.targets.fields(name)
        return all(key in fields for key in session.keys)
    if name in row.targets:
        return True
    return any(
        name in inspection.targets.messages(target) or target in inspection.targets.messages(name)
        for target in row.targets
    )


def _message_never_mentioned(inspection: Inspection) -> None:
    sessions = inspection.protocol.sessions
    if not sessions:
        return
    everywhere = [(session, row) for session in sessions for row in session.rows]
    for message in inspection.protocol.messages:
        if message.code is None or any(
            _is_about(inspection, session, row, message.name) for session, row in everywhere
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


RULES = (_message_never_accepted, _message_never_mentioned, _timer_never_begins)
