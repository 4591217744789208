"""The flat list of steps of a declaration, from which straight-line code is printed.

Steps are in wire order. Adjacent fields of fixed size are one `FixedRun`: across nested blocks and structs, into a
region whose size is known, and from the frame's header into its message. A length prefix is part of the run
before its bytes.

Every value has a `key`, its place in the declaration: `pairs`, `pairs[].key`, `pairs#length`, or
`frame:version` for the frame around a message. Later steps, checks and expressions refer to keys.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

from wiregen.schema import model as m
from wiregen.schema.field_facts import Part

Fixed: TypeAlias = m.FixedSize | m.EnumReference
"""The types whose values can be in a run."""

FRAME = "frame:"
"""The prefix of the keys of a frame's own fields."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BitField:
    """A bit field: `bits` bits of a slot, `shift` bits above its lowest."""

    key: str
    bits: int
    shift: int
    is_flag: bool
    field: m.Field


@dataclass(frozen=True, slots=True, kw_only=True)
class Slot:
    """One value of a run, `bits` wide: a field, the length before one, the code of a message, or padding.

    `prefix`: the prefix of the keys that the expressions of its field refer to.
    """

    key: str
    type: Fixed
    bits: int
    field: m.Field | None
    part: Part
    prefix: str = ""
    expected: int | bytes | bool | float | None = None
    """The constant that the value must equal."""
    pieces: tuple[BitField, ...] = ()
    """The bit fields in the slot."""

    @property
    def size(self) -> int:
        """The size in bytes."""
        return self.bits // 8


@dataclass(frozen=True, slots=True, kw_only=True)
class FixedRun:
    """A sequence of values of fixed size; `size`: that of all together in bytes."""

    slots: tuple[Slot, ...]
    size: int
    kind: Literal["run"] = "run"


@dataclass(frozen=True, slots=True, kw_only=True)
class VariableNumber:
    """An integer of several widths: a varint, an enum of them, or a coding."""

    key: str
    type: m.Varint | m.CodingReference | m.EnumReference
    field: m.Field | None
    part: Part
    prefix: str = ""
    expected: int | None = None
    kind: Literal["number"] = "number"


@dataclass(frozen=True, slots=True, kw_only=True)
class Held:
    """The length is the value under `key`; `may_be_null`: it may say that the value is None."""

    key: str
    may_be_null: bool = False
    kind: Literal["held"] = "held"


@dataclass(frozen=True, slots=True, kw_only=True)
class GivenLength:
    """The length is the value of an expression."""

    value: m.Expression
    prefix: str
    kind: Literal["given"] = "given"


@dataclass(frozen=True, slots=True, kw_only=True)
class Rest:
    """The length is that of all bytes up to the end of the region."""

    kind: Literal["rest"] = "rest"


@dataclass(frozen=True, slots=True, kw_only=True)
class Delimiter:
    """The value ends before these bytes, which follow it."""

    bytes: bytes
    kind: Literal["delimiter"] = "delimiter"


@dataclass(frozen=True, slots=True, kw_only=True)
class Until:
    """The list ends with the first item for which the condition holds."""

    condition: m.Expression
    prefix: str
    kind: Literal["until"] = "until"


Extent: TypeAlias = Held | GivenLength | Rest | Delimiter | Until


@dataclass(frozen=True, slots=True, kw_only=True)
class Chunk:
    """The bytes of a bytes or text field."""

    key: str
    type: m.Bytes | m.Text
    extent: Extent
    field: m.Field | None
    kind: Literal["chunk"] = "chunk"


@dataclass(frozen=True, slots=True, kw_only=True)
class Make:
    """A struct whose fields the preceding steps have read."""

    key: str
    struct: m.Struct
    kind: Literal["make"] = "make"


@dataclass(frozen=True, slots=True, kw_only=True)
class RepeatedItems:
    """A sequence of items; `smallest` is the smallest size of an item in bytes."""

    key: str
    extent: Extent
    item: tuple[Step, ...]
    item_key: str
    smallest: int
    field: m.Field | None
    kind: Literal["repeat"] = "repeat"


@dataclass(frozen=True, slots=True, kw_only=True)
class Invoke:
    """A value that has a function of its own: a union, a recursive struct, a frame, a message."""

    key: str
    target: m.Target
    name: str
    only: tuple[str, ...] | None
    is_lenient: bool
    is_last: bool
    """Whether it is the last in a region that has an end."""
    field: m.Field | None
    kind: Literal["invoke"] = "invoke"


@dataclass(frozen=True, slots=True, kw_only=True)
class Enter:
    """The beginning of a region; `hoisted` bytes of it are in the run before. `Leave` of the same key ends it."""

    key: str
    extent: Held | GivenLength
    hoisted: int = 0
    kind: Literal["enter"] = "enter"


