"""Values made from any schema: the reference decoder runs over bytes that are made up as it asks for them.

Derived fields, constraints and lengths are ignored on the way; the encoder of the value computes and checks
them.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping
from typing import Any

from wiregen.runtime.codec.errors import DecodeError, EncodeError
from wiregen.runtime.codec.options import Options
from wiregen.runtime.reference.expressions import Undefined
from wiregen.runtime.reference.layout import Layout
from wiregen.runtime.reference.reading.frames import READERS
from wiregen.runtime.reference.reading.lengths import read_bytes, read_text
from wiregen.runtime.reference.reading.lists import read_list
from wiregen.runtime.reference.reading.reader import Reader
from wiregen.runtime.reference.reading.records import read_bare_frame
from wiregen.runtime.reference.tree import FrameValue
from wiregen.runtime.reference.window import Place, Window
from wiregen.runtime.reference.writing.frames import write_frame
from wiregen.runtime.schema.declarations import (
    Coding,
    Constant,
    Derived,
    Enum,
    Field,
    Frame,
    Member,
    Message,
    Preamble,
    Variety,
    Width,
)
from wiregen.runtime.schema.expressions import Call, FieldReference, Number
from wiregen.runtime.schema.protocol import Schema
from wiregen.runtime.schema.types import (
    Bits,
    Block,
    ByteLength,
    Bytes,
    CodingReference,
    Computed,
    Delimited,
    EnumReference,
    FrameReference,
    InSize,
    Integer,
    List,
    Match,
    Prefix,
    Region,
    Text,
    ToEnd,
    Type,
    UnionReference,
    Varint,
)
from wiregen.schema.copies import replace

__all__ = ["frames", "senders"]

_CODES = "#codes"
_ROOM = 20_000
_N_ATTEMPTS = 60
_LETTERS = ("", "a", "ab", "a\0b", "xyz", "q" * 70, "é", "日本", "😀", "|")


def frames(plan: Schema, dice: random.Random, count: int, options: Options | None = None) -> Iterator[Any]:
    """Yield up to `count` frames that can be written, with their bytes."""
    loose = _loosened(plan)
    for _ in range(count):
        for _ in range(_N_ATTEMPTS):
            value = _grown(loose, dice, options)
            if value is None:
                continue
            try:
                data = write_frame(plan, value, options or Options())
            except EncodeError:
                continue
            yield value, data
            break


def senders(plan: Schema) -> tuple[str | None, ...]:
    """Return the roles whose frames differ, or only the role None if all send the same."""
    frames = plan.sends
    return tuple(frames) if len(set(frames.values())) > 1 else (None,)


def _grown(loose: Schema, dice: random.Random, options: Options | None = None) -> FrameValue | None:
    """Return a random frame, or None if this attempt failed."""
    wishes = options or Options()
    reader = Reader(Layout(loose, wishes), wishes, Window(bytearray(), 0), _Growth(loose, dice).read)
    name = reader.schema.frame_of(wishes.from_role)
    try:
        steps = read_bare_frame(reader, name, Place(name, name), FrameReference(name))
        value = _finished(steps, reader, dice).value
    except (DecodeError, Undefined, RecursionError):
        return None
    assert isinstance(value, FrameValue)
    return value


def _finished(steps: Any, reader: Reader, dice: random.Random) -> Any:
    try:
        needed = next(steps)
        while True:
            if needed > _ROOM:
                raise Undefined("size", "a value that is too large to be made")
            reader.window.data += _some(dice, needed - reader.window.available)
            needed = steps.send(False)
    except StopIteration as done:
        return done.value


def _grow(reader: Reader, data: bytes) -> None:
    buffer, position = reader.window.data, reader.window.position
    assert isinstance(buffer, bytearray)
    buffer[position:] = data


def _some(dice: random.Random, size: int) -> bytes:
    if dice.random() < 0.5:
        return bytes(dice.choice((0, 0, 1, 1, 2, 3, 5, 32, 65, 127)) for _ in range(size))
    return dice.randbytes(size)


class _Growth:
    """Reads types; before one is read, its bytes are appended to the existing bytes."""

    def __init__(self, plan: Schema, dice: random.Random) -> None:
        self._plan = plan
        self._dice = dice

    def read(self, reader: Reader, type_: Type, place: Place) -> Any:
        match type_:
            case Integer() if place.name in ("count", "length"):
                self._number(reader, type_, self._dice.choice((0, 1, 1, 2, 3)))
            case Varint() if place.name in ("count", "length"):
                _grow(reader, bytes([self._dice.choice((0, 2, 4))]))
            case Varint() if reader.window.available == reader.window.position:
                _grow(reader, self._varint())
            case EnumReference(name, only):
                self._member(reader, name, only)
            case UnionReference(name, only):
                self._variety(reader, name, only)
            case CodingReference(name):
                coding = self._plan.codings[name]
                self._code(reader, coding, self._dice.choice(coding.widths))
            case Text():
                return self._text(reader, type_, place)
            case Bytes(length):
                return self._bytes(reader, length, place)
            case List(length=ToEnd()):
                length = Computed(Number(self._dice.randrange(4)))
                return read_list(reader, replace(type_, length=length, smallest_item=0), place)
            case List():
                return read_list(reader, replace(type_, smallest_item=0), place)
            case Region():
                return self._region(reader, type_, place)
        return READERS[type(type_)](reader, type_, place)

    # ---- numbers

    def _number(self, reader: Reader, type_: Integer | Varint, number: int) -> None:
        if isinstance(type_, Varint):
            number = (number << 1 ^ number >> type_.bits - 1) if type_.is_zigzag else number
            _grow(reader, _leb128(number))
            return
        _grow(reader, number.to_bytes(type_.size, type_.endian, signed=type_.is_signed))

    def _varint(self) -> bytes:
        return _leb128(self._dice.choice((0, 1, 2, 3, 127, 128, 300, 2**31, 2**62)))

    def _member(self, reader: Reader, name: str, only: tuple[str, ...] | None) -> None:
        enum = self._plan.enums[name]
        known = [each.value for each in enum.members if only is None or each.name in only]
        if known and not (enum.is_open and self._dice.random() < 0.2):
            self._number(reader, enum.type, self._dice.choice(known))

    def _variety(self, reader: Reader, name: str, only: tuple[str, ...] | None) -> None:
        union = self._plan.unions[name]
        spans = [span for each in union.varieties if only is None or each.name in only for span in each.spans]
        span = self._dice.choice(spans)
        number = self._dice.choice((span.low, span.high, (span.low + span.high) // 2))
        self._number(reader, union.type, number)

    def _code(self, reader: Reader, coding: Coding, width: Width) -> None:
        low, high = width.low, width.high
        number = self._dice.choice((low, high, min(low + self._dice.randrange(3), high)))
        self._number(reader, coding.type, number)

    # ---- what has a length

    def _bytes(self, reader: Reader, length: ByteLength, place: Place) -> Any:
        match length:
            case ToEnd():
                length = Computed(Number(self._dice.randrange(4)))
            case Delimited(delimiter):
                body = bytes(self._dice.choice(b"abc") for _ in range(self._dice.randrange(4)))
                _grow(reader, body + bytes.fromhex(delimiter))
        return read_bytes(reader, Bytes(length), place)

    def _text(self, reader: Reader, type_: Text, place: Place) -> Any:
        encoding, length = type_.encoding, type_.length
        utf16 = f"utf-16-{type_.endian[0]}e"
        python = {"mutf8": "utf-8", "utf8": "utf-8", "utf16": utf16}.get(encoding, encoding)
        text = self._dice.choice(_LETTERS)
        try:
            data = text.encode(python)
        except UnicodeEncodeError:
            text = "a"
            data = text.encode(python)
        if encoding == "mutf8":
            data = data.decode().replace("\0", "").replace("😀", "").encode()
        unit = 2 if encoding == "utf16" else 1
        match length:
            case Prefix():
                # The prefix is left out: only the value is wanted.
                size = min(len(data) // unit, 100)
                length = Computed(Number(size))
                data = data if size == len(data) // unit else b"q" * size * unit
            case Computed(expression):
                size = reader.number(expression, place)
                data = ("q" * min(size, 1000)).encode(python)
            case ToEnd():
                length = Computed(Number(len(data) // unit))
            case Delimited(delimiter):
                end = bytes.fromhex(delimiter)
                data = (b"" if end in data else data) + end
        _grow(reader, data)
        return read_text(reader, replace(type_, length=length), place)

    # ---- regions

    def _region(self, reader: Reader, type_: Region, place: Place) -> Any:
        """Read the content of a region as if it were not in a region; its size is random."""
        window = reader.window
        before = (window.end, reader.is_last, reader.is_bounded)
        room = self._dice.choice((_ROOM, _ROOM, self._dice.randrange(1, 40)))
        window.end = window.position + room if before[0] is None else min(before[0], window.position + room)
        reader.is_last, reader.is_bounded = True, True
        start = window.position
        node = yield from reader.read(reader, type_.content, place)
        window.end, reader.is_last, reader.is_bounded = before
        match type_.carrier:
            case InSize(FieldReference(path, "own")):
                _set(reader, path, window.position - start)
        return node


def _set(reader: Reader, path: tuple[str, ...], number: int) -> None:
    """Let a field that gives a size give the right one."""
    node = reader.scope.nodes.get(path[0]) if len(path) == 1 else None
    if node is not None:
        node.value = number
        if path[0] in reader.scope.fields:
            reader.scope.fields[path[0]] = number


def _leb128(number: int) -> bytes:
    data = bytearray()
    while number > 127:
        data.append(number & 127 | 128)
        number >>= 7
    return bytes([*data, number])


# ---- the plan with nothing that could be wrong


def _loosened(plan: Schema) -> Schema:
    """Return the schema without derived and constant values; codes of messages are an enum."""
    enums = dict(plan.enums)
    unions = {
        name: replace(union, varieties=tuple(_freed(plan, enums, each) for each in union.varieties))
        for name, union in plan.unions.items()
    }
    return replace(
        plan,
        enums=enums,
        unions=unions,
        structs=_all_freed(plan, enums, plan.structs),
        preambles=_all_freed(plan, enums, plan.preambles),
        frames=_all_freed(plan, enums, plan.frames),
        messages=_all_freed(plan, enums, plan.messages),
    )


def _all_freed(plan: Schema, enums: dict[str, Enum], entries: Mapping[str, Any]) -> dict[str, Any]:
    return {name: _freed(plan, enums, entry) for name, entry in entries.items()}


def _freed(plan: Schema, enums: dict[str, Enum], entry: Any) -> Any:
    if isinstance(entry, Message | Frame | Preamble | Variety):
        return replace(entry, fields=_fields(plan, enums, entry.fields))
    return _fields(plan, enums, entry)


def _fields(plan: Schema, enums: dict[str, Enum], fields: tuple[Field, ...]) -> tuple[Field, ...]:
    return tuple(_field(plan, enums, field) for field in fields)


def _field(plan: Schema, enums: dict[str, Enum], field: Field) -> Field:
    type_ = field.type
    if not isinstance(field.value, Derived | Constant):
        return replace(field, type=_type(plan, enums, type_))
    if (
        isinstance(field.value, Derived)
        and isinstance(field.value.value, Call)
        and field.value.value.function == "code"
    ):
        base = plan.enums[type_.name].type if isinstance(type_, EnumReference) else type_
        if isinstance(base, Bits):
            return replace(field, value=None, where=None)
        assert isinstance(base, Integer | Varint)
        codes = sorted({code for role in plan.codes.values() for code in role if _holds(base, code)})
        name = f"{_CODES}{base}"
        enums[name] = Enum(base, False, tuple(Member(code, str(code)) for code in codes))
        type_ = EnumReference(name)
    return replace(field, type=_type(plan, enums, type_), value=None, where=None)


def _holds(base: Integer | Varint, code: int) -> bool:
    """Return whether a type can encode a code, which may be one that only the other role has."""
    if not isinstance(base, Integer):
        return code >= 0
    low, high = base.bounds
    return low <= code <= high


def _type(plan: Schema, enums: dict[str, Enum], type_: Type) -> Type:
    """Return a type with the fields of its blocks freed too."""
    match type_:
        case Block(fields):
            return Block(_fields(plan, enums, fields))
        case Region(content):
            return replace(type_, content=_type(plan, enums, content))
        case Match(subject, arms):
            return Match(subject, tuple(replace(arm, type=_type(plan, enums, arm.type)) for arm in arms))
        case List(item):
            return replace(type_, item=_type(plan, enums, item))
        case _:
            return type_
