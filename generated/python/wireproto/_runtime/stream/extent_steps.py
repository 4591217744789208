"""The extents of frames, as flat steps: which bytes are skipped, and which numbers give their sizes.

Invariant: the steps only find the end of a frame. Each number on which a size, a count or a choice depends
is read; values are not made, and texts are not examined. A type without steps here is `FOREIGN`: the
reference codec reads it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, Final, TypeAlias

from ..reference.layout import Fields, Layout
from ..schema.declarations import Field, Trailing
from ..schema.expressions import Expression, FieldReference, Number
from ..schema.node import nodes_in
from ..schema.types import (
    Bits,
    Block,
    Boolean,
    Bytes,
    Chunks,
    CodingReference,
    Computed,
    Delimited,
    EnumReference,
    Float,
    Integer,
    List,
    Match,
    MessageMatch,
    MessageReference,
    Prefix,
    Region,
    Span,
    StructReference,
    Text,
    ToEnd,
    Type,
    UnionReference,
    Until,
    Uuid,
    Varint,
)
from .number_steps import (
    BYTES,
    SIZED,
    SKIP,
    EndUnknown,
    Step,
    Steps,
    allowed_of,
    constant_of,
    length_step,
    number_step,
    unpack_of,
)

if TYPE_CHECKING:
    from ..schema.declarations import Width
    from ..schema.node import Node
    from ..schema.types import Carrier, Length

__all__ = [
    "BITS", "ENTER", "FIND", "FOREIGN", "LIST", "MATCH", "MESSAGE", "RUN", "SIZED_VARIABLE", "UNTIL", "VARIABLE", "WHEN", "ExtentSteps",
]  # fmt: skip

ReadNumber: TypeAlias = Callable[[Any, int, int], tuple[int | None, int]]
"""`read(data, position, end)`: the number and the position after it; a position after `end`: the number is cut off."""

SIZED_VARIABLE: Final = 3  # (SIZED_VARIABLE, ReadNumber, unit)
VARIABLE: Final = 4  # (VARIABLE, name or None, ReadNumber, allowed)
FIND: Final = 6  # (FIND, delimiter, unit)
# (LIST, ReadNumber or None, expression or None, smallest item, steps of an item, its size or None, RUN or None)
LIST: Final = 7
UNTIL: Final = 8  # (UNTIL, condition, steps of an item)
ENTER: Final = 9  # (ENTER, name of a struct)
MATCH: Final = 10  # (MATCH, subject or a ReadNumber that is read here, ((pairs of numbers, steps), …))
MESSAGE: Final = 11  # (MESSAGE, subject, names that may come or None)
WHEN: Final = 12  # (WHEN, condition, names, steps)
BITS: Final = 13  # (BITS, size, byte order, ((name, shift, mask, is a flag), …))
FOREIGN: Final = 14  # (FOREIGN,)
RUN: Final = 15  # (RUN, size of each length, unpack): items of nothing but bytes with such a length

_PLAIN = (SKIP, SIZED, SIZED_VARIABLE)
_LONGEST_VARINT = 10  # bytes of 64 bits


class ExtentSteps:
    """The steps of the declarations of one schema, each made when it is first needed."""

    def __init__(self, layout: Layout) -> None:
        self.layout = layout
        self._structs: dict[str, Steps | None] = {}
        self._unions: dict[str, Step | None] = {}
        self._messages: dict[str, Steps] = {}

    def frame(self, name: str) -> Steps:
        """Return the steps of a frame; all its numbers have names, as messages may use them."""
        return self.row(self.layout.frames[name].fields, None)

    def message(self, name: str) -> Steps:
        """Return the steps of a message."""
        if name not in self._messages:
            fields = self.layout.messages[name].fields
            self._messages[name] = self.row(fields, _asked(fields))
        return self._messages[name]

    def struct(self, name: str) -> Steps:
        """Return the steps of a struct."""
        steps = self._struct(name)
        assert steps is not None
        return steps

    def _struct(self, name: str) -> Steps | None:
        """Return the steps of a struct, or None while they are being made, as a struct may hold itself."""
        if name not in self._structs:
            self._structs[name] = None
            fields = self.layout.structs[name]
            self._structs[name] = self.row(fields, _asked(fields))
        return self._structs[name]

    # ---- fields

    def row(self, fields: Fields, asked: set[str] | None) -> Steps:
        """Return the steps of fields in a row; `asked`: the names that expressions use, None for all."""
        steps: list[Step] = []
        index = 0
        while index < len(fields):
            run = _bit_run(fields, index)
            if run:
                steps += _bits(run, asked)
                index += len(run)
                continue
            steps += self._field(fields[index], asked)
            index += 1
        return _merged(steps)

    def _field(self, field: Field, asked: set[str] | None) -> Iterator[Step]:
        if isinstance(field.value, Trailing):
            yield (FOREIGN,)
            return
        name = field.name if asked is None or field.name in asked else None
        steps = self._type(field.type, asked, name, constant_of(field.value))
        if field.condition is None:
            yield from steps
        else:
            yield (WHEN, field.condition, () if name is None else (name,), _merged(steps))

    def _type(
        self, type_: Type, asked: set[str] | None, name: str | None = None, constant: int | None = None
    ) -> Steps:
        """Return the steps of a type. `name`: that under which a number is stored; `constant`: the only valid number."""
        number = self._number(type_, name, constant)
        if number is not None:
            return (number,)
        match type_:
            case Uuid() | Float():
                return ((SKIP, type_.size),)
            case Bytes(length):
                return self._span(length, 1)
            case Text(encoding, length):
                return self._span(length, 2 if encoding == "utf16" else 1)
            case Region(_, carrier):
                return self._region(carrier)
            case StructReference(name_of):
                steps = self._struct(name_of)
                is_plain = steps is not None and all(step[0] in _PLAIN for step in steps)
                return steps if is_plain and steps is not None else ((ENTER, name_of),)
            case Block(fields):
                return self.row(fields, asked)
            case List():
                return (self._list(type_),)
            case _:
                return (self._choice(type_, asked),)

    def _choice(self, type_: Type, asked: set[str] | None) -> Step:
        match type_:
            case MessageMatch(subject, only, is_lenient):
                return (MESSAGE, subject, None if is_lenient and not self.layout.strict else only)
            case Match(subject, arms):
                steps = tuple((_pairs(arm.spans), self._type(arm.type, asked)) for arm in arms)
                return (MATCH, subject, steps)
            case MessageReference(name):
                return (MESSAGE, name, None)
            case UnionReference(name):
                return self._union(name) or (FOREIGN,)
        return (FOREIGN,)

    def _union(self, name: str) -> Step | None:
        """Return the step of a union, or None inside itself or if its code cannot be read here."""
        if name not in self._unions:
            self._unions[name] = None
            union = self.layout.schema.unions[name]
            read = self._reading(union.type)
            if read is not None:
                arms = tuple(
                    (_pairs(each.spans), self.row(each.fields, _asked(each.fields)))
                    for each in union.varieties
                )
                self._unions[name] = (MATCH, read, arms)
        return self._unions[name]

    # ---- numbers

    def _number(self, type_: Type, name: str | None, constant: int | None) -> Step | None:
        """Return the step of a type that is a number, or None for other types."""
        step = number_step(self.layout, type_, name, constant)
        if step is not None:
            return step
        read = _flag if isinstance(type_, Boolean) else self._reading(type_)
        return None if read is None else (VARIABLE, name, read, allowed_of(self.layout, type_, constant))

    def _reading(self, type_: Type) -> ReadNumber | None:
        """Return a function that reads a number on which others depend, or None if only the reference codec can."""
        match type_:
            case Integer(size):
                return _fixed(size, unpack_of(type_))
            case Varint(bits, is_zigzag):
                return _varint(bits, is_zigzag=is_zigzag)
            case EnumReference(name):
                return self._reading(self.layout.schema.enums[name].type)
            case CodingReference(name):
                coding = self.layout.schema.codings[name]
                wide = [None if width.wide is None else self._reading(width.wide) for width in coding.widths]
                read = self._reading(coding.type)
                return None if read is None else _coding(read, coding.widths, wide)
            case _:
                return None

    # ---- whatever has a length

    def _span(self, length: Length, unit: int) -> Steps:
        match length:
            case Prefix(Integer() as type_):
                return (length_step(type_, unit),)
            case Prefix(type_):
                read = self._reading(type_)
                return ((FOREIGN,) if read is None else (SIZED_VARIABLE, read, unit),)
            case Computed(Number(number)):
                return ((SKIP, number * unit),)
            case Computed(expression):
                return ((BYTES, expression, unit),)
            case Delimited(digits):
                return ((FIND, bytes.fromhex(digits), unit),)
            case ToEnd() | Until():
                return ((FOREIGN,),)

    def _region(self, carrier: Carrier) -> Steps:
        if isinstance(carrier, Chunks):
            return (self._until(StructReference(carrier.struct), carrier.until),)
        return self._span(carrier.length, 1)

    def _list(self, type_: List) -> Step:
        item, length = type_.item, type_.length
        if isinstance(length, Until):
            return self._until(item, length.condition)
        if not isinstance(length, Prefix | Computed) or isinstance(item, Bits):
            return (FOREIGN,)
        steps = _merged(self._type(item, set()))
        is_fixed = all(step[0] == SKIP for step in steps)
        how = (type_.smallest_item, steps, sum(step[1] for step in steps) if is_fixed else None, _run(steps))
        if isinstance(length, Computed):
            return (LIST, None, length.value, *how)
        read = self._reading(length.type)
        return (FOREIGN,) if read is None else (LIST, read, None, *how)

    def _until(self, item: Type, condition: Expression) -> Step:
        """Return the step of items that end with a condition on their fields."""
        names = set(_names(condition, "item"))
        if isinstance(item, StructReference):
            fields = self.layout.structs[item.name]
            return (UNTIL, condition, self.row(fields, _asked(fields) | names))
        return (UNTIL, condition, _merged(self._type(item, set(), "")))


# ---- values for expressions


def _asked(fields: Fields) -> set[str]:
    """Return the names on which the sizes, counts and choices of a record's fields depend."""
    return {
        name for field in fields for part in (field.type, field.condition) for name in _names(part, "own")
    }


