"""Declarations of the model: those of a schema, with their names, documentation and annotations."""

from __future__ import annotations

from typing import Literal

from wiregen.runtime.schema import declarations
from wiregen.runtime.schema.declarations import Width
from wiregen.runtime.schema.node import Node
from wiregen.schema.model.expressions import Expression
from wiregen.schema.model.types import Field, Notes, Span, Type

__all__ = [
    "Alias", "Coding", "Const", "Enum", "Frame", "Limit", "Member", "Message", "Preamble", "Reserved", "Struct", "Union", "Variant", "Variety", "Width",
]  # fmt: skip


class Reserved(Node):
    """Numbers that must not be used, and why."""

    spans: tuple[Span, ...]
    why: str


class Const(Node):
    """A number with a name."""

    path: str
    name: str
    doc: str
    value: int
    notes: Notes


class Limit(Node):
    """A bound; `unit`: `none` a number of pieces, `bytes`, or `ms` milliseconds."""

    path: str
    name: str
    doc: str
    value: int
    unit: Literal["none", "bytes", "ms"]
    notes: Notes


class Alias(Node):
    """A `type`: kept for the docs alone, for every use of it holds the whole shape."""

    path: str
    name: str
    doc: str
    type: Type
    where: Expression | None
    notes: Notes


class Member(declarations.Member):
    """A number with a name. `is_character`: the file writes it as a character."""

    path: str
    doc: str
    notes: Notes
    is_character: bool = False


class Enum(declarations.Enum):
    """Numbers with names; `is_open`: other numbers are accepted."""

    members: tuple[Member, ...]
    path: str
    name: str
    doc: str
    reserved: tuple[Reserved, ...]
    notes: Notes


class Struct(Node):
    """Fields in wire order."""

    path: str
    name: str
    doc: str
    fields: tuple[Field, ...]
    notes: Notes


class Message(declarations.Message):
    """`role`: who may send it, None for both. `code`: None where it is only named in an arm.

    `is_character`: the file writes the code as a character.
    """

    path: str
    name: str
    doc: str
    notes: Notes
    is_character: bool = False


class Frame(declarations.Frame):
    """A direction of a connection is a sequence of frames; `message`: the field that carries the message."""

    path: str
    name: str
    doc: str
    notes: Notes


class Preamble(declarations.Preamble):
    """The bytes that a role sends once, before its first frame."""

    path: str
    name: str
    doc: str
    notes: Notes


class Variety(declarations.Variety):
    """One alternative of a union; `is_lone`: written `: TYPE`, its only field is `value`.

    `is_character`: the file writes all its codes as characters.
    """

    path: str
    doc: str
    notes: Notes
    is_character: bool = False


class Union(declarations.Union):
    """One of several alternatives, chosen by a code; `is_raw`: users see the value of an alternative without its class."""

    varieties: tuple[Variety, ...]
    path: str
    name: str
    doc: str
    notes: Notes


class Coding(declarations.Coding):
    """A variable-width integer."""

    path: str
    name: str
    doc: str
    notes: Notes


class Variant(Node):
    """Other layouts of frames, structs and messages of the same names."""

    path: str
    name: str
    doc: str
    frames: tuple[Frame, ...]
    structs: tuple[Struct, ...]
    messages: tuple[Message, ...]
    preambles: tuple[Preamble, ...]
    notes: Notes
