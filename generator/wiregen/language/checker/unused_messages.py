"""Messages that no row allows, and messages and sessions that no session or row mentions."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property

from wiregen.language.checker.inspection import Inspection
from wiregen.language.checker.targets import Targets
from wiregen.schema.model import Go, Row, Session, Violates

__all__ = ["RULES"]

_MAX_SHOWN = 4


class _Rows:
    """The rows of one session, indexed by name so that each message is compared with few of them."""

    def __init__(self, targets: Targets, session: Session) -> None:
        self._targets = targets
        self._session = session
        self._for_any = tuple(row for row in session.rows if row.targets is None)
        self._refusals: dict[tuple[str, ...], Row | None] = {}
        self._roles: dict[str, set[str | None]] = {}
        self._settled: set[str] = set()
        self._sender: dict[str, str] = {}
        for row in session.rows:
            for name in row.targets or ():
                self._add(row, name)

    def _add(self, row: Row, name: str) -> None:
        if row.role is not None:
            self._sender.setdefault(name, row.role)
        if isinstance(row.effect, Go) or _is_refusal(row):
            self._settled.add(name)
        for touched in (name, *self._targets.pieces(name)):
            self._roles.setdefault(touched, set()).add(row.role)

    def are_about(self, name: str) -> bool:
        """Return whether some row may match a message, or some of the messages of a frame."""
        return self._meets_any(name) or any(
            target in self._named for target in self._targets.names_about(name)
        )

    def are_settled(self, name: str) -> bool:
        """Return whether some row accepts a message, or refuses it without a condition."""
        is_accepted = self._accepts_any and self._targets.has_keys(self._session, name)
        return is_accepted or any(target in self._settled for target in self._targets.names_about(name))

    def refused_by_any(self, name: str) -> Row | None:
        """Return the first row for any message, if all of these refuse the message and no other row may take it."""
        senders = self._senders(name)
        named = (self._roles.get(target, set()) for target in self._targets.names_about(name))
        if not self._meets_any(name) or any(not roles.isdisjoint((None, *senders)) for roles in named):
            return None
        if senders not in self._refusals:
            rows = [row for row in self._for_any if row.role is None or row.role in senders]
            self._refusals[senders] = rows[0] if rows and all(map(_refuses, rows)) else None
        return self._refusals[senders]

    def _meets_any(self, name: str) -> bool:
        return bool(self._for_any) and self._targets.has_keys(self._session, name)

    def _senders(self, name: str) -> tuple[str, ...]:
        """Return the roles that may send a message, as the rows call them."""
        if not self._session.roles:
            return self._targets.roles(name)
        role = self._sender.get(name)
        return self._session.roles if role is None else (role,)

    @cached_property
    def _accepts_any(self) -> bool:
        return any(isinstance(row.effect, Go) for row in self._for_any)

    @cached_property
    def _named(self) -> frozenset[str]:
        return frozenset(name for row in self._session.rows for name in row.targets or ())


def _message_never_accepted(inspection: Inspection) -> None:
    for session in inspection.protocol.sessions:
        rows = _Rows(inspection.targets, session)
        named: dict[str, Row] = {}
        for row in session.rows:
            for name in row.targets or ():
                named.setdefault(name, row)
        for name, row in named.items():
            if not rows.are_settled(name):
                inspection.error(
                    "WG4018",
                    f"no transition of session `{session.name}` accepts `{name}`",
                    inspection.place(row.path),
                    "refused under a condition, and unexpected otherwise",
                    help_="add a later transition that accepts it, or remove `when` if it is never allowed",
                )


def _is_refusal(row: Row) -> bool:
    """Return whether a row says that the targets it names are never legal; `any` names no target."""
    is_final = isinstance(row.effect, Violates) and not row.effect.is_lenient
    return is_final and row.when is None and row.targets is not None


def _any_never_accepted(inspection: Inspection) -> None:
    """Report messages that a session meets only by `any` and never accepts.

    A lenient row belongs to another rule: some row has to follow it.
    """
    for session in inspection.protocol.sessions:
        refused: dict[str, list[str]] = {}
        rows = _Rows(inspection.targets, session)
        for name in _sent(inspection):
            row = rows.refused_by_any(name)
            if row is not None:
                refused.setdefault(row.path, []).append(name)
        for path, names in refused.items():
            shown = ", ".join(f"`{name}`" for name in names[:_MAX_SHOWN])
            more = f" and {len(names) - _MAX_SHOWN} more" if len(names) > _MAX_SHOWN else ""
            inspection.error(
                "WG4018",
                f"no transition of session `{session.name}` accepts {shown}{more}",
                inspection.place(path),
                "refused here, and unexpected elsewhere",
                help_="add a transition that accepts it, such as `any any => {}`; if it is never allowed, name it in the one that refuses it",
            )


def _sent(inspection: Inspection) -> tuple[str, ...]:
    """Return the preambles and the messages that are sent on their own."""
    protocol = inspection.protocol
    messages = (message.name for message in protocol.messages if message.code is not None)
    return (*(preamble.name for preamble in protocol.preambles), *messages)


def _refuses(row: Row) -> bool:
    return isinstance(row.effect, Violates) and not row.effect.is_lenient


def _message_never_mentioned(inspection: Inspection) -> None:
    sessions = inspection.protocol.sessions
    if not sessions:
        return
    tables = [_Rows(inspection.targets, session) for session in sessions]
    for message in inspection.protocol.messages:
        if message.code is None or any(rows.are_about(message.name) for rows in tables):
            continue
        inspection.note(
            "WG4019",
            f"no session mentions message `{message.name}`",
            inspection.place(message.path, "name"),
            "allowed in every state",
            help_="name it in a transition if it is not always allowed; sessions accept messages that they do not mention",
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
                    f"this timer never starts: session `{session.name}` keeps no instance in `{first}`",
                    inspection.place(timer.path),
                    "in the initial state",
                    help_="move the timer to the state after the first message",
                )


def _changed_in(row: Row, state: str) -> Iterator[str]:
    """Yield the variables that a row changes while leaving the instance in a state."""
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
                    f"`{variable.name}` is ambiguous in session `{session.name}`",
                    inspection.place(variable.path, "name"),
                    "a variable",
                    inspection.also(field.path, f"a field of `{owner}`", "name"),
                    help_="rename the variable: its messages and their frames have a field with this name",
                )


def _seen_by(inspection: Inspection, row: Row) -> tuple[str, ...]:
    """Return the targets that a row's expressions may read; for `any`, every target if the row has expressions."""
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
