"""The fewest bits that types take, and that follow a field in its declaration: no value leaves more room."""

from __future__ import annotations

from functools import cached_property
from typing import TypeAlias

from wiregen.conformance.samples.rows import rows_of
from wiregen.conformance.samples.unconstrained import FewBits
from wiregen.runtime.schema.declarations import Field
from wiregen.runtime.schema.elements import Element
from wiregen.runtime.schema.expressions import Number
from wiregen.runtime.schema.protocol import Schema, Variant
from wiregen.runtime.schema.shapes import blocks
from wiregen.runtime.schema.types import (
    Block,
    Bytes,
    CodingReference,
    Computed,
    EnumReference,
    FixedSize,
    InSize,
    List,
    Match,
    MessageReference,
    Prefix,
    Region,
    StructReference,
    Text,
    Type,
    UnionReference,
    Varint,
)

__all__ = ["LeastSizes"]

_Fields: TypeAlias = tuple[Field, ...]
_Laid: TypeAlias = Type | Element


class LeastSizes:
    """The least sizes of one loosened schema, in bits. Of each layout variant, the least size counts."""

    def __init__(self, schema: Schema) -> None:
        self._schema = schema
        self._layouts: tuple[Schema | Variant, ...] = (schema, *schema.variants.values())
        self._known: dict[tuple[str, str], int] = {}

    def behind(self, owner: str, name: str, type_: _Laid) -> int:
        """Return the least size of what follows a field in its row; 0 for a type that is only a part of a field's."""
        return self._behind.get((owner, name, id(type_)), 0)

    @cached_property
    def _behind(self) -> dict[tuple[str, str, int], int]:
        found: dict[tuple[str, str, int], int] = {}
        for owner, fields in rows_of(self._schema):
            self._note(owner, fields, found)
        return found

    def _note(self, owner: str, fields: _Fields, found: dict[tuple[str, str, int], int]) -> None:
        after = 0
        for field in reversed(fields):
            key = (owner, field.name, id(field.type))
            found[key] = min(found.get(key, after), after)
            after += self._field(field)
            for block in blocks(field.type):
                self._note(owner, block, found)

    def _field(self, field: Field) -> int:
        """Return the least size of a field. A field with `?=` counts: values are made up with it."""
        return 0 if field.condition is not None else self.of(field.type)

    def _fields(self, fields: _Fields) -> int:
        return sum(self._field(field) for field in fields)

    def of(self, type_: _Laid) -> int:
        """Return the least size of a type."""
        match type_:
            case FewBits(bits=bits):
                return bits
            case _ if isinstance(type_, FixedSize):
                return type_.bits
            case Varint():
                return 8
            case EnumReference(name):
                return self.of(self._schema.enums[name].type)
            case CodingReference(name):
                return self.of(self._schema.codings[name].type)
            case Text() | Bytes() | List():
                return self._counted(type_)
            case StructReference() | MessageReference() | UnionReference():
                return self._declared(type_)
            case Match(arms=arms):
                return min((self.of(arm.type) for arm in arms), default=0)
            case Block(fields):
                return self._fields(fields)
            case Region():
                return self._region(type_)
            case _:
                return 0

    def _counted(self, type_: Text | Bytes | List) -> int:
        match type_.length:
            case Prefix(prefix):
                return self.of(prefix)
            case Computed(Number(number)) if isinstance(type_, List):
                return max(number, 0) * self.of(type_.item)
            case Computed(Number(number)):
                return max(number, 0) * 8
            case _:
                return 0

    def _region(self, type_: Region) -> int:
        match type_.carrier:
            case InSize(Number(size)):
                return max(size, 0) * 8
            case InSize():
                return self.of(type_.content)
            case Prefix(prefix):
                return self.of(prefix) + self.of(type_.content)
            case _:
                return 0

    def _declared(self, type_: StructReference | MessageReference | UnionReference) -> int:
        """Return the least size of a declaration; it is 0 where a declaration holds itself."""
        key = (type(type_).__name__, type_.name)
        if key not in self._known:
            self._known[key] = 0
            self._known[key] = self._measured(type_)
        return self._known[key]

    def _measured(self, type_: StructReference | MessageReference | UnionReference) -> int:
        name = type_.name
        match type_:
            case StructReference():
                rows = [each.structs[name] for each in self._layouts if name in each.structs]
                return min(map(self._fields, rows), default=0)
            case MessageReference():
                rows = [each.messages[name].fields for each in self._layouts if name in each.messages]
                return min(map(self._fields, rows), default=0)
            case UnionReference():
                union = self._schema.unions[name]
                return self.of(union.type) + min(
                    (self._fields(each.fields) for each in union.varieties), default=0
                )
