"""Types and fields of the model: how bytes are laid, in wire order."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

from wiregen.schema.model.expressions import Expression

Endian: TypeAlias = Literal["big", "little"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Prefix:
    """`[u32] [varint] [ShortLength]`: the length stands before, as an Integer, a Varint or a coding.

    `rule`: what the alias that stands there names.
    """

    type: Integer | Varint | Reference
    rule: str | None = None
    kind: Literal["prefix"] = "prefix"


@dataclass(frozen=True, slots=True, kw_only=True)
class Computed:
    """`[count * 4]`: as many as the expression says."""

    value: Expression
    kind: Literal["computed"] = "computed"


@dataclass(frozen=True, slots=True, kw_only=True)
class ToTheEnd:
    """`[]`: up to the end of the region."""

    kind: Literal["to_the_end"] = "to_the_end"


@dataclass(frozen=True, slots=True, kw_only=True)
class Delimited:
    """`[until x"00"]`: up to the delimiter (hexadecimal), which follows and is not part of it."""

    delimiter: str
    kind: Literal["delimited"] = "delimited"


@dataclass(frozen=True, slots=True, kw_only=True)
class UntilHolds:
    """`[until e]`: items until `condition` holds of the last one (scope `item`)."""

    condition: Expression
    kind: Literal["until_holds"] = "until_holds"


Length: TypeAlias = Prefix | Computed | ToTheEnd | Delimited | UntilHolds


@dataclass(frozen=True, slots=True, kw_only=True)
class InSize:
    """`in size`: a region of that many bytes."""

    size: Expression
    kind: Literal["in_size"] = "in_size"


@dataclass(frozen=True, slots=True, kw_only=True)
class InPrefix:
    """`in u32`: a region whose size in bytes stands before it; `rule` as in Prefix."""

    type: Integer | Varint | Reference
    rule: str | None = None
    kind: Literal["in_prefix"] = "in_prefix"


@dataclass(frozen=True, slots=True, kw_only=True)
class InCompressed:
    """`in zlib[u32]`: one compressed stream, which must fill its length."""

    algorithm: Literal["zlib", "gzip", "deflate"]
    length: Length
    kind: Literal["in_compressed"] = "in_compressed"


@dataclass(frozen=True, slots=True, kw_only=True)
class InChunks:
    """`in Chunk[until not more]`: the joined bytes of structs whose one bytes field is `data`."""

    struct: str
    data: str
    until: Expression
    kind: Literal["in_chunks"] = "in_chunks"


Carrier: TypeAlias = InSize | InPrefix | InCompressed | InChunks


@dataclass(frozen=True, slots=True, kw_only=True)
class Integer:
    """8 to 64 bits, a multiple of 8, two's complement."""

    bits: int
    signed: bool
    endian: Endian
    kind: Literal["integer"] = "integer"


@dataclass(frozen=True, slots=True, kw_only=True)
class Float:
    """IEEE 754, 32 or 64 bits."""

    bits: int
    endian: Endian
    kind: Literal["float"] = "float"


@dataclass(frozen=True, slots=True, kw_only=True)
class Boolean:
    """One byte, written 0 or 1; lenient: anything but 0 is true."""

    lenient: bool
    kind: Literal["boolean"] = "boolean"


@dataclass(frozen=True, slots=True, kw_only=True)
class Bits:
    """1 to 7 bits of a run that fills whole bytes; `is_flag`: written `bit`, a Boolean."""

    bits: int
    is_flag: bool
    order: Literal["msb", "lsb"]
    kind: Literal["bits"] = "bits"


@dataclass(frozen=True, slots=True, kw_only=True)
class Varint:
    """LEB128 of at most 64 or 63 bits; lenient: longer than needed is accepted."""

    bits: Literal[63, 64]
    zigzag: bool
    lenient: bool
    kind: Literal["varint"] = "varint"


@dataclass(frozen=True, slots=True, kw_only=True)
class Uuid:
    """16 bytes, most significant first."""

    kind: Literal["uuid"] = "uuid"


@dataclass(frozen=True, slots=True, kw_only=True)
class Bytes:
    length: Length
    kind: Literal["bytes"] = "bytes"


