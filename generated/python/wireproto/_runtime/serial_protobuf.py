"""protobuf frames: a varint length before each, and what Google's parser lets pass.

The parser keeps the last of doubled fields and puts aside what it does not know. A body that comes out of it with the same
bytes had neither; of any other, the fields are looked at one by one.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from .errors import DecodeError
from .serial import Budget, Misfit

__all__ = ["ProtobufFormat", "Put", "absent_of", "held", "put_oneof", "take_oneof"]

Put = Callable[[Any, Any], None]
Take = Callable[[Any, Budget], Any]

_VARINT, _FIXED64, _BYTES, _FIXED32 = 0, 1, 2, 5
_WIRE_TYPES = {1: _FIXED64, 2: _FIXED32, 9: _BYTES, 11: _BYTES, 12: _BYTES}
"""By descriptor type: double, float, string, message, bytes; all others are varints."""
_NARROW = {5: (2**64 - 2**31, 2**31), 14: (2**64 - 2**31, 2**31), 13: (2**64, 2**32), 17: (2**64, 2**32)}
"""By descriptor type, varints that 32 bits hold: below the second number, or from the first on (negative ones)."""
_LONGEST = 10


# ---- conversions


def put_oneof(table: Mapping[type, tuple[str, Put]], value: Any, target: Any) -> None:
    """Put a value into the field of a oneof that belongs to its class."""
    name, put = table[type(value)]
    inner = getattr(target, name)
    inner.SetInParent()
    put(value, inner)


def take_oneof(table: Mapping[str, tuple[str, Take]], source: Any, oneof: str, budget: Budget) -> Any:
    """Return what the one field of a oneof that is set holds."""
    which = source.WhichOneof(oneof)
    if which is None:
        raise Misfit("unknown_code", f"one of {', '.join(name for name, _ in table.values())}"[:200], "none")
    name, take = table[which]
    try:
        return take(getattr(source, which), budget)
    except Misfit as misfit:
        raise misfit.within(name) from None


def held(name: str, field: str, take: Take, source: Any, budget: Budget) -> Any:
    """Return what a field that must be there holds."""
    if not source.HasField(field):
        raise Misfit("invalid_value", "a value", "nothing", name)
    try:
        return take(getattr(source, field), budget)
    except Misfit as misfit:
        raise misfit.within(name) from None


def absent_of(source: Any, fields: tuple[str, ...]) -> int:
    """Return how many of the last fields are not there."""
    are_there: list[bool] = [source.HasField(field) for field in fields]
    n_there = sum(are_there)
    if not all(are_there[:n_there]):
        raise Misfit("constraint", f"nothing behind the absent {fields[are_there.index(False)]}", "a value")
    return len(fields) - n_there


# ---- the format


class ProtobufFormat:
    """Frames as protobuf messages; `takes` by role (None: the first), `puts` by the class of the frame."""

    __slots__ = ("_error", "_puts", "_takes")

    def __init__(
        self,
        puts: Mapping[type, tuple[Any, Put]],
        takes: Mapping[str | None, tuple[Any, Take]],
        error: type[Exception],
    ) -> None:
        self._puts = puts
        self._takes = takes
        self._error = error

    def pack(self, frame: Any) -> bytes:
        class_, put = self._puts[type(frame)]
        target = class_()
        put(frame, target)
        data: bytes = target.SerializeToString()
        return data

    def unpack(self, body: bytes, role: str | None, budget: Budget) -> Any:
        class_, take = self._takes[role if role in self._takes else None]
        try:
            source = class_.FromString(body)
        except self._error:
            _look_at(class_.DESCRIPTOR, body)
            raise Misfit("invalid_value", "a protobuf message", "other bytes") from None
        source.DiscardUnknownFields()
        if source.SerializeToString() != body:
            _look_at(class_.DESCRIPTOR, body)
        return take(source, budget)

    def frame(self, body: bytes) -> bytes:
        return _varint(len(body)) + body

    def place(self, body: bytes, role: str | None, path: str) -> int:
        return 0

    def framers(
        self, most: int, limits: Mapping[str, Any], budget: Callable[[], Budget]
    ) -> Callable[[], LengthFramer]:
        return lambda: LengthFramer(most)


class LengthFramer:
    """Finds frames that a varint length stands before."""

    __slots__ = ("_most", "needed")

    def __init__(self, most: int) -> None:
        self._most = most
        self.needed = 1

    def find(self, data: bytes | bytearray, start: int) -> tuple[int, int] | None:
        size, body = _read_varint(data, start, len(data))
        if body is None:
            self.needed = 1
            return None
        if size > self._most:
            found, expected = f"{size} bytes", f"a frame of at most {self._most} bytes"
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


def _read_varint(data: bytes | bytearray, start: int, end: int) -> tuple[int, int | None]:
    """Return a number and where it ends; None: it is cut.

    Raises:
        DecodeError: More than 64 bits.
    """
    number = 0
    for index in range(_LONGEST):
        if start + index >= end:
            return 0, None
        byte = data[start + index]
        number |= (byte & 127) << 7 * index
        if byte < 128 and number < 1 << 64:
            return number, start + index + 1
    raise DecodeError(
        "invalid_value", frame_offset=start, at=start, expected="a varint of 64 bits", found="a longer one"
    )


# ---- what the parser lets pass


def _look_at(descriptor: Any, data: bytes) -> None:
    """Refuse a message with a field that is doubled, not known, of another type, or cut."""
    seen: dict[str, int] = {}
    position = 0
    while position < len(data):
        key, position = _number(data, position)
        field = descriptor.fields_by_number.get(key >> 3)
        if field is None:
            raise Misfit("unknown_code", f"a field of {descriptor.name}", f"number {key >> 3}")
        start, position = _content(data, position, key & 7, field)
        _check_numbers(field, data[start:position])
        _count(field, seen)
        if field.type == field.TYPE_MESSAGE:
            _look_inside(field, data[start:position], seen)
        elif field.type == field.TYPE_STRING:
            _check_text(data[start:position], field.name)


def _count(field: Any, seen: dict[str, int]) -> None:
    """Count a field, and all fields of a oneof as one."""
    is_repeated = _is_repeated(field)
    group = field.containing_oneof
    name = field.name if group is None or is_repeated else group.name
    if name in seen and not is_repeated:
        raise Misfit("duplicate", f"one {name}", "two", "" if group is not None else field.name)
    seen[name] = seen.get(name, 0) + 1


def _look_inside(field: Any, data: bytes, seen: dict[str, int]) -> None:
    name = _shown(field)
    place = f"{name}[{seen[field.name] - 1}]" if _is_repeated(field) else name
    try:
        _look_at(field.message_type, data)
    except Misfit as misfit:
        raise misfit.within(place) from None


def _is_repeated(field: Any) -> bool:
    """Tell whether a field is a list; older libraries only have its label."""
    try:
        return bool(field.is_repeated)
    except AttributeError:
        return bool(field.label == field.LABEL_REPEATED)


def _shown(field: Any) -> str:
    """Return a field's name in a path: of a message in a oneof it is the message's."""
    group = field.containing_oneof
    is_chosen = group is not None and not group.name.startswith("_") and field.type == field.TYPE_MESSAGE
    return str(field.message_type.name if is_chosen else field.name)


def _number(data: bytes, position: int) -> tuple[int, int]:
    try:
        number, end = _read_varint(data, position, len(data))
    except DecodeError as error:
        raise Misfit(error.code, error.expected, error.found) from None
    if end is None:
        raise Misfit("truncated", "a whole varint", f"{len(data) - position} bytes")
    return number, end


def _content(data: bytes, position: int, wire_type: int, field: Any) -> tuple[int, int]:
    """Return where the value of a field begins and ends."""
    expected = _WIRE_TYPES.get(field.type, _VARINT)
    is_packed = _is_repeated(field) and wire_type == _BYTES
    if wire_type != expected and not is_packed:
        raise Misfit("invalid_value", "a value of its type", f"wire type {wire_type}", _shown(field))
    if wire_type == _VARINT:
        return position, _number(data, position)[1]
    size = {_FIXED32: 4, _FIXED64: 8}.get(wire_type, 0)
    if wire_type == _BYTES:
        size, position = _number(data, position)
    if position + size > len(data):
        raise Misfit("truncated", f"{size} bytes", f"{len(data) - position} bytes", _shown(field))
    return position, position + size


def _check_numbers(field: Any, data: bytes) -> None:
    """Refuse numbers that the parser would cut to 32 bits."""
    low, high = _NARROW.get(field.type, (0, 0))
    position = 0
    while high and position < len(data):
        number, position = _number(data, position)
        if not number < high and not low <= number:
            raise Misfit("invalid_value", "a number of 32 bits", "a larger one", field.name)


def _check_text(data: bytes, name: str) -> None:
    try:
        data.decode()
    except UnicodeDecodeError:
        raise Misfit("invalid_text", "UTF-8", "other bytes", name) from None
