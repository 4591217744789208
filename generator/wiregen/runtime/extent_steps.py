"""How far frames reach, as flat steps: which bytes are skipped, and which numbers say how many.

Invariant: the steps only find where a frame ends. Each number that a size, a count or a choice depends on is read; no
value is made, and no text is looked at. What has no steps here is `FOREIGN`: the reference codec reads it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cache
from struct import Struct
from typing import Any, Final, TypeAlias

from .layout import Fields, Layout, Type
from .schema.declarations import Field
from .schema.types import Carrier, Computed, Integer, Length, Prefix, StructReference

__all__ = [
    "BITS", "BYTES", "ENTER", "FIND", "FOREIGN", "LIST", "MATCH", "MESSAGE", "NUMBER", "RUN", "SIZED", "SIZED_VARIABLE", "SKIP",
    "UNTIL", "VARIABLE", "WHEN", "ExtentSteps", "Odd", "Step", "Steps",
]  # fmt: skip

Step: TypeAlias = tuple[Any, ...]
Steps: TypeAlias = tuple[Step, ...]
Number: TypeAlias = Callable[[Any, int, int], tuple[int | None, int]]
"""`read(data, position, end)`: the number and the position after it; a position after `end`: it is cut."""

SKIP: Final = 0  # (SKIP, size)
SIZED: Final = 1  # (SIZED, size of the length, unpack, bytes that it counts as one, the length is signed)
NUMBER: Final = 2  # (NUMBER, name or None, size, unpack, allowed values or None, struct format or "")
SIZED_VARIABLE: Final = 3  # (SIZED_VARIABLE, Number, unit)
VARIABLE: Final = 4  # (VARIABLE, name or None, Number, allowed)
BYTES: Final = 5  # (BYTES, expression, unit)
FIND: Final = 6  # (FIND, delimiter, unit)
LIST: Final = (
    7  # (LIST, Number or None, expression or None, smallest item, steps of an item, its size or None, RUN or None)
)
UNTIL: Final = 8  # (UNTIL, condition, steps of an item)
ENTER: Final = 9  # (ENTER, name of a struct)
MATCH: Final = 10  # (MATCH, subject, ((patterns, steps), …)); a subject that is a Number is read here
MESSAGE: Final = 11  # (MESSAGE, subject, names that may come or None)
WHEN: Final = 12  # (WHEN, condition, names, steps)
BITS: Final = 13  # (BITS, size, byte order, ((name, shift, mask, is a flag), …))
FOREIGN: Final = 14  # (FOREIGN,)
RUN: Final = 15  # (RUN, size of each length, unpack): items of nothing but bytes with such a length

_PLAIN = (SKIP, SIZED, SIZED_VARIABLE)
_LONGEST_VARINT = 10  # bytes: what 64 bits take
_FORMATS = {1: "b", 2: "h", 4: "i", 8: "q"}


class Odd(Exception):
    """The frame's end cannot be found."""


