"""A copy of a schema without derived values, constants and conditions: every field that could be wrong is free.

Its samples are values of the true schema as well: there the encoder computes the derived fields.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from wiregen.runtime.schema.declarations import (
    Constant,
    Derived,
    Enum,
    Field,
    Frame,
    Member,
    Message,
    Preamble,
    Union,
    Variety,
)
from wiregen.runtime.schema.expressions import Call
from wiregen.runtime.schema.node import Node
from wiregen.runtime.schema.protocol import Schema, Variant
from wiregen.runtime.schema.types import Bits, Block, EnumReference, Type
from wiregen.schema.copies import mapped, replace

__all__ = ["CODES", "FewBits", "loosened"]

CODES: Final = "#codes"
"""Prefix of the names of the enums that represent the codes of messages."""
_KINDS: Final = ("structs", "preambles", "frames", "messages")


def loosened(schema: Schema) -> Schema:
    """Return the schema without derived and constant values and without `where`; codes of messages are enums."""
    return _Loosening(schema).schema


if TYPE_CHECKING:

    class FewBits(Bits):
        """A type of bits that is allowed wherever a type is."""

else:

    class FewBits(Node):
        """A field of a run of bits that is read alone: not `Bits`, whose fields are read together."""

        bits: int
        is_flag: bool
        order: str

        bounds = Bits.bounds


class _Loosening:
    def __init__(self, schema: Schema) -> None:
        self._enums = dict(schema.enums)
        self._codes = schema.codes
        self._is_apart = len(set(schema.sends.values())) > 1
        self._sender: str | None = None
        """The role whose frame is being loosened, if each role has a frame of its own."""
        self.schema = replace(
            schema,
            **self._layouts(schema),
            unions={name: self._union(union) for name, union in schema.unions.items()},
            variants={name: Variant(**self._layouts(layouts)) for name, layouts in schema.variants.items()},
            enums=self._enums,
        )

    def _layouts(self, layouts: Schema | Variant) -> dict[str, Any]:
        return {
            kind: {name: self._declaration(entry) for name, entry in getattr(layouts, kind).items()}
            for kind in _KINDS
        }

    def _declaration(self, entry: Any) -> Any:
        self._sender = entry.role if isinstance(entry, Frame) and self._is_apart else None
        if isinstance(entry, Message | Frame | Preamble | Variety):
            return replace(entry, fields=self._fields(entry.fields))
        return self._fields(entry)

    def _union(self, union: Union) -> Union:
        return replace(union, varieties=tuple(self._declaration(each) for each in union.varieties))

    def _fields(self, fields: tuple[Field, ...]) -> tuple[Field, ...]:
        return tuple(self._field(field) for field in fields)

    def _field(self, field: Field) -> Field:
        value, type_ = field.value, field.type
        if isinstance(value, Derived) and isinstance(value.value, Call) and value.value.function == "code":
            type_ = self._code(type_)
        kept = None if isinstance(value, Derived | Constant) else value
        return replace(field, type=self._type(type_), value=kept, where=None)

    def _code(self, type_: Type) -> EnumReference:
        base: Any = self._type(self._enums[type_.name].type if isinstance(type_, EnumReference) else type_)
        name = f"{CODES}{self._sender or ''}{base}"
        senders = self._codes if self._sender is None else (self._sender,)
        named = {code: message for sender in senders for code, message in self._codes[sender].items()}
        self._enums[name] = Enum(base, False, tuple(Member(*each) for each in sorted(named.items())))
        return EnumReference(name)

    def _type(self, type_: Type) -> Type:
        return mapped(type_, self._part)

    def _part(self, part: Node) -> Node | None:
        match part:
            case Block(fields):
                return Block(self._fields(fields))
            case Bits(bits, is_flag, order):
                return FewBits(bits, is_flag, order)
            case _:
                return None
