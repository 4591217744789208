"""protobuf frames: a varint length before each, and stricter checks than those of Google's parser.

The parser keeps the last of duplicate fields and sets unknown ones aside. A body that serializes to the
same bytes again had neither; otherwise its fields are examined one by one. The items of a long body are
counted before the parser decodes it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeAlias

from ..codec.errors import DecodeError, EncodeError, within
from .conversion import Budget, Misfit
from .protobuf_wire import DEEPEST, TOO_DEEP, Tables, is_recursive, look, place_of, read_varint, skim

__all__ = ["ProtobufFormat", "Put", "absent_of", "held", "put_oneof", "take_oneof"]

Carrier: TypeAlias = Any  # classes and messages of protobuf are made at run time
Put = Callable[[Carrier, Carrier], None]
Take = Callable[[Carrier, Budget], Carrier]

_HARMLESS = 1 << 20
"""Bytes of a body that the parser may decode without a check: at most 40 MB of memory."""


# ---- conversions


def put_oneof(table: Mapping[type, tuple[str, Put]], value: object, target: object) -> None:
    """Put a value into the field of a oneof that belongs to its class."""
    name, put = table[type(value)]
    inner = getattr(target, name)
    inner.SetInParent()
    put(value, inner)


def take_oneof(
    table: Mapping[str, tuple[str, Take]],
    source: Carrier,
    oneof: str,
    budget: Budget,
    rule: str | None = None,
) -> Carrier:
    """Return the value of the field of a oneof that is set. `rule`: the rule that an empty oneof breaks."""
    which = source.WhichOneof(oneof)
    if which is None:
        known = ", ".join(name for name, _ in table.values())
        raise Misfit("unknown_code", f"one of {known}"[:200], "none", rule=rule)
    name, take = table[which]
    try:
        return take(getattr(source, which), budget)
    except Misfit as misfit:
        raise misfit.within(name) from None


def held(name: str, field: str, take: Take, source: Carrier, budget: Budget) -> Carrier:
    """Return the value of a required field."""
    if not source.HasField(field):
        raise Misfit("invalid_value", "a value", "nothing", name)
    try:
        return take(getattr(source, field), budget)
    except Misfit as misfit:
        raise misfit.within(name) from None


def absent_of(source: Carrier, fields: tuple[str, ...]) -> int:
    """Return the number of absent fields at the end."""
    are_there: list[bool] = [source.HasField(field) for field in fields]
    n_there = sum(are_there)
    if not all(are_there[:n_there]):
        raise Misfit("constraint", f"no value after the absent {fields[are_there.index(False)]}", "a value")
    return len(fields) - n_there


# ---- the format


class ProtobufFormat:
    """Frames as protobuf messages; `takes` by role (None: the first), `puts` by the class of the frame."""

    __slots__ = ("_error", "_nesting", "_puts", "_tables", "_takes")

    def __init__(
        self,
        puts: Mapping[type, tuple[Carrier, Put]],
        takes: Mapping[str | None, tuple[Carrier, Take]],
        error: type[Exception],
    ) -> None:
        self._puts = puts
        self._takes = takes
        self._error = error
        self._tables = Tables()
        self._nesting: dict[str, bool] = {}

    def pack(self, frame: object) -> bytes:
        class_, put = self._puts[type(frame)]
        target = class_()
        put(frame, target)
        data: bytes = target.SerializeToString()
        if len(data) > DEEPEST and self._nests(class_.DESCRIPTOR):
            try:
                class_.FromString(data)
            except self._error:
                name = class_.DESCRIPTOR.name
                raise EncodeError("unrepresentable", path=name, expected=TOO_DEEP, found="more") from None
        return data

    def _nests(self, descriptor: Carrier) -> bool:
        """Return whether a message can contain itself."""
        known = self._nesting.get(descriptor.full_name)
        if known is None:
            known = self._nesting[descriptor.full_name] = is_recursive(descriptor)
        return known

    def unpack(self, body: bytes, role: str | None, budget: Budget) -> object:
        class_, take = self._of(role)
        if len(body) > _HARMLESS:
            skim(self._tables, class_.DESCRIPTOR, body, budget)
        try:
            source = class_.FromString(body)
        except self._error:
            look(self._tables, class_.DESCRIPTOR, body, budget)
            raise Misfit("invalid_value", "a protobuf message", "other bytes") from None
        source.DiscardUnknownFields()
        if source.SerializeToString() != body:
            look(self._tables, class_.DESCRIPTOR, body, budget)
        return take(source, budget)

    def place(self, body: bytes, role: str | None, misfit: Misfit) -> int:
        try:
            place = place_of(self._tables, self._of(role)[0].DESCRIPTOR, body, misfit.path)
        except Misfit:
            return 0
        return place if misfit.raw is None else place + misfit.raw[1]

    def _of(self, role: str | None) -> tuple[Carrier, Take]:
        return self._takes[role if role in self._takes else None]

    def frame(self, body: bytes) -> bytes:
        return _varint(len(body)) + body

    def framers(
        self, most: int, limits: Mapping[str, Any], budget: Callable[[], Budget]
    ) -> Callable[[], LengthFramer]:
        return lambda: LengthFramer(most)


class LengthFramer:
    """Finds frames with a varint length before each."""

    __slots__ = ("_most", "needed")

    def __init__(self, most: int) -> None:
        self._most = most
        self.needed = 1

    def find(self, data: bytes | bytearray, start: int) -> tuple[int, int] | None:
        size, body = read_varint(data, start, len(data))
        if body is None:
            self.needed = 1
            return None
        if size > self._most:
            found, expected = f"{size} bytes", within(f"a frame of at most {self._most} bytes", "frame")
            raise DecodeError("limit_exceeded", frame_offset=start, at=start, expected=expected, found=found)
        self.needed = max(0, body + size - len(data))
        return None if self.needed else (body, body + size)


def _varint(number: int) -> bytes:
    parts = bytearray()
    while number > 127:
        parts.append(number & 127 | 128)
        number >>= 7
    parts.append(number)
    return bytes(parts)
