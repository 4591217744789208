"""The flat list of steps of a declaration: what straight-line code is printed from.

Steps are in wire order. Adjacent fields of fixed size are one `Run`, across nested blocks and structs, into a region whose
size is known, and from the frame's header into its message; a length prefix is part of the run before its bytes. Every value
has a `key`, its place in the declaration (`pairs`, `pairs[].key`, `pairs#length`; `frame:version` in the frame around a
message); later steps, checks and expressions speak of keys.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

from wiregen.schema import model as m
from wiregen.schema.field_facts import Part

Fixed: TypeAlias = m.Integer | m.Float | m.Boolean | m.Uuid | m.Bits | m.EnumReference
"""What a run can hold."""

FRAME = "frame:"
"""What the key of a frame's own field begins with."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Piece:
    """A bit field: `bits` bits of a slot, `shift` bits above its lowest."""

    key: str
    bits: int
    shift: int
    is_flag: bool
    field: m.Field


@dataclass(frozen=True, slots=True, kw_only=True)
class Slot:
    """One value of a run, `bits` wide: a field, the length before one, the code of a message, or padding.

    `prefix`: what a key's `in` names begin with, for the expressions of its field.
    """

    key: str
    type: Fixed
    bits: int
    field: m.Field | None
    part: Part
    prefix: str = ""
    expected: int | bytes | bool | float | None = None
    """The constant that it must be."""
    pieces: tuple[Piece, ...] = ()
    """The bit fields that it is made of."""

    @property
    def size(self) -> int:
        """In bytes."""
        return self.bits // 8


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """Values of fixed size in a row; `size` bytes together."""

    slots: tuple[Slot, ...]
    size: int
    kind: Literal["run"] = "run"


@dataclass(frozen=True, slots=True, kw_only=True)
class Number:
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
    """As many as the value under `key` says; `may_be_null`: no value at all is the length of None."""

    key: str
    may_be_null: bool = False
    kind: Literal["held"] = "held"


@dataclass(frozen=True, slots=True, kw_only=True)
class Given:
    """As many as an expression says."""

    value: m.Expression
    prefix: str
    kind: Literal["given"] = "given"


@dataclass(frozen=True, slots=True, kw_only=True)
class Rest:
    """All up to the end of the region."""

    kind: Literal["rest"] = "rest"


@dataclass(frozen=True, slots=True, kw_only=True)
class Delimiter:
    """Up to these bytes, which follow."""

    bytes: bytes
    kind: Literal["delimiter"] = "delimiter"


@dataclass(frozen=True, slots=True, kw_only=True)
class Until:
    """Items until the condition holds of the last one."""

    condition: m.Expression
    prefix: str
    kind: Literal["until"] = "until"


Extent: TypeAlias = Held | Given | Rest | Delimiter | Until


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
    """A struct whose fields the steps before have read."""

    key: str
    struct: m.Struct
    kind: Literal["make"] = "make"


@dataclass(frozen=True, slots=True, kw_only=True)
class Repeat:
    """Items in a row; `smallest` is the size of the least item in bytes."""

    key: str
    extent: Extent
    item: tuple[Step, ...]
    item_key: str
    smallest: int
    field: m.Field | None
    kind: Literal["repeat"] = "repeat"


@dataclass(frozen=True, slots=True, kw_only=True)
class Invoke:
    """A value that has a function of its own: a union, a struct inside itself, a frame, a message."""

    key: str
    target: m.Target
    name: str
    only: tuple[str, ...] | None
    is_lenient: bool
    is_last: bool
    """Nothing can follow it in a region that has an end."""
    field: m.Field | None
    kind: Literal["invoke"] = "invoke"


@dataclass(frozen=True, slots=True, kw_only=True)
class Enter:
    """The beginning of a region; `hoisted` bytes of it stand in the run before. `Leave` of the same key ends it."""

    key: str
    extent: Held | Given
    hoisted: int = 0
    kind: Literal["enter"] = "enter"


