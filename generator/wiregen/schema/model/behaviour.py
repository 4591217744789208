"""Behaviour in the model: contexts, joins and sessions."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

from wiregen.schema.model.expressions import Expression
from wiregen.schema.model.types import Boolean, Bytes, Integer, Notes, Reference, Text, Type, Uuid, Varint


@dataclass(frozen=True, slots=True, kw_only=True)
class Setting:
    """`set Message.field when …`: the entry takes that field's value."""

    doc: str
    target: str
    field: str
    when: Expression | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Clearing:
    """`clear A, B when …`: the entry goes."""

    doc: str
    targets: tuple[str, ...]
    when: Expression | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Context:
    """What earlier messages say about later layouts; `role`: whose messages set it (None: each direction its own)."""

    path: str
    name: str
    doc: str
    type: Type
    keys: tuple[str, ...]
    role: str | None
    settings: tuple[Setting, ...]
    clearings: tuple[Clearing, ...]
    notes: Notes


@dataclass(frozen=True, slots=True, kw_only=True)
class Join:
    """One thing out of several frames. `type`: Bytes, a Reference to a frame, or None where `block` names the block it fills."""

    path: str
    name: str
    doc: str
    type: Type | None
    block: tuple[str, str] | None
    """(frame, field) where the joined bytes are a block of a frame."""
    keys: tuple[str, ...]
    parts: tuple[Setting, ...]
    lasts: tuple[Setting, ...]
    clearings: tuple[Clearing, ...]
    notes: Notes


VariableType: TypeAlias = Integer | Varint | Boolean | Uuid | Reference | Bytes | Text


@dataclass(frozen=True, slots=True, kw_only=True)
class Variable:
    """A variable of a session (`is_list`: a list of its type), or an option of a connection."""

    path: str
    name: str
    doc: str
    type: VariableType
    is_list: bool
    initial: Expression
    is_option: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Update:
    variable: str
    value: Expression


@dataclass(frozen=True, slots=True, kw_only=True)
class Go:
    """The row is legal; `state` None: it stays."""

    state: str | None
    updates: tuple[Update, ...]
    kind: Literal["go"] = "go"


@dataclass(frozen=True, slots=True, kw_only=True)
class Violates:
    """The row is not legal; lenient: a note unless strict, and the rows below are tried."""

    name: str
    lenient: bool
    kind: Literal["violates"] = "violates"


Effect: TypeAlias = Go | Violates


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """Who says what, when. `role` None: any; `targets` None: any message that the session is concerned with."""

    path: str
    doc: str
    states: tuple[str, ...] | None
    """The states the row stands in; None: every state."""
    role: str | None
    targets: tuple[str, ...] | None
    """Names of messages, frames, joins and preambles."""
    when: Expression | None
    effect: Effect
    notes: Notes


@dataclass(frozen=True, slots=True, kw_only=True)
class Timer:
    """`after e`: when nothing fired in these states for so long (milliseconds)."""

    path: str
    doc: str
    states: tuple[str, ...] | None
    after: Expression
    effect: Effect
    notes: Notes


@dataclass(frozen=True, slots=True, kw_only=True)
class State:
    path: str
    name: str
    doc: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Session:
    """Who may say what when; the first state is where an instance begins, rows are in text order.

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
