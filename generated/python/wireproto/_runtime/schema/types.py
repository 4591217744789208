"""Types of a schema: the layout of values in bytes."""

from __future__ import annotations

from .expressions import Expression
from .node import Node
from .scalars import FLOATS, INTEGER_LETTERS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Literal, TypeAlias

    from .declarations import Field
    from .literals import Algorithm, BitOrder, Encoding, Endian, FloatName, ViewForm
    from .scalars import FloatFormat

__all__ = [
    "Arm", "Bits", "Block", "Boolean", "BuiltIn", "ByteLength", "Bytes", "Carrier", "Chunks", "CodingReference", "Compressed", "Computed", "Counted", "Delimited", "EnumReference",
    "FixedSize", "Float", "FrameReference", "InSize", "Integer", "ItemCondition", "ItemLength", "Length", "List", "Match", "MessageMatch", "MessageReference", "Prefix",
    "RecordReference", "Reference", "Region", "Restrictable", "Span", "StructReference", "Text", "ToEnd", "Type", "UnionReference", "Until", "Uuid", "Varint", "View",
    "WholeNumber", "covers",
]  # fmt: skip


class Span(Node):
    """Numbers from `low` to `high`, both included."""

    low: int
    high: int


def covers(spans: tuple[Span, ...], number: object) -> bool:
    """Return whether a value is a number in one of the spans."""
    return isinstance(number, int) and any(span.low <= number <= span.high for span in spans)


# ---- lengths


class Prefix(Node):
    """A length or size that precedes what it measures, as an integer; `rule`: the rule that a wrong one violates."""

    type: Integer | Varint | CodingReference
    rule: str | None = None

    @property
    def length(self) -> Prefix:
        """Return the prefix itself, as the length of a region."""
        return self


class Computed(Node):
    """As many as the expression says."""

    value: Expression


class ToEnd(Node):
    """Up to the end of the region."""


class Delimited(Node):
    """Up to the delimiter (hexadecimal), which follows and is not included."""

    delimiter: str


class Until(Node):
    """Items until the condition holds for the last one."""

    condition: Expression


# ---- carriers: each has a `length`, that of the carried bytes, or None where they end by themselves


class InSize(Node):
    """A region of that many bytes."""

    size: Expression

    @property
    def length(self) -> Computed:
        """Return the size as a length."""
        return Computed(self.size)


class Compressed(Node):
    """Bytes that a compression or another transform made of the content; they must fill their length."""

    algorithm: Algorithm
    length: ByteLength


class Chunks(Node):
    """The bytes fields `data` of structs, joined, until a struct fulfils the condition."""

    struct: str
    data: str
    until: Expression
    length = None
    """The last chunk ends the region."""


# ---- scalars


def _bounds(bits: int, is_signed: bool) -> tuple[int, int]:
    return (-(1 << bits - 1), (1 << bits - 1) - 1) if is_signed else (0, (1 << bits) - 1)


class Integer(Node):
    """`size` bytes, two's complement; see INTEGER_SIZES."""

    size: int
    is_signed: bool
    endian: Endian

    @property
    def bits(self) -> int:
        """Return the size in bits."""
        return self.size * 8

    @property
    def bounds(self) -> tuple[int, int]:
        """Return the least and the greatest number."""
        return _bounds(self.size * 8, self.is_signed)

    @property
    def letter(self) -> str:
        """Return the letter of `struct`; "" for a size that it does not have."""
        letter = INTEGER_LETTERS.get(self.size, "")
        return letter.lower() if self.is_signed else letter

    def decode(self, data: bytes | bytearray | memoryview) -> int:
        """Return the number that `size` bytes are."""
        return int.from_bytes(data, self.endian, signed=self.is_signed)

    def encode(self, value: int) -> bytes:
        """Return the bytes of a number. OverflowError: it is not within `bounds`."""
        return value.to_bytes(self.size, self.endian, signed=self.is_signed)


class Float(Node):
    """A float of one of the FLOATS."""

    format: FloatName
    endian: Endian

    @property
    def definition(self) -> FloatFormat:
        """Return the definition of the format."""
        return FLOATS[self.format]

    @property
    def size(self) -> int:
        """Return the size in bytes."""
        return FLOATS[self.format].size

    @property
    def letter(self) -> str:
        """Return the letter of `struct`; "" for a format that it does not have."""
        return FLOATS[self.format].letter

    @property
    def bits(self) -> int:
        """Return the size in bits."""
        return self.size * 8

    def decode(self, data: bytes | bytearray | memoryview) -> float:
        """Return the number that `size` bytes are."""
        return self.definition.unpack(bytes(data if self.endian == "big" else data[::-1]))

    def encode(self, value: float) -> bytes:
        """Return the bytes of a number, rounded to the format. OverflowError: it is too large."""
        data = self.definition.pack(value)
        return data if self.endian == "big" else data[::-1]


class Boolean(Node):
    """One byte, 0 or 1; lenient: each byte but 0 is true."""

    is_lenient: bool

    size = 1
    bits = 8