@dataclass(frozen=True, slots=True, kw_only=True)
class Mark:
    """Where a field begins or ends whose size is asked for; `hoisted` bytes behind it stand in the run before.

    `is_exact`: its bytes themselves are asked for, so that runs end there. `is_read`: a check asks on reading too.
    """

    key: str
    edge: Literal["start", "end"]
    is_exact: bool
    is_read: bool
    hoisted: int = 0
    kind: Literal["mark"] = "mark"


@dataclass(frozen=True, slots=True, kw_only=True)
class Leave:
    """The end of a region, which must be full; lenient: what is left over is the declaration's tail."""

    key: str
    is_lenient: bool
    owner: str
    """Whose tail that is: the key of a record that `is_made` by then, or what the keys of its fields begin with."""
    is_made: bool
    is_padded: bool
    """Its size is given: zeros that are left over only fill it."""
    kind: Literal["leave"] = "leave"


@dataclass(frozen=True, slots=True, kw_only=True)
class Carry:
    """Content in bytes that are transformed: compressed, or joined out of chunks."""

    key: str
    prefix: str
    content: tuple[Step, ...]
    carrier: m.Compressed | m.Chunks
    extent: Extent | None
    """How many compressed bytes; None for chunks."""
    chunk: tuple[Step, ...]
    """The steps of one chunk, its key ending in `[]`."""
    is_lenient: bool
    field: m.Field | None
    kind: Literal["carry"] = "carry"


@dataclass(frozen=True, slots=True, kw_only=True)
class Option:
    """A field that is there if the condition holds; or, `is_trailing`, if its bytes are (`size` None: any byte).

    `row`: the keys of the trailing fields from this one on, which are absent with it; they stand inside `steps`.
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
    """One arm of a choice; no spans: whatever no other arm takes. `key` is where its value is."""

    spans: tuple[m.Span, ...]
    steps: tuple[Step, ...]
    key: str
    type: m.Type


@dataclass(frozen=True, slots=True, kw_only=True)
class Choose:
    """The first arm that holds the subject gives the value."""

    key: str
    subject: m.Expression
    prefix: str
    cases: tuple[Case, ...]
    field: m.Field | None
    kind: Literal["choose"] = "choose"


@dataclass(frozen=True, slots=True, kw_only=True)
class Dispatch:
    """The message whose code the subject is; `can_skip`: an unknown one ends where its region does."""

    key: str
    subject: m.Expression
    prefix: str
    only: tuple[str, ...] | None
    is_lenient: bool
    can_skip: bool
    field: m.Field | None
    kind: Literal["dispatch"] = "dispatch"


@dataclass(frozen=True, slots=True, kw_only=True)
class Check:
    """A condition on what was read so far: `where`, or that a derived or constant field is what it must be.

    `tolerated`: what a derived field must be for a strict reader only. `item`: the key of the item of a list that the
    condition is about.
    """

    key: str
    expression: m.Expression
    prefix: str
    what: Literal["where", "derived", "tolerated", "constant"]
    field: m.Field
    item: str | None = None
    kind: Literal["check"] = "check"


Step: TypeAlias = (
    Run
    | Number
    | Chunk
    | Make
    | Repeat
    | Invoke
    | Enter
    | Mark
    | Leave
    | Carry
    | Option
    | Choose
    | Dispatch
    | Check
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Layout:
    """The steps of a declaration; of a message in its frame they begin with the fields of the frame."""

    steps: tuple[Step, ...]
    fixed_size: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Unsupported:
    """A construct that straight-line code is not printed for: where it stands, and its name for people."""

    path: str
    construct: str


class UnsupportedError(Exception):
    """Raised while steps are made; carries what was met."""

    def __init__(self, path: str, construct: str) -> None:
        super().__init__(path, construct)
        self.unsupported = Unsupported(path=path, construct=construct)
