"""The protocol as a whole, with its pages and examples."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal, TypeAlias

from wiregen.runtime.schema.literals import BitOrder, ErrorAction
from wiregen.runtime.schema.node import Node
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
from wiregen.schema.model.expressions import LiteralExpression, Number, String, Truth
from wiregen.schema.model.types import About, Endian, Notes


class Rule(Node):
    path: str
    name: str
    text: str
    sources: tuple[str, ...]
    notes: Notes


class Ledger(Node):
    """A point that the document leaves open, and the decision about it."""

    path: str
    id: str
    title: str
    document: str
    peers: str
    decision: str
    reason: str
    about: tuple[str, ...]


class Construct(Node):
    """A value built by its name; `what` says of which kind, `union` names the union of a variety."""

    what: Literal["message", "frame", "struct", "preamble", "variety"]
    name: str
    union: str | None
    fields: tuple[Argument, ...]


class Argument(Node):
    name: str
    value: ExampleValue


class Values(Node):
    items: tuple[ExampleValue, ...]


ExampleValue: TypeAlias = Construct | Values | LiteralExpression


class Example(Node):
    """A vector of the file. `form`: `both` ways, `read` only, or `violates` (`violation` names the error)."""

    path: str
    name: str
    doc: str
    form: Literal["both", "read", "violates"]
    variant: str | None
    scene: tuple[Construct, ...]
    """The messages that precede this one; `value` is read with the values that they set."""
    value: Construct | None
    hex: str
    violation: str | None


class ConversationOption(Node):
    """The value to which a conversation sets an option of the sessions."""

    name: str
    value: Number | Truth | String


class ConversationStep(Node):
    """`role` sends a message, a frame or a preamble; `violation`: the rule that it breaks, or None."""

    path: str
    role: str
    value: Construct
    violation: str | None


class ConversationPause(Node):
    """Time passes, in milliseconds; `violation`: of the timer that runs out meanwhile."""

    path: str
    duration: int
    violation: str | None


class Conversation(Node):
    """An example of several steps, from the first byte of a connection on; only the last one may be refused."""

    path: str
    name: str
    doc: str
    variant: str | None
    options: tuple[ConversationOption, ...]
    steps: tuple[ConversationStep | ConversationPause, ...]


class Port(Node):
    transport: Literal["tcp", "udp"]
    number: int


class Protocol(Node):
    """One `.wire` file, complete: imported declarations are copied in, each kind of declaration in text order."""

    path: str
    name: str
    doc: str
    sources: tuple[str, ...]
    endian: Endian
    bits: BitOrder
    roles: tuple[str, ...]
    role_rule: str | None
    """The rule that a role violates by sending a message that only the other role sends."""
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
    about: Mapping[str, About]
    """Documentation and annotations of fields, by path."""
