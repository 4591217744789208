"""The sessions of a protocol as tables: which rows are tried for which message in which state.

A table is made once per process and kind of message, when the first message of that kind comes; connections share it.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Mapping
from itertools import groupby
from typing import Any

from ..reference.access import declared_name
from ..reference.expressions import Value
from ..schema import sessions as schema
from ..schema.expressions import Expression, VariableReference
from ..schema.node import nodes_in
from ..schema.protocol import Schema
from ..schema.sessions import Session, Transition
from ..schema.types import FrameReference, List, Region, Type
from .closures import NOTHING, Term, compile_term
from .compiled_rows import Rows, Timer, initial_values, row_of
from .message_kinds import other_kind
from .names import Kind, MessageWords

__all__ = ["KindRows", "Matters", "Program", "Table"]


class _NoWords(MessageWords):
    """The names in expressions without a message: initial values and timers."""

    def __init__(self, slots: Mapping[str, int]) -> None:
        self.slots = slots


class Table:
    """One session.

    Attributes:
        is_single: The session has one instance per connection.
        places: Without keys: key, side and sender of every instance. These exist from the beginning to the end.
        is_left: By state, whether it can be left or variables change in it; otherwise an instance in it has ended.
    """

    def __init__(self, number: int, name: str, session: Session, roles: tuple[str, ...]) -> None:
        self.number = number
        self.name = name
        self.keys = session.keys
        self.per_sender = session.per_sender
        self.roles = session.roles
        self.is_single = not (self.keys or self.per_sender or self.roles)
        self.places: tuple[tuple[Hashable, str | None, str | None], ...] = (
            () if self.keys else tuple(self._places(roles))
        )
        self.states = session.states
        self.numbers = {state: number for number, state in enumerate(self.states)}
        self.variables = {each.name: each for each in session.variables}
        self.slots = {variable: slot for slot, variable in enumerate(self.variables)}
        self.rows = session.rows
        self._words = _NoWords(self.slots)
        self.timers = tuple(tuple(self._timers(session.timers, state)) for state in self.states)
        self.has_timers = any(self.timers)
        self.has_fixed_timers = not any(_is_variable(timer.after) for timer in session.timers)
        self.is_left = tuple(any(self._leads_on(session, state)) for state in self.states)

    def _places(self, roles: tuple[str, ...]) -> Iterator[tuple[Hashable, str | None, str | None]]:
        for side in roles if self.roles else (None,):
            for sender in roles if self.per_sender else (None,):
                yield (), side, sender

    def first_values(self, options: Mapping[str, object]) -> list[object]:
        return initial_values(self.variables, self._words, options)

    def role_of(self, kind: Kind, names: frozenset[str]) -> str | None:
        """Return which of the session's own roles a message belongs to, or None for any."""
        for row in self.rows:
            if row.role is not None and row.targets is not None and names.intersection(row.targets):
                return row.role
        return None

    def _timers(self, timers: tuple[schema.Timer, ...], state: str) -> Iterator[Timer]:
        for number, timer in enumerate(timers):
            if timer.states is None or state in timer.states:
                row = row_of(number, timer.effect, self.variables, self.numbers, self._words)
                yield Timer(compile_term(timer.after, self._words), row)

    def _leads_on(self, session: Session, state: str) -> Iterator[bool]:
        """Yield, for each row and timer of a state, whether it leads to another state or changes a variable
        from its initial value.
        """
        lines: tuple[Transition | schema.Timer, ...] = (*session.rows, *session.timers)
        for line in lines:
            if line.states is None or state in line.states:
                effect = line.effect
                yield isinstance(effect, schema.Go) and (
                    effect.state not in (None, state) or any(map(self._changes, effect.updates))
                )

    def _changes(self, update: schema.Update) -> bool:
        return update.value != self.variables[update.variable].initial


def _is_variable(expression: Expression) -> bool:
    """Return whether an expression is a variable."""
    return any(isinstance(node, VariableReference) for node in nodes_in(expression))


class KindRows:
    """The rows of a session for one kind of message from one sender.

    Attributes:
        key: Returns the key of the instance, `side` included, or None if the message lacks it, so that all
            instances are meant.
        rows: The rows to be tried, by the number of the state.
        side: The role that has the session's first role if this sender sends this, or None without such roles.
        sender: The sender, as the rows name it.
    """

    __slots__ = ("key", "named_rows", "rows", "sender", "side", "table")

    def __init__(
        self,
        table: Table,
        key: Callable[[object, object], Hashable] | None,
        rows: tuple[Rows, ...],
        named_rows: tuple[Rows, ...],
        side: str | None,
        sender: str | None,
    ) -> None:
        self.table = table
        self.key = key
        self.rows = rows
        self.named_rows = named_rows
        self.side = side
        self.sender = sender


class Matters:
    """The entries of all sessions for one kind of message from one sender.

    Attributes:
        is_foreign: The sender never sends such a message.
        frames: Returns the frames inside the message, or None if it cannot hold any.
        is_other: Tells if its reader would mistake it for another message, or None if that cannot happen.
    """

    __slots__ = ("entries", "frames", "is_foreign", "is_other", "name")

    def __init__(
        self,
        name: str,
        entries: tuple[KindRows, ...],
        *,
        is_foreign: bool,
        frames: Callable[[Value], Value] | None,
        is_other: Term | None = None,
    ) -> None:
        self.name = name
        self.entries = entries
        self.is_foreign = is_foreign
        self.frames = frames
        self.is_other = is_other


