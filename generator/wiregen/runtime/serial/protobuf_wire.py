"""The bytes of protobuf messages: errors that Google's parser accepts or only builds, and the places of values.

Only texts are copied, and objects are not built: the values that a long body announces are counted before
the parser makes them, as a byte of it may take 35 of memory there.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, TypeAlias

from ..codec.errors import DecodeError
from .conversion import Budget, Misfit

__all__ = ["DEEPEST", "TOO_DEEP", "Tables", "is_recursive", "look", "place_of", "read_varint", "skim"]

Descriptor: TypeAlias = Any  # of a message or a field: no parser of protobuf is imported here
_VARINT, _FIXED64, _BYTES, _FIXED32 = 0, 1, 2, 5
_SIZES = {_FIXED64: 8, _FIXED32: 4}
_WIRE_TYPES = {1: _FIXED64, 2: _FIXED32, 9: _BYTES, 11: _BYTES, 12: _BYTES}
"""By descriptor type: double, float, string, message, bytes; all others are varints."""
_NARROW = {5: (2**64 - 2**31, 2**31), 14: (2**64 - 2**31, 2**31), 13: (2**64, 2**32), 17: (2**64, 2**32)}
"""By descriptor type, varints that 32 bits hold: below the second number, or from the first on (negative ones)."""
_LONGEST = 10
DEEPEST = 100
"""The maximum depth of Google's parsers."""
TOO_DEEP = f"at most {DEEPEST} messages in messages"
_UNFINISHED = bytes(range(128, 256))


def read_varint(data: bytes | bytearray, start: int, end: int) -> tuple[int, int | None]:
    """Return a number and its end; the end is None if the number is cut off.

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


def is_recursive(descriptor: Descriptor) -> bool:
    """Return whether a message can contain itself, below a descriptor or at it."""
    open_, done = {descriptor.full_name}, set[str]()
    path = [(descriptor.full_name, _below(descriptor))]
    while path:
        name, below = path[-1]
        inner = next(below, None)
        if inner is None:
            open_.discard(name)
            done.add(name)
            path.pop()
        elif inner.full_name in open_:
            return True
        elif inner.full_name not in done:
            open_.add(inner.full_name)
            path.append((inner.full_name, _below(inner)))
    return False


def _below(descriptor: Descriptor) -> Iterator[Descriptor]:
    return (field.message_type for field in descriptor.fields if field.message_type is not None)


class WireField:
    """A field, as its bytes are checked; `group`: the oneof it belongs to, `shown`: its name in a path."""

    __slots__ = (
        "descriptor", "group", "is_repeated", "is_text", "name", "narrow", "shown", "wire_type",
    )  # fmt: skip

    def __init__(self, field: Descriptor) -> None:
        group = field.containing_oneof
        is_chosen = group is not None and not group.name.startswith("_") and field.message_type is not None
        self.name: str = field.name
        self.descriptor = field.message_type
        self.is_repeated = _is_repeated(field)
        self.is_text: bool = field.type == field.TYPE_STRING
        self.group: str = field.name if group is None else group.name
        self.shown: str = field.message_type.name if is_chosen else field.name
        self.narrow = _NARROW.get(field.type)
        self.wire_type = _WIRE_TYPES.get(field.type, _VARINT)


def _is_repeated(field: Descriptor) -> bool:
    """Return whether a field is a list; older libraries only have its label."""
    try:
        return bool(field.is_repeated)
    except AttributeError:
        return bool(field.label == field.LABEL_REPEATED)


class Tables(dict[Descriptor, dict[int, WireField]]):
    """The fields of messages by descriptor and number, made when they are first asked for."""

    def __init__(self) -> None:
        super().__init__()
        self._keys: dict[object, dict[int, WireField | None]] = {}
        self._flat: dict[object, bool] = {None: True}

    def __missing__(self, descriptor: Descriptor) -> dict[int, WireField]:
        self[descriptor] = table = {field.number: WireField(field) for field in descriptor.fields}
        return table

    def keys_of(self, descriptor: object) -> dict[int, WireField | None]:
        """Return the fields of a message by the keys in its bytes, None for those without lists and messages."""
        keys = self._keys.get(descriptor)
        if keys is None:
            self._keys[descriptor] = keys = {}
            for number, field in self[descriptor].items():
                is_grown = field.is_repeated or field.descriptor is not None
                keys[number << 3 | field.wire_type] = field if is_grown else None
                if field.is_repeated:
                    keys[number << 3 | _BYTES] = field  # packed
        return keys

    def is_flat(self, descriptor: object) -> bool:
        """Return whether all fields of a message are scalars; also true for None, which is the descriptor of a scalar."""
        is_flat = self._flat.get(descriptor)
        if is_flat is None:
            self._flat[descriptor] = is_flat = not any(self.keys_of(descriptor).values())
        return is_flat


# ---- before the parser


def skim(tables: Tables, descriptor: object, data: bytes, budget: Budget) -> None:
    """Refuse a message with too many items, or with items that take a parser much memory before they are refused.

    Raises:
        Misfit: With its place.
    """
    try:
        is_plain = _Skim(tables, data, budget).message(descriptor, 0, len(data), 1)
    except (LookupError, Misfit):  # cut off, unknown, too many: the full check finds the place
        is_plain = False
    if not is_plain:
        look(tables, descriptor, data, budget)


class _Skim:
    """Counts the items of one body, regardless of other errors in it."""

    def __init__(self, tables: Tables, data: bytes, budget: Budget) -> None:
        self._tables = tables
        self._data = data
        self._counts = budget.counts()

    def message(self, descriptor: object, position: int, end: int, depth: int) -> bool:
        """Count the items of a message; return False at an error, which a full check will find."""
        data, keys = self._data, self._tables.keys_of(descriptor)
        counts: dict[str, int] = {}
        n_single = len(keys)  # more of them are doubled ones
        while position < end:
            key = data[position]
            position += 1
            if key > 127:
                key, position = _number(data, position - 1, end)
            wire_type = key & 7
            begin = position
            if wire_type == _BYTES:
                size = data[position]
                position += 1
                if size > 127:
                    size, position = _number(data, begin, end)
                begin = position
                position += size
            elif wire_type == _VARINT:
                while data[position] > 127:
                    position += 1
                position += 1
            elif wire_type in _SIZES:
                position += _SIZES[wire_type]
            else:
                return False
            field = keys[key]
            if field is None:
                n_single -= 1
            elif not self._field(field, wire_type, begin, position, counts, depth):
                return False
            if n_single < 0:
                return False
        return position == end

    def _field(
        self, field: WireField, wire_type: int, begin: int, end: int, counts: dict[str, int], depth: int
    ) -> bool:
        count = counts.get(field.group, 0)
        if field.is_repeated:
            n_more = _n_packed(field, self._data, begin, end) if wire_type != field.wire_type else 1
            self._counts(n_more, count + n_more)
            counts[field.group] = count + n_more
        elif count:
            return False
        else:
            counts[field.group] = 1
        if self._tables.is_flat(field.descriptor):
            return True
        return depth < DEEPEST and self.message(field.descriptor, begin, end, depth + 1)


def _n_packed(field: WireField, data: bytes, begin: int, end: int) -> int:
    """Return the number of values in a list's bytes; an empty list counts as one."""
    size = _SIZES.get(field.wire_type)
    n_whole = len(data[begin:end].translate(None, _UNFINISHED)) if size is None else (end - begin) // size
    return max(1, n_whole)