Encoding: TypeAlias = Literal["utf8", "mutf8", "ascii", "latin1", "utf16"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Text:
    """Encoded text; the length counts bytes, for utf16 units of 2 bytes."""

    encoding: Encoding
    length: Length
    lenient: bool
    endian: Endian = "big"
    kind: Literal["text"] = "text"


@dataclass(frozen=True, slots=True, kw_only=True)
class List:
    """`T[L]`; `rule`: what the alias that its items are of names.

    `where`: what that alias says of each item (scope `item`); `where_text`: its text, for messages.
    """

    item: Type
    length: Length
    rule: str | None = None
    where: Expression | None = None
    where_text: str = ""
    kind: Literal["list_of"] = "list_of"


Target: TypeAlias = Literal["enum", "struct", "union", "coding", "message", "frame"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Reference:
    """A declared type by its name. `only`: the members, varieties or messages allowed, all where None."""

    target: Target
    name: str
    only: tuple[str, ...] | None = None
    lenient: bool = False
    kind: Literal["reference"] = "reference"


@dataclass(frozen=True, slots=True, kw_only=True)
class MessageMatch:
    """`match x`: the message whose code is `subject`, of those that the sender may send."""

    subject: Expression
    only: tuple[str, ...] | None = None
    lenient: bool = False
    kind: Literal["message_match"] = "message_match"


@dataclass(frozen=True, slots=True, kw_only=True)
class Span:
    """Numbers from `low` to `high`, both included."""

    low: int
    high: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Arm:
    """`0, 4 .. 7 => A`; no patterns: `_`, whatever no other arm takes. `path` ends in the arm's number from 0."""

    path: str
    patterns: tuple[Span, ...]
    type: Type


@dataclass(frozen=True, slots=True, kw_only=True)
class Match:
    """`match x { … }`: the first arm that holds the subject."""

    subject: Expression
    arms: tuple[Arm, ...]
    kind: Literal["match"] = "match"


@dataclass(frozen=True, slots=True, kw_only=True)
class Block:
    """`{ fields }`: fields in a row that belong to the enclosing declaration."""

    fields: tuple[Field, ...]
    kind: Literal["block"] = "block"


@dataclass(frozen=True, slots=True, kw_only=True)
class Region:
    """`SHAPE in CARRIER`: content that must fill its region; lenient: bytes left over are kept in `tail`."""

    content: Type
    carrier: Carrier
    lenient: bool
    kind: Literal["region"] = "region"


Type: TypeAlias = (
    Integer
    | Float
    | Boolean
    | Bits
    | Varint
    | Uuid
    | Bytes
    | Text
    | List
    | Reference
    | MessageMatch
    | Match
    | Block
    | Region
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Notes:
    """The annotations of a declaration, field, member or row; `sources` as written, one tuple of texts each.

    `inherited`: the sources of what it stands in, where it has none of its own.
    """

    sources: tuple[tuple[str, ...], ...] = ()
    inherited: tuple[tuple[str, ...], ...] = ()
    assumed: str | None = None
    errata: str | None = None
    since: str | None = None
    deprecated: str | None = None
    tag: int | Literal["code"] | None = None
    raw: bool = False
    rule: str | None = None
    secret: bool = False

    @property
    def places(self) -> tuple[tuple[str, ...], ...]:
        """Where the document speaks of it: its own sources, else those of what it stands in."""
        return self.sources or self.inherited


@dataclass(frozen=True, slots=True, kw_only=True)
class DefaultOf:
    """The default that a field of a frame has with one message."""

    message: str
    value: Expression


@dataclass(frozen=True, slots=True, kw_only=True)
class Default:
    """`= v`: a keyword with this default; of a frame's fields some messages may have another one."""

    value: Expression
    others: tuple[DefaultOf, ...] = ()
    kind: Literal["default"] = "default"


@dataclass(frozen=True, slots=True, kw_only=True)
class Derived:
    """`:= e`: computed on writing, compared on reading; lenient: any value is accepted."""

    value: Expression
    lenient: bool
    kind: Literal["derived"] = "derived"


@dataclass(frozen=True, slots=True, kw_only=True)
class Constant:
    """`== e`: written, and compared on reading."""

    value: Expression
    kind: Literal["fixed"] = "fixed"


@dataclass(frozen=True, slots=True, kw_only=True)
class Trailing:
    """`?= v`: read if its bytes (or the field's `condition`) are there, else v."""

    value: Expression
    kind: Literal["trailing"] = "trailing"


FieldValue: TypeAlias = Default | Derived | Constant | Trailing


@dataclass(frozen=True, slots=True, kw_only=True)
class View:
    """`as json`, `as dict`, or `as TYPE`: the bytes read once more, lazily."""

    form: Literal["json", "dict", "type"]
    type: Type | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Field:
    """A field in wire order; `_` as a name is bytes without meaning. `doc`: its own, or that of the alias it is of."""

    path: str
    name: str
    doc: str
    type: Type
    view: View | None
    value: FieldValue | None
    condition: Expression | None
    where: Expression | None
    where_text: str
    """The text of `where` as the file has it, for messages."""
    notes: Notes
    where_rules: tuple[tuple[str, str | None], ...] = ()
    """Text and rule of each condition that `where` joins by `and`, if one has a rule of its own; None: the field's."""