class Program:
    """The sessions of one schema."""

    def __init__(self, schema: Schema) -> None:
        self.schema = schema
        self.roles: tuple[str, ...] = schema.roles
        self.rules: Mapping[str, str] = schema.violations
        self.foreign: str = schema.role_rule or "wrong_role"
        """The violation of sending a message that only the other role sends."""
        self._asks_foreign = not schema.role_rule
        self.tables = tuple(
            Table(number, name, session, self.roles)
            for number, (name, session) in enumerate(schema.sessions.items())
        )
        self.matters: dict[str, dict[object, Matters]] = {}

    def look(self, sender: str, frame: object, message: object) -> Matters:
        """Return the entries for a kind of message from a sender; without a frame it is a preamble."""
        kind = Kind(self.schema, frame, message)
        names = _names(self.schema, kind)
        is_foreign = kind.role not in (None, sender)
        tables = self.tables if self._asks_foreign or not is_foreign else ()
        entries = (self._entry(table, sender, kind, names) for table in tables)
        return Matters(
            kind.name,
            tuple(entry for entry in entries if entry is not None),
            is_foreign=is_foreign,
            frames=_frames_inside(self.schema, kind),
            is_other=other_kind(kind),
        )

    def is_usual(self, sender: str, frame: object, kind: Any) -> bool:
        """Return whether a kind of message is in its usual frame, so that its entries are worth caching."""
        name = kind if type(kind) is str else kind.__name__
        return (
            name in self.schema.preambles
            if frame is None
            else declared_name(frame) == self.schema.sends.get(sender)
        )

    def other(self, role: str) -> str:
        return next((each for each in self.roles if each != role), role)

    def _entry(self, table: Table, sender: str, kind: Kind, names: frozenset[str]) -> KindRows | None:
        role = table.role_of(kind, names) if table.roles else sender
        words = MessageWords(kind, table.slots)
        key = _key_of(table, words) if table.keys else None
        is_keyless = bool(table.keys) and key is None
        rows = [
            (number, row)
            for number, row in enumerate(table.rows)
            if _is_about(row, role, names, by_name=is_keyless)
        ]
        if not rows:
            return None
        side = None
        if table.roles and role is not None:
            side = sender if role == table.roles[0] else self.other(sender)
        return KindRows(
            table,
            key,
            _by_state(table, rows, words),
            _by_state(table, [(number, row) for number, row in rows if row.targets is not None], words),
            side,
            role,
        )


def _names(schema: Schema, kind: Kind) -> frozenset[str]:
    """Return the names by which rows may call it. A fragment of a block has only its own name; the last one
    completes the frame.
    """
    if kind.name in schema.joins:
        return frozenset({kind.name})
    whole = {kind.name} if kind.frame is None else {kind.name, kind.frame}
    joined = {
        name
        for name, join in schema.joins.items()
        if join.block is None and any(each.target in whole for each in (*join.parts, *join.lasts))
    }
    return frozenset(whole | joined)


def _is_about(row: Transition, role: str | None, names: frozenset[str], *, by_name: bool) -> bool:
    if row.role is not None and role is not None and row.role != role:
        return False
    return not by_name if row.targets is None else bool(names.intersection(row.targets))


def _by_state(table: Table, rows: list[tuple[int, Transition]], words: MessageWords) -> tuple[Rows, ...]:
    compiled = [
        (
            row.states,
            row.when,
            None if row.when is None else compile_term(row.when, words),
            row_of(number, row.effect, table.variables, table.numbers, words),
        )
        for number, row in rows
    ]
    return tuple(
        _grouped([line for states, *line in compiled if states is None or state in states])
        for state in table.states
    )


def _grouped(lines: list[list[Value]]) -> Rows:
    """Group adjacent rows under the same condition: a violation, and the rows after it."""
    groups = [list(lines_) for _, lines_ in groupby(lines, key=lambda line: line[0])]
    return tuple((group[0][1], tuple(row for _, _, row in group)) for group in groups)


def _key_of(table: Table, words: MessageWords) -> Callable[[object, object], Hashable] | None:
    """Return a function that reads the key of a message, or None if it is absent, or None if messages of the
    kind have no key.
    """
    if not all(words.has(name) for name in table.keys):
        return None
    terms = [words.field((name,), "own") for name in table.keys]
    if len(terms) == 1:
        return _single_key(terms[0])

    def key(message: object, frame: object) -> Hashable:
        try:
            found = tuple([term(message, frame, [], None) for term in terms])
        except NOTHING:
            return None
        return None if None in found else found

    return key


def _single_key(term: Term) -> Callable[[object, object], Hashable]:
    def key(message: object, frame: object) -> Hashable:
        try:
            found: Hashable = term(message, frame, [], None)
        except NOTHING:
            return None
        return found

    return key


# ---- frames inside messages ----


def _frames_inside(schema: Schema, kind: Kind) -> Callable[[object], object] | None:
    """Return a function that yields the frames in a message's fields, in the order of the bytes."""
    readers = [
        MessageWords(kind, {}).field((name,), "own")
        for name, field in kind.fields.items()
        if _holds_frames(field.type)
    ]
    if not readers:
        return None

    def frames(message: object) -> Iterator[Value]:
        for reader in readers:
            value = reader(message, None, [], None)
            yield from value if isinstance(value, list | tuple) else () if value is None else (value,)

    return frames


def _holds_frames(type_: Type) -> bool:
    while isinstance(type_, Region | List):
        type_ = type_.content if isinstance(type_, Region) else type_.item
    return isinstance(type_, FrameReference)