class Bits(Node):
    """1 to 7 bits of a run that fills whole bytes; `is_flag`: a Boolean."""

    bits: int
    is_flag: bool
    order: BitOrder

    @property
    def bounds(self) -> tuple[int, int]:
        """Return the least and the greatest number."""
        return _bounds(self.bits, False)


class Varint(Node):
    """LEB128 of at most 64 or 63 bits; lenient: longer than needed is accepted."""

    bits: Literal[63, 64]
    is_zigzag: bool
    is_lenient: bool

    @property
    def bounds(self) -> tuple[int, int]:
        """Return the least and the greatest number."""
        return _bounds(self.bits, self.is_zigzag)


class Uuid(Node):
    """16 bytes, most significant first."""

    size = 16
    bits = 128


class EnumReference(Node):
    """A declared enum; `only`: the members allowed, None: all."""

    name: str
    only: tuple[str, ...] | None = None
    is_lenient: bool = False


class CodingReference(Node):
    """A declared variable-width integer."""

    name: str


# ---- bytes, text, lists


class Bytes(Node):
    """Bytes; their length is counted in bytes."""

    length: ByteLength


class Text(Node):
    """Encoded text; its length is counted in bytes, of utf16 in units of two bytes."""

    encoding: Encoding
    length: ByteLength
    is_lenient: bool
    endian: Endian

    @property
    def is_rewritten(self) -> bool:
        """Return whether two texts may have the same bytes, as surrogates of a pair and their character do."""
        return self.is_lenient or self.encoding in ("mutf8", "utf16")


class ItemCondition(Node):
    """A condition that each item of a list must fulfil, and its text in the `.wire` file."""

    condition: Expression
    text: str


class List(Node):
    """Items of one type; `smallest_item`: the fewest bytes that an item takes, 0 while sizes are not known yet."""

    item: Type
    length: ItemLength
    smallest_item: int = 0
    rule: str | None = None
    where: ItemCondition | None = None


# ---- composites


class StructReference(Node):
    """A declared struct."""

    name: str


class UnionReference(Node):
    """A declared union; `only`: the alternatives allowed, None: all."""

    name: str
    only: tuple[str, ...] | None = None
    is_lenient: bool = False


class MessageReference(Node):
    """A message that an arm names."""

    name: str


class FrameReference(Node):
    """A whole frame inside another; `only`: the messages allowed in it, None: all."""

    name: str
    only: tuple[str, ...] | None = None
    is_lenient: bool = False


class MessageMatch(Node):
    """The message whose code is `subject`, of those that the sender may send."""

    subject: Expression
    only: tuple[str, ...] | None = None
    is_lenient: bool = False


class Arm(Node):
    """A type for some values of the subject; without spans: for all other values."""

    spans: tuple[Span, ...]
    type: Type


class Match(Node):
    """The type of the first arm that has the subject's value."""

    subject: Expression
    arms: tuple[Arm, ...]

    def arm(self, number: object) -> Arm | None:
        """Return the arm that takes a value of the subject, or None."""
        return next((arm for arm in self.arms if not arm.spans or covers(arm.spans, number)), None)


class Block(Node):
    """Fields in a row that belong to the enclosing declaration."""

    fields: tuple[Field, ...]


class Region(Node):
    """Content that must fill its region.

    `lenient`: whether bytes left over are accepted. False: they are an error; True: they are kept; `padded`: they are kept, and
    the writer fills the region with zeros.
    """

    content: Type
    carrier: Carrier
    lenient: Literal[False, True, "padded"]


ByteLength: TypeAlias = Prefix | Computed | ToEnd | Delimited
ItemLength: TypeAlias = Prefix | Computed | ToEnd | Until
Length: TypeAlias = ByteLength | ItemLength
Carrier: TypeAlias = InSize | Prefix | Compressed | Chunks
FixedSize: TypeAlias = Integer | Float | Boolean | Bits | Uuid
"""All values have the same `bits`."""
WholeNumber: TypeAlias = Integer | Varint | Bits
"""A number within `bounds`."""
BuiltIn: TypeAlias = FixedSize | Varint | Bytes | Text
"""A type of the language itself whose value has no parts."""
Counted: TypeAlias = Bytes | Text | List
"""As many bytes or items as its `length` says."""
Restrictable: TypeAlias = EnumReference | UnionReference | FrameReference | MessageMatch
"""One of several declarations; `only` some of them, unless `is_lenient`."""
RecordReference: TypeAlias = StructReference | MessageReference | FrameReference
"""The value is a record of the declaration's `name`."""
Reference: TypeAlias = RecordReference | EnumReference | UnionReference | CodingReference
"""A declaration by its `name`."""
Type: TypeAlias = (
    Integer | Float | Boolean | Bits | Varint | Uuid | EnumReference | CodingReference | Bytes | Text | List | StructReference | UnionReference
    | MessageReference | FrameReference | MessageMatch | Match | Block | Region
)  # fmt: skip
if TYPE_CHECKING:
    View: TypeAlias = ViewForm | Type