# ---- after it


def look(tables: Tables, descriptor: object, data: bytes, budget: Budget) -> None:
    """Refuse a message with a duplicate or unknown field, one of another type or cut off, or too many or too deep ones.

    Raises:
        Misfit: With its place.
    """
    _Look(tables, data, budget).message(descriptor, 0, len(data), 1)


class _Look:
    """Checks one body in one pass."""

    def __init__(self, tables: Tables, data: bytes, budget: Budget) -> None:
        self._tables = tables
        self._data = data
        self._counts = budget.counts()

    def message(self, descriptor: Descriptor, position: int, end: int, depth: int) -> None:
        if depth > DEEPEST:
            raise Misfit("too_deep", TOO_DEEP, "more", at=position)
        data, fields, seen = self._data, self._tables[descriptor], dict[str, int]()
        others = dict[str, str]()
        while position < end:
            start = position
            key = data[position]
            position += 1
            if key > 127:
                key, position = _number(data, start, end)
            field = fields.get(key >> 3)
            if field is None:
                number = f"number {key >> 3}"
                raise Misfit("unknown_code", f"a field of {descriptor.name}", number, at=start)
            begin, position = _content(data, position, end, key & 7, field)
            if field.is_repeated:
                seen[field.name] = self._counted(field, key & 7, begin, position, seen.get(field.name, 0))
            elif field.group in others:
                raise _doubled(field, others[field.group], start)
            else:
                others[field.group] = field.shown
            if field.descriptor is not None:
                self._inside(field, begin, position, seen.get(field.name, 0), depth)
            elif field.is_text:
                _check_text(field, data, begin, position, seen.get(field.name, 0))
            elif field.narrow or key & 7 != field.wire_type:
                _check_numbers(field, data, begin, position)

    def _counted(self, field: WireField, wire_type: int, begin: int, end: int, count: int) -> int:
        """Return the number of items of a list, these included."""
        n_more = 1 if wire_type == field.wire_type else _n_packed(field, self._data, begin, end)
        count += n_more
        try:
            self._counts(n_more, count)
        except Misfit as misfit:
            raise misfit.at_place(begin).within(field.name) from None
        return count

    def _inside(self, field: WireField, begin: int, end: int, count: int, depth: int) -> None:
        try:
            self.message(field.descriptor, begin, end, depth + 1)
        except Misfit as misfit:
            raise misfit.within(_shown(field, count)) from None


