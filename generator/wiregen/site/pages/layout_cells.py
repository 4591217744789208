"""A declaration as cells in wire order. A cell is one box of a diagram and one line of a notation.

Keys are the paths that errors name (`Data.pairs`), with `#length`, `#count`, `#code` for the numbers in
front. The keys of a row of cells differ. A cell of fixed size has its size in bits; any other has bounds in
bytes.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import takewhile
from typing import Final, assert_never

from wiregen.language.spelling import expression_text, length_text, type_text
from wiregen.runtime.codec.transforms import TRANSFORMS
from wiregen.runtime.schema.shapes import every_field, leaves
from wiregen.schema import model as m
from wiregen.schema.copies import replace
from wiregen.schema.field_facts import bits_of, called_structs
from wiregen.schema.sizes import Sizes

__all__ = ["Cells", "LayoutCell", "frame_around"]

_DEEPEST: Final = 4
"""The depth to which structs inside structs are expanded; deeper ones have only their own page."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LayoutCell:
    """`bits` None: the size varies from `low` to `high` bytes (None: unbounded).

    `owner`: the declaration of the field. `least`: the fewest bytes of an optional cell where it is present;
    `low` is then 0.
    """

    key: str
    label: str
    type: str
    bits: int | None
    low: int
    high: int | None
    owner: str
    field: m.Field | None = None
    constant: str = ""
    link: str = ""
    is_padding: bool = False
    is_optional: bool = False
    is_list: bool = False
    is_bit: bool = False
    least: int = 0

    @property
    def is_trailing(self) -> bool:
        """Return whether it is absent where too few bytes remain for it."""
        return self.field is not None and isinstance(self.field.value, m.Trailing)

    @property
    def is_fixed(self) -> bool:
        return self.bits is not None


class Cells:
    """Makes the cells of one protocol's declarations."""

    def __init__(self, protocol: m.Protocol) -> None:
        self._protocol = protocol
        self._sizes = Sizes(protocol)
        self._structs = {struct.name: struct for struct in protocol.structs}
        self._enums = {enum.name: enum for enum in protocol.enums}
        self._called = called_structs(protocol)

    def of(self, owner: str, fields: tuple[m.Field, ...]) -> tuple[LayoutCell, ...]:
        """Return the cells of fields outside of a frame."""
        return _numbered(_Walk(self, None).fields(fields, owner, 0))

    def of_message(self, frame: m.Frame, message: m.Message) -> tuple[LayoutCell, ...]:
        """Return the cells of a whole frame that carries a message."""
        return _numbered(_Walk(self, message).fields(frame.fields, frame.name, 0))

    @property
    def sizes(self) -> Sizes:
        return self._sizes

    def struct(self, name: str, depth: int) -> m.Struct | None:
        """Return a struct that can be expanded at that depth."""
        return None if name in self._called or depth >= _DEEPEST else self._structs.get(name)

    def number(self, type_: m.Type) -> int | None:
        """Return the bits of a number of fixed size; of any other type None."""
        match type_:
            case m.Bytes(length=m.Computed()) | m.Text(length=m.Computed()):
                return self._sizes.fixed_bits(type_) or None
            case _:
                return bits_of(self._enums, type_)

    @cached_property
    def unions(self) -> dict[str, m.Union]:
        return {union.name: union for union in self._protocol.unions}


