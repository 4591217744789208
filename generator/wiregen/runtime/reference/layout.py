"""A schema with one layout variant and the caller's limits applied, and facts about types that need no bytes."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, TypeAlias

from ..codec.options import Options
from ..schema.declarations import Field, Trailing
from ..schema.expressions import Expression, Number, Operation
from ..schema.node import replace
from ..schema.protocol import Schema
from ..schema.shapes import fields_reach_end, reaches_end
from ..schema.types import (
    Block,
    Bytes,
    Computed,
    EnumReference,
    FixedSize,
    Region,
    StructReference,
    ToEnd,
    Type,
)

if TYPE_CHECKING:
    from ..schema.declarations import Frame, Message, Preamble

__all__ = ["Fields", "Layout", "Type", "as_octets", "conditions_of", "fixed_size"]

Fields: TypeAlias = tuple[Field, ...]

UNBOUNDED = sys.maxsize


def conditions_of(field: Field) -> Iterator[tuple[Expression, str, str | None]]:
    """Yield each condition on a field's value, with its text and its rule, which is None if it is the field's rule.

    Conditions with rules of their own are joined by `and`, the last one outermost.
    """
    condition, texts = field.where, field.where_text
    if condition is None:
        return
    if isinstance(texts, str):
        yield condition, texts, None
        return
    found = []
    for each in reversed(texts[1:]):
        assert isinstance(condition, Operation)
        found.append((condition.right, each.text, each.rule))
        condition = condition.left
    yield condition, texts[0].text, texts[0].rule
    yield from reversed(found)


class Layout:
    """The declarations of a schema for one decoder."""

    __slots__ = (
        "_codes", "_is_apart", "_struct_sizes", "circular", "count", "depth", "divided", "frame", "frames", "inflated", "joined", "limit_rules", "limits", "messages",
        "n_messages", "preambles", "role", "rules", "schema", "strict", "structs", "work",
    )  # fmt: skip

    def __init__(self, schema: Schema, options: Options) -> None:
        self.schema = schema
        self.role = options.from_role
        self.strict = options.strict
        self._codes: Mapping[str, Mapping[int, str]] = schema.codes
        self._is_apart = len(set(schema.sends.values())) > 1
        self._struct_sizes: dict[str, int | None] = {}
        self.limits: dict[str, int | None] = {**schema.limits, **options.limits}
        self.frame = self._bound(schema, options, "frame")
        self.inflated = self._bound(schema, options, "inflated")
        joined = options.limit(schema, "joined")
        self.joined = self.frame if joined is None else joined
        self.count = self._bound(schema, options, "count")
        self.n_messages = self._bound(schema, options, "messages")
        self.limit_rules: Mapping[str, str] = schema.limit_rules
        self.rules: Mapping[str, str] = schema.rules
        self.depth = self._bound(schema, options, "depth")
        self.work = self._bound(schema, options, "work")
        self.circular: tuple[str, ...] = schema.circular
        self.frames: Mapping[str, Frame] = schema.frames
        self.structs: Mapping[str, Fields] = schema.structs
        self.messages: Mapping[str, Message] = schema.messages
        self.preambles: Mapping[str, Preamble] = schema.preambles
        if options.variant is not None:
            self._vary(options.variant)
        self.divided: dict[tuple[str, str], str] = {
            join.block: name for name, join in schema.joins.items() if join.block is not None
        }

    def block_of(self, frame: str, message: str) -> str | None:
        """Return the block of a frame whose fragments have this name, or None if it is not the name of fragments."""
        if message in self.schema.messages:
            return None
        return next(
            (block for (owner, block), name in self.divided.items() if (owner, name) == (frame, message)),
            None,
        )

    @staticmethod
    def _bound(schema: Schema, options: Options, name: str) -> int:
        limit = options.limit(schema, name)
        return UNBOUNDED if limit is None else limit

    def _vary(self, name: str) -> None:
        """Use the declarations of a layout variant instead of the protocol's own."""
        if name not in self.schema.variants:
            raise ValueError(f"{self.schema.name} has no variant {name}")
        other = self.schema.variants[name]
        self.frames = {**self.frames, **other.frames}
        self.structs = {**self.structs, **other.structs}
        self.messages = {**self.messages, **other.messages}
        self.preambles = {**self.preambles, **other.preambles}
        self.circular = other.circular

    def frame_of(self, role: str | None) -> str:
        """Return the name of the frame that `role` sends, or the first role's.

        A role without frames of its own is given those of the other role.
        """
        sends = self.schema.sends
        if role is not None and role not in self.schema.roles:
            raise ValueError(f"{self.schema.name} has no role {role}")
        first = next(iter(sends.values()))
        return first if role is None else sends.get(role, first)

    def message_of(self, code: int, role: str | None, frame: str | None = None) -> str | None:
        """Return the message with that code: the sender's own first, then any role's.

        If each role has a frame of its own, `frame` carries only messages of its role.
        """
        if frame is None or not self._is_apart:
            return self._named(code, self._senders(role))
        sender = self.frames[frame].role
        return None if sender is None else self._named(code, (sender,))

    def foreign_of(self, code: int, frame: str) -> str | None:
        """Return the message with that code that only the other role sends, in a frame of its own."""
        if not self._is_apart or self.message_of(code, None, frame) is not None:
            return None
        return self._named(code, self._codes)

    def _named(self, code: int, senders: Iterable[str]) -> str | None:
        return next((self._codes[sender][code] for sender in senders if code in self._codes[sender]), None)

    def _senders(self, role: str | None) -> Iterable[str]:
        first = [role] if role in self._codes else []
        return [name for name in first if name is not None] + [name for name in self._codes if name != role]

    def fields_behind(self, fields: Fields) -> list[int | None]:
        """Return for each field the number of bytes that the fields after it take, or None if that varies."""
        sizes: list[int | None] = []
        bits: int | None = 0
        for field in reversed(fields):
            sizes.append(None if bits is None else bits // 8)
            own = self._field_bits(field)
            bits = None if bits is None or own is None else bits + own
        return sizes[::-1]

    def _field_bits(self, field: Field) -> int | None:
        is_optional = field.condition is not None or isinstance(field.value, Trailing)
        return None if is_optional else self.bits(field.type)

    def _fields_bits(self, fields: Fields) -> int | None:
        sizes = [self._field_bits(field) for field in fields]
        return None if None in sizes else sum(size for size in sizes if size is not None)

    def bits(self, type_: Type) -> int | None:
        """Return the number of bits that every value of the type takes, or None if that varies."""
        match type_:
            case EnumReference(name):
                return self.bits(self.schema.enums[name].type)
            case StructReference(name):
                return self._struct_bits(name)
            case Block(fields):
                return self._fields_bits(fields)
            case Bytes(Computed(Number(size))):
                return 8 * max(0, size)
            case _:
                return type_.bits if isinstance(type_, FixedSize) else None

    def _struct_bits(self, name: str) -> int | None:
        """Return the size of a struct in bits, computed once: nested structs with two fields each double
        the work per level.
        """
        if name not in self._struct_sizes:
            # A struct that reaches itself is never fixed: the checker demands something optional on the way.
            self._struct_sizes[name] = None
            self._struct_sizes[name] = self._fields_bits(self.structs[name])
        return self._struct_sizes[name]

    def reaches_end(self, type_: Type) -> bool:
        """Return whether a type takes all bytes left in its region."""
        return reaches_end(type_, self.structs)

    def fields_reach_end(self, fields: Fields) -> bool:
        """Return whether one of the fields of a declaration takes all bytes left in its region."""
        return fields_reach_end(fields, self.structs)


def as_octets(type_: Type) -> Type:
    """Return a type of bytes that fills the place of a block."""
    if not isinstance(type_, Region):
        return Bytes(ToEnd())
    return replace(type_, content=as_octets(type_.content))


def fixed_size(layout: Layout, type_: Type) -> int | None:
    """Return the number of bytes that every value of the type takes, or None if that varies."""
    bits = layout.bits(type_)
    return None if bits is None else -(-bits // 8)
