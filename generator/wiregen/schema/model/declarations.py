"""Declarations of the model: what a `.wire` file names."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from wiregen.schema.model.expressions import Expression
from wiregen.schema.model.types import Field, Integer, Notes, Span, Type, Varint


@dataclass(frozen=True, slots=True, kw_only=True)
class Reserved:
    """Numbers that must not be used, and why."""

    spans: tuple[Span, ...]
    why: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Const:
    path: str
    name: str
    doc: str
    value: int
    notes: Notes


@dataclass(frozen=True, slots=True, kw_only=True)
class Limit:
    """A bound; `unit`: `none` a number of pieces, `bytes`, or `ms` milliseconds."""

    path: str
    name: str
    doc: str
    value: int
    unit: Literal["none", "bytes", "ms"]
    notes: Notes


@dataclass(frozen=True, slots=True, kw_only=True)
class Alias:
    """A `type`: kept for the docs alone, for every use of it holds the whole shape."""

    path: str
    name: str
    doc: str
    type: Type
    where: Expression | None
    notes: Notes


@dataclass(frozen=True, slots=True, kw_only=True)
class Member:
    """A number with a name. `is_character`: the file writes it as a character."""

    path: str
    name: str
    doc: str
    value: int
    notes: Notes
    is_character: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Enum:
    path: str
    name: str
    doc: str
    type: Integer | Varint
    is_open: bool
    members: tuple[Member, ...]
    reserved: tuple[Reserved, ...]
    notes: Notes


@dataclass(frozen=True, slots=True, kw_only=True)
class Struct:
    path: str
    name: str
    doc: str
    fields: tuple[Field, ...]
    notes: Notes


@dataclass(frozen=True, slots=True, kw_only=True)
class Message:
    """`role`: who may send it, None for both. `code`: None where it is only named in an arm.

    `is_character`: the file writes the code as a character.
    """

    path: str
    name: str
    doc: str
    code: int | None
    role: str | None
    fields: tuple[Field, ...]
    notes: Notes
    is_character: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Frame:
    """What a direction of a connection is a sequence of; `message`: the field that carries the message."""

    path: str
    name: str
    doc: str
    role: str | None
    fields: tuple[Field, ...]
    message: str | None
    notes: Notes


@dataclass(frozen=True, slots=True, kw_only=True)
class Preamble:
    """What a role sends once, before its first frame."""

    path: str
    name: str
    doc: str
    role: str
    fields: tuple[Field, ...]
    notes: Notes


@dataclass(frozen=True, slots=True, kw_only=True)
class Variety:
    """One kind of a union; `is_lone`: written `: TYPE`, its only field is `value`.

    `is_character`: the file writes all its codes as characters.
    """

    path: str
    name: str
    doc: str
    codes: tuple[Span, ...]
    fields: tuple[Field, ...]
    is_lone: bool
    notes: Notes
    is_character: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Union:
    path: str
    name: str
    doc: str
    type: Integer | Varint
    varieties: tuple[Variety, ...]
    notes: Notes


@dataclass(frozen=True, slots=True, kw_only=True)
class Width:
    """First numbers of a coding: the value itself (`wide` None), the value behind it, or null."""

    low: int
    high: int
    wide: Integer | None
    is_null: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Coding:
    path: str
    name: str
    doc: str
    type: Integer
    widths: tuple[Width, ...]
    notes: Notes


@dataclass(frozen=True, slots=True, kw_only=True)
class Variant:
    """Other layouts of frames, structs and messages of the same names."""

    path: str
    name: str
    doc: str
    frames: tuple[Frame, ...]
    structs: tuple[Struct, ...]
    messages: tuple[Message, ...]
    preambles: tuple[Preamble, ...]
    notes: Notes