def _names(part: Node | None, scope: str) -> Iterator[str]:
    for node in nodes_in(part):
        if isinstance(node, FieldReference) and node.scope == scope:
            yield node.path[0] if node.path else ""


def _pairs(spans: tuple[Span, ...]) -> tuple[tuple[int, int], ...]:
    return tuple((span.low, span.high) for span in spans)


def _merged(steps: Iterator[Step] | list[Step] | Steps) -> Steps:
    """Return the steps with adjacent skipped bytes merged."""
    merged: list[Step] = []
    for step in steps:
        if step[0] == SKIP and merged and merged[-1][0] == SKIP:
            merged[-1] = (SKIP, merged[-1][1] + step[1])
        else:
            merged.append(step)
    return tuple(merged)


def _run(steps: Steps) -> Steps | None:
    """Return the steps as a run of bytes with unsigned lengths of one form, or None if they are not."""
    if not steps or any(step[0] != SIZED or step[1:] != steps[0][1:] for step in steps):
        return None
    _, size, unpack, unit, is_signed, form = steps[0]
    return None if is_signed or unit != 1 or not form else ((RUN, size, unpack),)


# ---- bit fields


def _bit_run(fields: Fields, index: int) -> Fields:
    """Return the run of adjacent bit fields from an index on."""
    end = index
    while end < len(fields) and isinstance(fields[end].type, Bits):
        end += 1
    return fields[index:end]


