"""Frames of the generated classes for every message of a protocol, made from its plan: most of them can be written."""

from __future__ import annotations

import random
from typing import Any, assert_never
from uuid import UUID

from tests.property.codecs import attribute, header_attribute

from wiregen.runtime.records.types import flat_fields, shown_fields
from wiregen.runtime.reference.layout import Fields
from wiregen.runtime.schema.declarations import Field, Trailing, Variety
from wiregen.runtime.schema.expressions import FieldReference, Number
from wiregen.runtime.schema.node import nodes_in
from wiregen.runtime.schema.protocol import Schema
from wiregen.runtime.schema.shapes import content, has_blocks
from wiregen.runtime.schema.types import (
    Bits,
    Block,
    Boolean,
    Bytes,
    CodingReference,
    Computed,
    EnumReference,
    Float,
    FrameReference,
    Integer,
    Length,
    List,
    Match,
    MessageMatch,
    MessageReference,
    Region,
    StructReference,
    Text,
    Type,
    UnionReference,
    Uuid,
    Varint,
)
from wiregen.schema.naming import Scope, python_name

_TEXTS = ("", "a", "key", "zwei Wörter", "\0", "€😀", "x" * 70, "\t\n")
_LATIN = ("", "a", "zwei W\xf6rter", "x" * 70)
_ASCII = ("", "a", "zwei Worte", "x" * 70)