class ExtentSteps:
    """The steps of the declarations of one schema, each made when it is first asked for."""

    def __init__(self, schema: Layout) -> None:
        self.schema = schema
        self._structs: dict[str, Steps | None] = {}
        self._unions: dict[str, Step | None] = {}
        self._messages: dict[str, Steps] = {}

    def frame(self, name: str) -> Steps:
        """Return the steps of a frame; all its numbers have names, for messages may ask for them."""
        return self.row(self.schema.frames[name][1], None)

    def message(self, name: str) -> Steps:
        """Return the steps of a message."""
        if name not in self._messages:
            fields = self.schema.messages[name][2]
            self._messages[name] = self.row(fields, _asked(fields))
        return self._messages[name]

    def struct(self, name: str) -> Steps:
        """Return the steps of a struct."""
        steps = self._struct(name)
        assert steps is not None
        return steps

    def _struct(self, name: str) -> Steps | None:
        """Return the steps of a struct; None while they are made, for a struct may hold itself."""
        if name not in self._structs:
            self._structs[name] = None
            fields = self.schema.structs[name]
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
        name, _, type_, value, condition = field[:5]
        if value is not None and value[0] == "trailing":
            yield (FOREIGN,)
            return
        is_asked = asked is None or name in asked
        steps = self._type(type_, asked, name if is_asked else None, _constant(value))
        if condition is None:
            yield from steps
        else:
            yield (WHEN, condition, (name,) if is_asked else (), _merged(steps))

    def _type(
        self, type_: Type, asked: set[str] | None, name: str | None = None, constant: int | None = None
    ) -> Steps:
        """Return the steps of a type. `name`: what a number is kept as; `constant`: the only one that is good."""
        number = self._number(type_, name, constant)
        if number is not None:
            return (number,)
        match type_:
            case ("uuid",):
                return ((SKIP, 16),)
            case ("float", size, *_):
                return ((SKIP, size),)
            case ("bytes", length):
                return self._span(length, 1)
            case ("text", encoding, length, *_):
                return self._span(length, 2 if encoding == "utf16" else 1)
            case ("region", _, carrier, _):
                return self._region(carrier)
            case ("struct", name_of):
                steps = self._struct(name_of)
                is_plain = steps is not None and all(step[0] in _PLAIN for step in steps)
                return steps if is_plain and steps is not None else ((ENTER, name_of),)
            case ("block", fields):
                return self.row(fields, asked)
            case ("list", item, length, smallest, *_):
                return (self._list(item, length, smallest),)
            case _:
                return (self._choice(type_, asked),)

    def _choice(self, type_: Type, asked: set[str] | None) -> Step:
        match type_:
            case ("message_match", subject, only, is_lenient):
                return (MESSAGE, subject, None if is_lenient and not self.schema.strict else only)
            case ("match", subject, arms):
                return (MATCH, subject, tuple((spans, self._type(arm, asked)) for spans, arm in arms))
            case ("message", name):
                return (MESSAGE, name, None)
            case ("union", name, *_):
                return self._union(name) or (FOREIGN,)
        return (FOREIGN,)

    def _union(self, name: str) -> Step | None:
        """Return the step of a union; None of one whose code has no reading, and within itself."""
        if name not in self._unions:
            self._unions[name] = None
            code, varieties, _ = self.schema.plan.unions[name]
            read = self._reading(code)
            if read is not None:
                arms = tuple((spans, self.row(fields, _asked(fields))) for spans, _, fields, _ in varieties)
                self._unions[name] = (MATCH, read, arms)
        return self._unions[name]

    # ---- numbers

    def _number(self, type_: Type, name: str | None, constant: int | None) -> Step | None:
        """Return the step of a type that is a number; None of one that is not."""
        allowed: frozenset[int] | None = None if constant is None else frozenset((constant,))
        if type_[0] == "enum":
            base, is_open, members = self.schema.plan.enums[type_[1]]
            if not is_open and allowed is None:
                allowed = frozenset(number for number, _ in members)
            type_ = base
        if type_[0] == "bool":
            if name is not None and type_[1] and not self.schema.strict:
                return (VARIABLE, name, _flag, allowed)
            if self.schema.strict or not type_[1]:
                allowed = allowed or frozenset((0, 1))
            type_ = Integer(1, False, "big")
        if type_[0] == "int":
            if name is None and allowed is None:
                return (SKIP, type_[1])
            return (NUMBER, name, type_[1], _unpack(type_), allowed, _format(type_))
        read = self._reading(type_)
        return None if read is None else (VARIABLE, name, read, allowed)

    def _reading(self, type_: Type) -> Number | None:
        """Return what reads a number that something depends on; None where only the reference codec does."""
        match type_:
            case ("int", size, *_):
                return _fixed(size, _unpack(type_))
            case ("varint", bits, is_zigzag, _):
                return _varint(bits, is_zigzag=is_zigzag)
            case ("enum", name, *_):
                return self._reading(self.schema.plan.enums[name][0])
            case ("coding", name):
                first, rows = self.schema.plan.codings[name]
                wide = [None if row[2] is None else self._reading(row[2]) for row in rows]
                read = self._reading(first)
                return None if read is None else _coding(read, rows, wide)
            case _:
                return None

    # ---- whatever has a length

    def _span(self, length: Length, unit: int) -> Steps:
        match length:
            case ("prefix", ("int", size, is_signed, _) as type_, *_):
                return ((SIZED, size, _unpack(type_), unit, is_signed),)
            case ("prefix", type_, *_):
                read = self._reading(type_)
                return ((FOREIGN,) if read is None else (SIZED_VARIABLE, read, unit),)
            case ("computed", ("number", number)):
                return ((SKIP, number * unit),)
            case ("computed", expression):
                return ((BYTES, expression, unit),)
            case ("delimited", digits):
                return ((FIND, bytes.fromhex(digits), unit),)
            case _:
                return ((FOREIGN,),)

    def _region(self, carrier: Carrier) -> Steps:
        match carrier:
            case ("size", expression):
                return self._span(Computed(expression), 1)
            case ("compressed", _, length):
                return self._span(length, 1)
            case ("chunks", struct, _, until):
                return (self._until(StructReference(struct), until),)
            case _:
                assert isinstance(carrier, Prefix)
                return self._span(carrier, 1)

    def _list(self, item: Type, length: tuple[Any, ...], smallest: int) -> Step:
        if length[0] == "until":
            return self._until(item, length[1])
        if length[0] not in ("prefix", "computed") or item[0] == "bits":
            return (FOREIGN,)
        steps = _merged(self._type(item, set()))
        is_fixed = all(step[0] == SKIP for step in steps)
        how = (smallest, steps, sum(step[1] for step in steps) if is_fixed else None, _run(steps))
        if length[0] == "computed":
            return (LIST, None, length[1], *how)
        read = self._reading(length[1])
        return (FOREIGN,) if read is None else (LIST, read, None, *how)

    def _until(self, item: Type, condition: tuple[Any, ...]) -> Step:
        """Return the step of items up to one for which a condition holds; that speaks of its fields."""
        names = set(_names(condition, "item"))
        if item[0] == "struct":
            fields = self.schema.structs[item[1]]
            return (UNTIL, condition, self.row(fields, _asked(fields) | names))
        return (UNTIL, condition, _merged(self._type(item, set(), "")))