def _doubled(field: WireField, first: str, at: int) -> Misfit:
    """Return the misfit of a second field where only one is allowed; in a oneof it may be another field."""
    if field.group == field.name:
        return Misfit("duplicate", f"one {field.name}", "two", field.name, at=at)
    is_same = first == field.shown
    found = f"two {first}" if is_same else f"{first} and {field.shown}"
    return Misfit("duplicate", f"one {field.group}", found, at=at)


def _shown(field: WireField, count: int) -> str:
    return f"{field.shown}[{count - 1}]" if field.is_repeated else field.shown


def _number(data: bytes, position: int, end: int) -> tuple[int, int]:
    try:
        number, behind = read_varint(data, position, end)
    except DecodeError as error:
        raise Misfit(error.code, error.expected, error.found, at=position) from None
    if behind is None:
        raise Misfit("truncated", "a whole varint", f"{end - position} bytes", at=end)
    return number, behind


def _content(data: bytes, position: int, end: int, wire_type: int, field: WireField) -> tuple[int, int]:
    """Return where the value of a field begins and ends."""
    is_packed = field.is_repeated and wire_type == _BYTES
    if wire_type != field.wire_type and not is_packed:
        raise Misfit(
            "invalid_value", "a value of its type", f"wire type {wire_type}", field.shown, at=position
        )
    try:
        if wire_type == _VARINT:
            return position, _number(data, position, end)[1]
        size = _SIZES.get(wire_type, 0)
        if wire_type == _BYTES:
            size, position = _number(data, position, end)
    except Misfit as misfit:
        raise misfit.within(field.shown) from None
    if position + size > end:
        raise Misfit("truncated", f"{size} bytes", f"{end - position} bytes", field.shown, at=end)
    return position, position + size


def _check_numbers(field: WireField, data: bytes, position: int, end: int) -> None:
    """Refuse packed numbers that are cut off, and those that the parser would truncate to 32 bits."""
    low, high = field.narrow or (0, 0)
    size = _SIZES.get(field.wire_type)
    if size is not None:
        if (end - position) % size:
            raise Misfit(
                "truncated", f"{size} bytes", f"{(end - position) % size} bytes", field.shown, at=end
            )
        return
    n_whole = 0
    while position < end:
        start = position
        try:
            number, position = _number(data, position, end)
        except Misfit as misfit:
            place = f"{field.name}[{n_whole}]" if field.is_repeated else field.name
            raise misfit.within(place) from None
        if high and low > number >= high:
            raise Misfit("invalid_value", "a number of 32 bits", "a larger one", field.name, at=start)
        n_whole += 1


def _check_text(field: WireField, data: bytes, begin: int, end: int, count: int) -> None:
    try:
        data[begin:end].decode()
    except UnicodeDecodeError as error:
        at = begin + error.start
        raise Misfit("invalid_text", "UTF-8", "other bytes", _shown(field, count), at=at) from None


# ---- the place of a value


def place_of(tables: Tables, descriptor: Descriptor, data: bytes, path: str) -> int:
    """Return the start of the value at a path in a valid message, or that of its holder, as far as the path leads."""
    place, end = 0, len(data)
    names = path.split(".")
    if names[0] == descriptor.name:
        del names[0]
    for name in names:
        found = _find(tables[descriptor], data, place, end, name)
        if found is None:
            break
        descriptor, place, end = found
        if descriptor is None:
            break
    return place


def _find(
    fields: dict[int, WireField], data: bytes, start: int, end: int, name: str
) -> tuple[object, int, int] | None:
    """Return the descriptor, and the place, of the field of that name, or of the item: `pairs[1]`."""
    wanted, _, index = name.partition("[")
    number = int(index[:-1]) if index[:-1].isdecimal() else 0
    for field, begin, behind in _fields(fields, data, start, end):
        if field.shown != wanted:
            continue
        if number == 0:
            return field.descriptor, begin, behind
        number -= 1
    return None


def _fields(
    fields: dict[int, WireField], data: bytes, at: int, end: int
) -> Iterator[tuple[WireField, int, int]]:
    while at < end:
        key, at = _number(data, at, end)
        field = fields.get(key >> 3)
        if field is None:
            return
        begin, at = _content(data, at, end, key & 7, field)
        yield field, begin, at