def _bits(run: Fields, asked: set[str] | None) -> Iterator[Step]:
    types = [field.type for field in run if isinstance(field.type, Bits)]
    size = -(-sum(type_.bits for type_ in types) // 8)
    is_msb = types[0].order == "msb"
    parts, done = [], 0
    for field, type_ in zip(run, types, strict=True):
        width = type_.bits
        if asked is None or field.name in asked:
            shift = 8 * size - done - width if is_msb else done
            parts.append((field.name, shift, (1 << width) - 1, type_.is_flag))
        done += width
    yield (BITS, size, "big" if is_msb else "little", tuple(parts)) if parts else (SKIP, size)


# ---- how numbers are read


def _flag(data: Any, position: int, end: int) -> tuple[int | None, int]:
    return (data[position] != 0 if position < end else None), position + 1


def _fixed(size: int, unpack: Callable[[Any, int], tuple[Any, ...]]) -> ReadNumber:
    def read(data: object, position: int, end: int) -> tuple[int | None, int]:
        after = position + size
        return (unpack(data, position)[0] if after <= end else None), after

    return read


def _varint(bits: int, *, is_zigzag: bool) -> ReadNumber:
    def read(data: Any, position: int, end: int) -> tuple[int | None, int]:
        number = shift = 0
        last = position + _LONGEST_VARINT
        while position < end:
            byte = data[position]
            position += 1
            number |= (byte & 0x7F) << shift
            if byte < 0x80:
                if number >> bits:
                    raise EndUnknown
                return (number >> 1 ^ -(number & 1) if is_zigzag else number), position
            if position == last:
                raise EndUnknown
            shift += 7
        return None, end + 1

    return read


def _coding(first: ReadNumber, widths: tuple[Width, ...], wide: list[ReadNumber | None]) -> ReadNumber:
    rows = [((width.low, width.high, width.is_null), rest) for width, rest in zip(widths, wide, strict=True)]

    def read(data: object, position: int, end: int) -> tuple[int | None, int]:
        number, position = first(data, position, end)
        if position > end or number is None:
            return None, position
        for (low, high, is_null), rest in rows:
            if low <= number <= high:
                return (
                    rest(data, position, end) if rest is not None else (None if is_null else number, position)
                )
        raise EndUnknown

    return read