# ---- what expressions ask for


def _asked(fields: Fields) -> set[str]:
    """Return the names that the sizes, counts and choices of a record's fields depend on."""
    return {name for field in fields for part in (field[2], field[4]) for name in _names(part, "own")}


def _names(part: Any, scope: str) -> Iterator[str]:
    if isinstance(part, tuple):
        if part[:1] == ("field",) and len(part) == 3 and part[2] == scope:
            yield part[1][0] if part[1] else ""
            return
        for inner in part:
            yield from _names(inner, scope)


def _constant(value: tuple[Any, ...] | None) -> int | None:
    """Return the number that a field must be; None where it may be another."""
    is_constant = value is not None and value[0] == "constant" and value[1][0] in ("number", "truth")
    return int(value[1][1]) if is_constant and value is not None else None


def _merged(steps: Iterator[Step] | list[Step] | Steps) -> Steps:
    """Return the steps with bytes that are skipped one after the other as one."""
    merged: list[Step] = []
    for step in steps:
        if step[0] == SKIP and merged and merged[-1][0] == SKIP:
            merged[-1] = (SKIP, merged[-1][1] + step[1])
        else:
            merged.append(step)
    return tuple(merged)


def _run(steps: Steps) -> Steps | None:
    """Return the steps as a run of bytes with unsigned lengths of one form; None where they are more than that."""
    if not steps or any(step[0] != SIZED or step[1:] != steps[0][1:] for step in steps):
        return None
    _, size, unpack, unit, is_signed = steps[0]
    return None if is_signed or unit != 1 else ((RUN, size, unpack),)


# ---- bit fields


def _bit_run(fields: Fields, index: int) -> Fields:
    """Return the bit fields that stand together from a place on."""
    end = index
    while end < len(fields) and fields[end][2][0] == "bits":
        end += 1
    return fields[index:end]


def _bits(run: Fields, asked: set[str] | None) -> Iterator[Step]:
    total = sum(field[2][1] for field in run)
    size = -(-total // 8)
    is_msb = run[0][2][3] == "msb"
    parts, done = [], 0
    for field in run:
        width, is_flag = field[2][1], field[2][2]
        if asked is None or field[0] in asked:
            shift = 8 * size - done - width if is_msb else done
            parts.append((field[0], shift, (1 << width) - 1, is_flag))
        done += width
    yield (BITS, size, "big" if is_msb else "little", tuple(parts)) if parts else (SKIP, size)


# ---- how numbers are read


@cache
def _unpack(type_: Type) -> Callable[[Any, int], tuple[Any, ...]]:
    """Return what reads an integer at a position, which is there."""
    _, size, is_signed, endian = type_
    if size in _FORMATS:
        return Struct(_format(type_)).unpack_from
    return lambda data, position: (
        int.from_bytes(data[position : position + size], endian, signed=is_signed),
    )


def _format(type_: Type) -> str:
    """Return the format of an integer as `struct` writes it; empty for a width that it has not."""
    _, size, is_signed, endian = type_
    if size not in _FORMATS:
        return ""
    return (">" if endian == "big" else "<") + (_FORMATS[size] if is_signed else _FORMATS[size].upper())


def _flag(data: Any, position: int, end: int) -> tuple[int | None, int]:
    return (data[position] != 0 if position < end else None), position + 1


def _fixed(size: int, unpack: Callable[[Any, int], tuple[Any, ...]]) -> Number:
    def read(data: Any, position: int, end: int) -> tuple[int | None, int]:
        after = position + size
        return (unpack(data, position)[0] if after <= end else None), after

    return read


def _varint(bits: int, *, is_zigzag: bool) -> Number:
    def read(data: Any, position: int, end: int) -> tuple[int | None, int]:
        number = shift = 0
        last = position + _LONGEST_VARINT
        while position < end:
            byte = data[position]
            position += 1
            number |= (byte & 0x7F) << shift
            if byte < 0x80:
                if number >> bits:
                    raise Odd
                return (number >> 1 ^ -(number & 1) if is_zigzag else number), position
            if position == last:
                raise Odd
            shift += 7
        return None, end + 1

    return read


def _coding(first: Number, rows: tuple[Any, ...], wide: list[Number | None]) -> Number:
    def read(data: Any, position: int, end: int) -> tuple[int | None, int]:
        number, position = first(data, position, end)
        if position > end or number is None:
            return None, position
        for (low, high, _, is_null), rest in zip(rows, wide, strict=True):
            if low <= number <= high:
                return (
                    rest(data, position, end) if rest is not None else (None if is_null else number, position)
                )
        raise Odd

    return read