class AnyValues:
    """Makes frames of one generated package; equal seeds make equal frames."""

    def __init__(self, module: Any, plan: Schema, seed: int) -> None:
        self._module = module
        self._plan = plan
        self._dice = random.Random(seed)

    def frames(self) -> list[tuple[str | None, Any]]:
        """Return a frame with each message that it can carry, and who sends it."""
        return [
            (frame.role or self._plan.messages[name].role, self.frame(frame_name, name))
            for frame_name, frame in self._plan.frames.items()
            for name in self._carried(frame_name)
        ]

    def frame(self, frame_name: str, message: str, depth: int = 0) -> Any:
        declared = self._plan.frames[frame_name]
        header = self._row(declared.fields, depth, leave_out=declared.message, names=header_attribute)
        return self._class(frame_name)(self._record(message, depth), **header)

    def _carried(self, frame_name: str) -> list[str]:
        frame = self._plan.frames[frame_name]
        sent = {name: each.role for name, each in self._plan.messages.items() if each.code is not None}
        coded = [name for name, sender in sent.items() if frame.role in (None, sender)]
        coded += [name for name, sender in sent.items() if frame.role and sender is None]
        return coded + _named(frame.fields)

    # ---- records

    def _record(self, name: str, depth: int) -> Any:
        message = self._plan.messages.get(name)
        fields = self._plan.structs[name] if message is None else message.fields
        made = self._class(name)(**self._row(fields, depth))
        n_trailing = sum(isinstance(each.value, Trailing) for each in flat_fields(fields))
        if n_trailing:
            made.absent = self._dice.randint(0, n_trailing)
            self._reset(made, fields)
        return made

    def _reset(self, made: Any, fields: Fields) -> None:
        """Give an absent field the value that it then has."""
        flat = list(flat_fields(fields))
        trailing = [attribute(each.name) for each in flat if isinstance(each.value, Trailing)]
        shown = [attribute(each.name) for each in flat if not each.is_hidden]
        fresh = type(made)(**{name: getattr(made, name) for name in shown if name not in trailing})
        for name in trailing[len(trailing) - made.absent :]:
            setattr(made, name, getattr(fresh, name))

    def _row(
        self, fields: Fields, depth: int, *, leave_out: str | None = None, names: Any = attribute
    ) -> dict[str, Any]:
        row: dict[str, Any] = {}
        for field in fields:
            own = [each.name for each in shown_fields((field,)) if each.name != leave_out]
            if not has_blocks(field.type):
                row.update({names(name): self._field(field, depth) for name in own})
                continue
            row.update({names(name): None for name in own if names(name) not in row})
            if field.condition is None or self._dice.random() < 0.5:
                row.update(self._laid(field, field.type, depth, row, leave_out, names))
        return row

    def _laid(
        self, field: Field, type_: Type, depth: int, row: dict[str, Any], leave_out: str | None, names: Any
    ) -> dict[str, Any]:
        """Return what the block or the arm holds that is laid in a field's place, and the number that chooses it."""
        match content(type_):
            case Block(inner):
                return self._row(inner, depth, leave_out=leave_out, names=names)
            case Match(FieldReference((subject,), "own"), arms) if names(subject) in row:
                arm = self._dice.choice(arms)
                chosen = {names(subject): arm.spans[0].low} if arm.spans else {}
                return {**chosen, **self._laid(field, arm.type, depth, {**row, **chosen}, leave_out, names)}
            case Match(_, arms):
                return self._laid(field, self._dice.choice(arms).type, depth, row, leave_out, names)
            case inner:
                return {} if field.name == leave_out else {names(field.name): self._value(inner, depth)}

    def _field(self, field: Field, depth: int) -> Any:
        if field.condition is not None and field.value is None and self._dice.random() < 0.5:
            return None
        return self._value(field.type, depth)

    def _class(self, name: str) -> Any:
        return getattr(self._module, python_name(name, Scope.MODULE, granted=("Frame",)))

    # ---- values

    def _value(self, type_: Type, depth: int) -> Any:
        match type_:
            case Integer(size, signed):
                return self._integer(8 * size, signed)
            case Varint(bits, zigzag):
                return self._integer(64, True) if zigzag else self._integer(bits, False)
            case Bits(bits, is_flag):
                return self._dice.random() < 0.5 if is_flag else self._dice.randrange(1 << bits)
            case Float():
                return self._dice.choice(
                    (0.0, -1.5, float("inf"), 0.25, 1e10 if type_.size == 8 else 2.0**100)
                )
            case Boolean():
                return self._dice.random() < 0.5
            case Uuid():
                return UUID(int=self._dice.getrandbits(128))
            case Bytes(length):
                return self._sized(length, self._octets())
            case Text(encoding, length, lenient):
                return self._sized(length, self._text(encoding, lenient))
            case List(item):
                return [self._value(item, depth + 1) for _ in range(self._few(depth))]
            case EnumReference(name):
                return self._member(name)
            case CodingReference():
                return self._dice.choice((0, 1, 100))
            case StructReference(name) | MessageReference(name):
                return self._record(name, depth + 1)
            case FrameReference(name, only):
                return self.frame(
                    name, self._dice.choice(only or self._flat_messages(name, depth)), depth + 1
                )
            case UnionReference(name, only):
                return self._variety(name, only, depth)
            case Region(content):
                return self._value(content, depth)
            case Match(_, arms):
                return self._value(self._dice.choice(arms).type, depth)
            case MessageMatch() | Block():
                raise AssertionError(f"no values for {type_}")
            case _:
                assert_never(type_)

    def _few(self, depth: int) -> int:
        return self._dice.randint(0, 3 if depth < 3 else 0)

    def _integer(self, bits: int, signed: bool) -> int:
        low, high = (-(1 << bits - 1), (1 << bits - 1) - 1) if signed else (0, (1 << bits) - 1)
        return self._dice.choice((low, high, 0, 1, 2, 3, self._dice.randint(low, high)))

    def _octets(self) -> bytes:
        return self._dice.randbytes(self._dice.choice((0, 1, 4, 12, 70)))

    def _text(self, encoding: str, lenient: bool) -> str:
        if encoding in ("ascii", "latin1"):
            return self._dice.choice(_ASCII if encoding == "ascii" else _LATIN)
        if encoding == "utf8" and lenient and self._dice.random() < 0.3:
            return self._octets().decode("utf-8", "surrogateescape")
        return self._dice.choice(_TEXTS)

    def _sized(self, length: Length, value: Any) -> Any:
        """Return a value of the length that is computed, where that is a number."""
        match length:
            case Computed(Number(size)):
                return (value * size + (b"x" * 99 if isinstance(value, bytes) else "x" * 99))[:size]
            case _:
                return value

    def _member(self, name: str) -> Any:
        enum = self._plan.enums[name]
        number = self._dice.choice(enum.members).value
        return (
            self._value(enum.type, 0)
            if enum.is_open and self._dice.random() < 0.3
            else self._class(name)(number)
        )

    def _flat_messages(self, frame: str, depth: int) -> list[str]:
        messages = self._plan.messages
        names = [name for name in self._carried(frame) if messages[name].code is not None]
        if depth < 1:
            return names
        return [
            name
            for name in names
            if not any(isinstance(each, FrameReference) for each in nodes_in(messages[name].fields))
        ]

    def _variety(self, union: str, only: tuple[str, ...] | None, depth: int) -> Any:
        chosen = [each for each in self._plan.unions[union].varieties if only is None or each.name in only]
        shallow = [each for each in chosen if not _holds_union(each, union)]
        variety = self._dice.choice(shallow if depth > 2 and shallow else chosen)
        class_ = getattr(self._class(union), python_name(variety.name, Scope.MODULE))
        row = self._row(variety.fields, depth + 1)
        if len(variety.spans) > 1 or variety.spans[0].low != variety.spans[0].high:
            row["code"] = self._dice.choice([each.low for each in variety.spans])
        return class_(**row)


def _holds_union(variety: Variety, union: str) -> bool:
    return any(isinstance(each, UnionReference) and each.name == union for each in nodes_in(variety.fields))


def _named(fields: Fields) -> list[str]:
    """Return the messages that the arms of a frame's body name."""
    return [
        arm.type.name
        for field in flat_fields(fields)
        if isinstance(field.type, Match)
        for arm in field.type.arms
        if isinstance(arm.type, MessageReference)
    ]
