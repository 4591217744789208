"""The values that a serialization carries: by their meaning, without any layout of bytes.

Lengths, counts, codes, flags, carriers and byte orders belong to the native codec. A form describes the kind
of a value, so that two types with equal values have one form. Forms are frozen values in a closed union, as
in the model.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

from wiregen.runtime.schema.literals import FloatName
from wiregen.runtime.schema.scalars import FLOATS
from wiregen.schema.model import Notes

__all__ = [
    "AnyOf", "Carried", "CarriedField", "Choice", "Compound", "Flag", "Form", "FrameRecord", "Many", "Member", "Nullable", "Number",
    "Octets", "One", "Plain", "Raw", "Real", "Record", "String", "Uuid",
]  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class Number:
    """An integer; `is_wide` beyond 32 bits."""

    is_wide: bool
    is_signed: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Member:
    """A member of an enum, or (if it is open) any number of its type; `members`: whether 32 bits hold all of them."""

    enum: str
    is_open: bool
    number: Number
    fits: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Flag:
    """True or false."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Real:
    """A float of one of the FLOATS."""

    format: FloatName

    @property
    def is_wide(self) -> bool:
        """Return whether it has the 64 bits of Python's own."""
        return FLOATS[self.format].holds_all


@dataclass(frozen=True, slots=True, kw_only=True)
class Uuid:
    """Its 16 bytes."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Octets:
    """Bytes."""


@dataclass(frozen=True, slots=True, kw_only=True)
class String:
    """Text; `is_lenient`: carried as bytes, because they may not be UTF-8."""

    is_lenient: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Raw:
    """A value of a union as its encoded bytes, code first."""

    union: str


@dataclass(frozen=True, slots=True, kw_only=True)
class One:
    """A value of a declaration with fields, or of a union."""

    kind: Literal["struct", "message", "frame", "union"]
    name: str


@dataclass(frozen=True, slots=True, kw_only=True)
class AnyOf:
    """A value of one of several forms, identified by its kind; `name`: that of the choice within its declaration."""

    name: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Many:
    """A list."""

    item: Form


@dataclass(frozen=True, slots=True, kw_only=True)
class Nullable:
    """A value or null, where the absence of a field cannot express null."""

    value: Form


Plain: TypeAlias = Number | Member | Flag | Real | Octets | String
"""Values that protobuf and msgpack have types for."""
Compound: TypeAlias = One | AnyOf | Many | Nullable
Form: TypeAlias = Plain | Uuid | Raw | Compound


@dataclass(frozen=True, slots=True, kw_only=True)
class CarriedField:
    """A field of a record.

    `presence`: `optional` may be None; `trailing` may be absent together with all such fields after it.
    """

    name: str
    path: str
    doc: str
    notes: Notes
    form: Form
    presence: Literal["always", "optional", "trailing"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Choice:
    """The forms that an `AnyOf` of that name has, in the order of the arms."""

    name: str
    forms: tuple[Form, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Record:
    """A struct, a message, or an alternative (then with its union); `has_code`: an alternative with several codes."""

    kind: Literal["struct", "message", "variety"]
    name: str
    union: str | None
    path: str
    doc: str
    notes: Notes
    fields: tuple[CarriedField, ...]
    choices: tuple[Choice, ...]
    code: int | None
    has_code: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class FrameRecord:
    """A frame: its header, and the messages that it may carry.

    `is_coded`: the messages' codes are their numbers. `messages` are names, in text order.
    `may_lack_message`: the frame may come without a message.
    """

    name: str
    role: str | None
    path: str
    doc: str
    notes: Notes
    body: str
    fields: tuple[CarriedField, ...]
    choices: tuple[Choice, ...]
    messages: tuple[str, ...]
    is_coded: bool
    may_lack_message: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Carried:
    """A protocol as its messages are carried. `unions` names those that are not raw."""

    records: tuple[Record, ...]
    frames: tuple[FrameRecord, ...]
    unions: tuple[str, ...]

    def varieties(self, union: str) -> tuple[Record, ...]:
        """Return the alternatives of a union, in text order."""
        return tuple(record for record in self.records if record.union == union)

    def record(self, kind: str, name: str) -> Record:
        """Return the struct or message of that name."""
        return next(each for each in self.records if (each.kind, each.name) == (kind, name))