@dataclass(frozen=True, slots=True, kw_only=True)
class Mark:
    """The begin or end of a field whose size an expression needs; `hoisted` bytes after it are in the run before.

    `is_exact`: the bytes of the field are needed, so that runs end there. `is_read`: a check needs them on
    reading too.
    """

    key: str
    edge: Literal["start", "end"]
    is_exact: bool
    is_read: bool
    hoisted: int = 0
    kind: Literal["mark"] = "mark"


@dataclass(frozen=True, slots=True, kw_only=True)
class Leave:
    """The end of a region, which must be full; if it is lenient, trailing bytes are kept by the declaration."""

    key: str
    is_lenient: bool
    owner: str
    """The keeper of trailing bytes: the key of a record that `is_made` before, or the prefix of its fields' keys."""
    is_made: bool
    is_padded: bool
    """Whether the region's size is given, so that trailing zeros only fill it."""
    kind: Literal["leave"] = "leave"


@dataclass(frozen=True, slots=True, kw_only=True)
class Carry:
    """Content in transformed bytes: compressed, or joined from chunks."""

    key: str
    prefix: str
    content: tuple[Step, ...]
    carrier: m.Compressed | m.Chunks
    extent: Extent | None
    """The extent of the compressed bytes, or None for chunks."""
    chunk: tuple[Step, ...]
    """The steps of one chunk, its key ending in `[]`."""
    is_lenient: bool
    field: m.Field | None
    kind: Literal["carry"] = "carry"

    @property
    def fills(self) -> bool:
        """Return whether the content always reads to the end of its bytes: frames compare their end with it."""
        match self.content:
            case (*_, RepeatedItems(extent=Rest(), item=(Invoke(target="frame"),))):
                return True
            case _:
                return False


@dataclass(frozen=True, slots=True, kw_only=True)
class OptionalField:
    """A field that is present if the condition holds or, for `is_trailing`, if bytes remain: `size`, or any for None.

    `row`: the keys of the trailing fields from this one on, which are absent with it; they are inside
    `steps`.
    """

    key: str
    field: m.Field
    prefix: str
    condition: m.Expression | None
    is_trailing: bool
    size: int | None
    steps: tuple[Step, ...]
    row: tuple[m.Field, ...] = ()
    kind: Literal["option"] = "option"


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """One arm of a choice; without spans it takes the numbers of no other arm. `key`: that of its value."""

    spans: tuple[m.Span, ...]
    steps: tuple[Step, ...]
    key: str
    type: m.Type


@dataclass(frozen=True, slots=True, kw_only=True)
class Choose:
    """A choice: the value is that of the first arm with the subject."""

    key: str
    subject: m.Expression
    prefix: str
    cases: tuple[Case, ...]
    field: m.Field | None
    kind: Literal["choose"] = "choose"


@dataclass(frozen=True, slots=True, kw_only=True)
class CodeDispatch:
    """The message whose code is the subject.

    `can_skip`: an unknown one ends with its region. `is_total`: the code's own enum refuses all unknown ones.
    """

    key: str
    subject: m.Expression
    prefix: str
    only: tuple[str, ...] | None
    is_lenient: bool
    can_skip: bool
    field: m.Field | None
    is_total: bool = False
    kind: Literal["dispatch"] = "dispatch"


@dataclass(frozen=True, slots=True, kw_only=True)
class Check:
    """A condition on the fields read so far: a `where`, or that a derived or constant field has its value.

    `tolerated`: the value of a derived field that only a strict reader requires. `item`: the key of the list
    item that the condition refers to.
    """

    key: str
    expression: m.Expression
    prefix: str
    what: Literal["where", "derived", "tolerated", "constant"]
    field: m.Field
    item: str | None = None
    kind: Literal["check"] = "check"


Step: TypeAlias = (
    FixedRun
    | VariableNumber
    | Chunk
    | Make
    | RepeatedItems
    | Invoke
    | Enter
    | Mark
    | Leave
    | Carry
    | OptionalField
    | Choose
    | CodeDispatch
    | Check
)


@dataclass(frozen=True, slots=True, kw_only=True)
class LayoutSteps:
    """The steps of a declaration; those of a message in its frame begin with the fields of the frame."""

    steps: tuple[Step, ...]
    fixed_size: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Unsupported:
    """A construct for which straight-line code is not printed: its place, and its name for messages."""

    path: str
    construct: str


class UnsupportedError(Exception):
    """Raised while steps are made; holds the unsupported construct."""

    def __init__(self, path: str, construct: str) -> None:
        super().__init__(path, construct)
        self.unsupported = Unsupported(path=path, construct=construct)
