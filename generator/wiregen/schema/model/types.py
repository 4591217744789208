"""Types and fields of the model: those of a schema, with their documentation and annotations apart, by path."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, Literal, TypeAlias

from wiregen.runtime.schema.declarations import (
    Condition,
    Constant,
    Default,
    DefaultOf,
    Derived,
    Field,
    FieldValue,
    Trailing,
)
from wiregen.runtime.schema.literals import BitOrder, Encoding, Endian, ViewForm
from wiregen.runtime.schema.node import Node
from wiregen.runtime.schema.types import (
    Arm,
    Bits,
    Block,
    Boolean,
    BuiltIn,
    ByteLength,
    Bytes,
    Carrier,
    Chunks,
    CodingReference,
    Compressed,
    Computed,
    Counted,
    Delimited,
    EnumReference,
    FixedSize,
    Float,
    FrameReference,
    InSize,
    Integer,
    ItemCondition,
    ItemLength,
    Length,
    List,
    Match,
    MessageMatch,
    MessageReference,
    Prefix,
    RecordReference,
    Reference,
    Region,
    Restrictable,
    Span,
    StructReference,
    Text,
    ToEnd,
    Type,
    UnionReference,
    Until,
    Uuid,
    Varint,
    WholeNumber,
)

__all__ = [
    "About", "Arm", "BitOrder", "Bits", "Block", "Boolean", "BuiltIn", "ByteLength", "Bytes", "Carrier", "Chunks", "CodingReference", "Compressed", "Computed", "Condition", "Constant",
    "Counted", "Default", "DefaultOf", "Delimited", "Derived", "Encoding", "Endian", "EnumReference", "Field", "FieldValue", "FixedSize", "Float", "FrameReference", "InSize", "Integer",
    "ItemCondition", "ItemLength", "Length", "List", "Match", "MessageMatch", "MessageReference", "Notes", "Prefix", "RecordReference", "Reference", "Region", "Restrictable", "Span",
    "StructReference", "Target", "Text", "ToEnd", "Trailing", "Type", "UnionReference", "Until", "Uuid", "Varint", "View", "WholeNumber", "target_of",
]  # fmt: skip

View: TypeAlias = ViewForm | Type
"""A second reading of a field's bytes: as JSON, as a dictionary of pairs, or as a type."""

Target: TypeAlias = Literal["enum", "struct", "union", "coding", "message", "frame"]

_TARGETS: Final[Mapping[type[Reference], Target]] = {
    EnumReference: "enum",
    StructReference: "struct",
    UnionReference: "union",
    CodingReference: "coding",
    MessageReference: "message",
    FrameReference: "frame",
}


def target_of(reference: Reference) -> Target:
    """Return the kind of declaration that a reference names."""
    return _TARGETS[type(reference)]


class Notes(Node):
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
        """The places in the document that describe it: its own sources, or else those of the node that contains it."""
        return self.sources or self.inherited


class About(Node):
    """Documentation and annotations of a field; `doc`: its own, or that of the alias it is of."""

    doc: str = ""
    notes: Notes = Notes()