class _Walk:
    """Visits fields in wire order; `message`: the one that a frame's match selects."""

    def __init__(self, cells: Cells, message: m.Message | None) -> None:
        self._cells = cells
        self._message = message

    def fields(
        self, fields: tuple[m.Field, ...], owner: str, depth: int, prefix: str = ""
    ) -> Iterator[LayoutCell]:
        index = 0
        while index < len(fields):
            field = fields[index]
            row = tuple(takewhile(lambda each: isinstance(each.type, m.Bits), fields[index:]))
            for each in _in_sight(row) if row else (field,):
                yield from self._field(each, owner, depth, prefix)
            index += max(len(row), 1)

    def _field(self, field: m.Field, owner: str, depth: int, prefix: str) -> Iterator[LayoutCell]:
        key = f"{prefix or owner}.{field.name}"
        if field.condition is not None or isinstance(field.value, m.Trailing):
            yield self._optional(field, key, owner)
            return
        yield from self._type(field.type, key, field, owner, depth)

    def _optional(self, field: m.Field, key: str, owner: str) -> LayoutCell:
        link = field.type.name if isinstance(field.type, m.Reference) else ""
        cell = self._varying(field.type, key, field, owner)
        is_list = isinstance(field.type, m.List)
        return replace(cell, is_optional=True, is_list=is_list, link=link, low=0, least=cell.low)

    def _type(self, type_: m.Type, key: str, field: m.Field, owner: str, depth: int) -> Iterator[LayoutCell]:
        bits = self._cells.number(type_)
        if bits is not None:
            yield self._fixed(type_, key, field, owner, bits)
            return
        match type_:
            case m.Varint() | m.CodingReference() | m.Match() if self._arm(type_) is None:
                yield self._varying(type_, key, field, owner)
            case _ if isinstance(type_, m.Counted):
                yield from self._counted(type_, key, field, owner)
            case _ if isinstance(type_, m.Reference):
                yield from self._reference(type_, key, field, owner, depth)
            case m.MessageMatch() if self._message is not None:
                yield from self._carried(self._message, depth)
            case m.MessageMatch():
                yield self._varying(type_, key, field, owner)
            case m.Match():
                arm = self._arm(type_)
                assert arm is not None
                yield from self._type(arm, key, field, owner, depth)
            case m.Block(fields=fields):
                yield from self.fields(fields, owner, depth, key.rpartition(".")[0])
            case m.Region(content=content, carrier=carrier):
                yield from self._region(type_, content, carrier, key, field, owner, depth)
            case _:
                yield self._varying(type_, key, field, owner)

    def _arm(self, type_: m.Type) -> m.Type | None:
        """Return the arm of a match that holds the message, if there is one."""
        if not isinstance(type_, m.Match) or self._message is None:
            return None
        named = m.MessageReference(name=self._message.name)
        for arm in type_.arms:
            if arm.type == named:
                return arm.type
        has_code = self._message.code is not None
        return next(
            (arm.type for arm in type_.arms if has_code and isinstance(arm.type, m.MessageMatch)), None
        )

    def _fixed(self, type_: m.Type, key: str, field: m.Field, owner: str, bits: int) -> LayoutCell:
        return LayoutCell(
            key=key,
            label=field.name,
            type=type_text(type_),
            bits=bits,
            low=bits // 8,
            high=-(-bits // 8),
            owner=owner,
            field=field,
            constant=self._constant(field),
            link=type_.name if isinstance(type_, m.Reference) else "",
            is_padding=field.name == "_",
            is_bit=isinstance(type_, m.Bits),
        )

    def _constant(self, field: m.Field) -> str:
        """Return the value that a field must have, where this message determines it."""
        match field.value:
            case m.Constant(value=value):
                return expression_text(value)
            case m.Derived(value=m.Call(function="code")) if self._message is not None:
                return "" if self._message.code is None else str(self._message.code)
            case _:
                return ""

    def _varying(self, type_: m.Type, key: str, field: m.Field, owner: str) -> LayoutCell:
        sizes = self._cells.sizes
        return LayoutCell(
            key=key,
            label=field.name,
            type=type_text(type_),
            bits=None,
            low=sizes.smallest(type_),
            high=sizes.largest(type_),
            owner=owner,
            field=field,
            constant=self._constant(field),
            link=type_.name if isinstance(type_, m.Reference) else "",
            is_padding=field.name == "_",
        )

    def _counted(self, type_: m.Counted, key: str, field: m.Field, owner: str) -> Iterator[LayoutCell]:
        length = type_.length
        body = self._varying(type_, key, field, owner)
        body = replace(body, is_list=isinstance(type_, m.List))
        if isinstance(type_, m.List) and isinstance(type_.item, m.Reference):
            body = replace(body, link=type_.item.name)
        if isinstance(length, m.Prefix):
            word = "count" if isinstance(type_, m.List) else "length"
            number = self._number(length.type, f"{key}#{word}", f"{field.name} {word}", owner)
            yield number
            body = replace(body, low=0, high=_less(body.high, number.high), type=_bare(type_))
        yield body

    def _number(
        self, type_: m.Integer | m.Varint | m.CodingReference, key: str, label: str, owner: str
    ) -> LayoutCell:
        sizes, bits = self._cells.sizes, self._cells.number(type_)
        low, high = sizes.smallest(type_), sizes.largest(type_)
        return LayoutCell(
            key=key, label=label, type=type_text(type_), bits=bits, low=low, high=high, owner=owner
        )

    def _reference(
        self, type_: m.Reference, key: str, field: m.Field, owner: str, depth: int
    ) -> Iterator[LayoutCell]:
        is_struct, is_message = isinstance(type_, m.StructReference), isinstance(type_, m.MessageReference)
        struct = self._cells.struct(type_.name, depth) if is_struct else None
        if struct is not None:
            yield from self.fields(struct.fields, struct.name, depth + 1, key)
        elif self._message is not None and is_message and type_.name == self._message.name:
            yield from self._carried(self._message, depth)
        elif isinstance(type_, m.UnionReference):
            yield from self._union(type_, key, field, owner)
        else:
            yield self._varying(type_, key, field, owner)

    def _carried(self, message: m.Message, depth: int) -> Iterator[LayoutCell]:
        """Yield the cells of the message of a frame; a message inside it is one cell of variable size."""
        yield from _Walk(self._cells, None).fields(message.fields, message.name, depth)

    def _union(self, type_: m.UnionReference, key: str, field: m.Field, owner: str) -> Iterator[LayoutCell]:
        code = self._number(self._cells.unions[type_.name].type, f"{key}#code", f"{field.name} code", owner)
        body = self._varying(type_, key, field, owner)
        yield code
        yield replace(body, low=max(body.low - code.low, 0), high=_less(body.high, code.high))

    def _region(
        self,
        region: m.Region,
        content: m.Type,
        carrier: m.Carrier,
        key: str,
        field: m.Field,
        owner: str,
        depth: int,
    ) -> Iterator[LayoutCell]:
        match carrier:
            case m.InSize():
                yield from self._type(content, key, field, owner, depth)
            case m.Prefix(type=type_):
                yield self._number(type_, f"{key}#length", f"{field.name} length", owner)
                yield from self._type(content, key, field, owner, depth)
            case m.Compressed(algorithm=algorithm, length=length):
                whole = self._varying(region, key, field, owner)
                if isinstance(length, m.Prefix):
                    number = self._number(length.type, f"{key}#length", f"{field.name} length", owner)
                    yield number
                    whole = replace(whole, low=0, high=_less(whole.high, number.high))
                low = max(whole.low, TRANSFORMS[algorithm].least)
                yield replace(whole, type=f"{algorithm} of {type_text(content)}", low=low)
            case m.Chunks(struct=struct):
                whole = self._varying(region, key, field, owner)
                yield replace(whole, link=struct, is_list=True)
            case _:
                assert_never(carrier)


def frame_around(protocol: m.Protocol, message: m.Message) -> m.Frame | None:
    """Return the frame that a message is sent in; None where it is only sent inside another message."""
    for frame in protocol.frames:
        is_its = frame.message is not None and (
            None in (frame.role, message.role) or frame.role == message.role
        )
        is_named = any(
            isinstance(leaf, m.MessageReference) and leaf.name == message.name
            for field in every_field(frame.fields)
            for leaf in leaves(field.type)
        )
        if is_its and (message.code is not None or is_named):
            return frame
    return None


def _bare(type_: m.Counted) -> str:
    """Return a type without the length in front of it."""
    text = type_text(type_)
    length = length_text(type_.length)
    return text.replace(f"[{length}]", "[…]", 1) if isinstance(type_, m.List) else text


def _less(high: int | None, taken: int | None) -> int | None:
    return None if high is None or taken is None else max(high - taken, 0)


def _in_sight(row: tuple[m.Field, ...]) -> tuple[m.Field, ...]:
    """Return bit fields in the order of a picture, with the highest bit of each byte on the left."""
    is_lsb = any(isinstance(field.type, m.Bits) and field.type.order == "lsb" for field in row)
    if not is_lsb:
        return row
    found: list[m.Field] = []
    byte: list[m.Field] = []
    filled = 0
    for field in row:
        assert isinstance(field.type, m.Bits)
        byte.insert(0, field)
        filled += field.type.bits
        if filled % 8 == 0:
            found += byte
            byte = []
    return (*found, *byte)


def _numbered(cells: Iterator[LayoutCell]) -> tuple[LayoutCell, ...]:
    """Return cells with different keys: any number of fields may be called `_`."""
    seen: dict[str, int] = {}
    found = []
    for cell in cells:
        seen[cell.key] = seen.get(cell.key, 0) + 1
        count = seen[cell.key]
        found.append(cell if count == 1 else replace(cell, key=f"{cell.key}-{count}"))
    return tuple(found)
