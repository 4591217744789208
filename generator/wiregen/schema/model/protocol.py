"""The protocol as a whole, with its pages and examples."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

from wiregen.schema.model.behaviour import Context, Join, Session
from wiregen.schema.model.declarations import (
    Alias,
    Coding,
    Const,
    Enum,
    Frame,
    Limit,
    Message,
    Preamble,
    Reserved,
    Struct,
    Union,
    Variant,
)
from wiregen.schema.model.expressions import Null, Number, Octets, String, Truth
from wiregen.schema.model.types import Endian, Notes


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule:
    path: str
    name: str
    text: str
    sources: tuple[str, ...]
    notes: Notes


@dataclass(frozen=True, slots=True, kw_only=True)
class Ledger:
    """What the document leaves open, and how it was decided."""

    path: str
    id: str
    title: str
    document: str
    peers: str
    decision: str
    reason: str
    about: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Construct:
    """A value built by its name; `what` says of which kind, `union` names the union of a variety."""

    what: Literal["message", "frame", "struct", "preamble", "variety"]
    name: str
    union: str | None
    fields: tuple[Argument, ...]
    kind: Literal["construct"] = "construct"


@dataclass(frozen=True, slots=True, kw_only=True)
class Argument:
    name: str
    value: ExampleValue


@dataclass(frozen=True, slots=True, kw_only=True)
class Values:
    items: tuple[ExampleValue, ...]
    kind: Literal["values"] = "values"


ExampleValue: TypeAlias = Construct | Values | Number | Truth | String | Octets | Null


@dataclass(frozen=True, slots=True, kw_only=True)
class Example:
    """A vector of the file. `form`: `both` ways, `read` only, or `violates` (`violation` names the error)."""

    path: str
    name: str
    doc: str
    form: Literal["both", "read", "violates"]
    variant: str | None
    scene: tuple[Construct, ...]
    """Messages that come before; what they say is known when `value` is read."""
    value: Construct | None
    hex: str
    violation: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class ConversationOption:
    """What a conversation sets an option of the sessions to."""

    name: str
    value: Number | Truth | String


@dataclass(frozen=True, slots=True, kw_only=True)
class ConversationStep:
    """`role` sends a message, a frame or a preamble; `violation`: what sessions say of it, None: nothing."""

    path: str
    role: str
    value: Construct
    violation: str | None
    kind: Literal["step"] = "step"


@dataclass(frozen=True, slots=True, kw_only=True)
class ConversationPause:
    """Time passes, in milliseconds; `violation`: of the timer that runs out meanwhile."""

    path: str
    duration: int
    violation: str | None
    kind: Literal["pause"] = "pause"


@dataclass(frozen=True, slots=True, kw_only=True)
class Conversation:
    """An example of several steps, from the first byte of a connection on; only the last one may be refused."""

    path: str
    name: str
    doc: str
    variant: str | None
    options: tuple[ConversationOption, ...]
    steps: tuple[ConversationStep | ConversationPause, ...]


ErrorAction: TypeAlias = Literal["close", "continue"]
"""What a connection does after an error that the codec can recover from."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Port:
    transport: Literal["tcp", "udp"]
    number: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Protocol:
    """One `.wire` file, complete: what it imports is copied in, each kind of declaration in text order."""

    path: str
    name: str
    doc: str
    sources: tuple[str, ...]
    endian: Endian
    bits: Literal["msb", "lsb"]
    roles: tuple[str, ...]
    role_rule: str | None
    """What it violates to send what only the other role sends."""
    ports: tuple[Port, ...]
    on_error: ErrorAction
    reserved: tuple[Reserved, ...]
    constants: tuple[Const, ...]
    limits: tuple[Limit, ...]
    aliases: tuple[Alias, ...]
    enums: tuple[Enum, ...]
    structs: tuple[Struct, ...]
    messages: tuple[Message, ...]
    frames: tuple[Frame, ...]
    preambles: tuple[Preamble, ...]
    unions: tuple[Union, ...]
    codings: tuple[Coding, ...]
    variants: tuple[Variant, ...]
    contexts: tuple[Context, ...]
    joins: tuple[Join, ...]
    sessions: tuple[Session, ...]
    rules: tuple[Rule, ...]
    ledgers: tuple[Ledger, ...]
    examples: tuple[Example, ...]
    conversations: tuple[Conversation, ...]
    order: tuple[str, ...]
    """Names of constants, enums, structs, messages, frames, preambles, unions and codings in the file's order."""
    notes: Notes
