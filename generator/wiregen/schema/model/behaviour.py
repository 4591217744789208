"""Behaviour in the model: contexts, joins and sessions, which are those of a schema with names, documentation and annotations."""

from __future__ import annotations

from typing import TypeAlias

from wiregen.runtime.schema import declarations, sessions
from wiregen.runtime.schema.node import Node
from wiregen.runtime.schema.sessions import Effect, Go, Update, Violates
from wiregen.schema.model.types import Boolean, Bytes, EnumReference, Integer, Notes, Text, Uuid, Varint

__all__ = [
    "Clearing", "Context", "Effect", "Go", "Join", "Row", "Session", "Setting", "State", "Timer", "Update", "Variable", "VariableType", "Violates",
]  # fmt: skip

VariableType: TypeAlias = Integer | Varint | Boolean | Uuid | EnumReference | Bytes | Text


class Setting(declarations.Setting):
    """`set Message.field when …`: the entry takes that field's value."""

    doc: str


class Clearing(declarations.Clearing):
    """`clear A, B when …`: the entry is removed."""

    doc: str


class Context(declarations.Context):
    """Values that earlier messages set and later layouts use; `role`: whose messages set it, None: each direction its own."""

    settings: tuple[Setting, ...]
    clearings: tuple[Clearing, ...]
    path: str
    name: str
    doc: str
    notes: Notes


class Join(declarations.Join):
    """One value reassembled from several frames; `block`: frame and field of the block that it fills, where `type` is None."""

    parts: tuple[Setting, ...]
    lasts: tuple[Setting, ...]
    clearings: tuple[Clearing, ...]
    path: str
    name: str
    doc: str
    notes: Notes


class Variable(sessions.Variable):
    """A variable of a session (`is_list`: a list of its type), or an option of a connection."""

    type: VariableType
    path: str
    doc: str


class Row(sessions.Transition):
    """Who sends what, when. `states`, `role`, `targets` None: any."""

    path: str
    doc: str
    notes: Notes


class Timer(sessions.Timer):
    """`after e`: when no transition was taken in these states for so long (milliseconds)."""

    path: str
    doc: str
    notes: Notes


class State(Node):
    """A state of a session."""

    path: str
    name: str
    doc: str


class Session(Node):
    """A state machine; the first state is the initial one, rows are in text order.

    `keys`: one instance for each value of these fields; `per_sender`: and for each direction. `roles`: names of the two
    sides of an instance, () for the protocol's own.
    """

    path: str
    name: str
    doc: str
    keys: tuple[str, ...]
    per_sender: bool
    roles: tuple[str, ...]
    variables: tuple[Variable, ...]
    states: tuple[State, ...]
    rows: tuple[Row, ...]
    timers: tuple[Timer, ...]
    notes: Notes
