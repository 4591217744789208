"""msgpack frames: bare arrays, whose end is found before anything is made of them.

The search goes from head to head and never backwards, so a frame in many chunks costs no more than one in one. A head that
says more than a frame may still hold is refused before its bytes are there.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from .access import kind_of
from .errors import DecodeError
from .serial import Budget, Misfit

__all__ = [
    "MsgpackFormat", "absent_of", "any_of", "coded", "fields_of", "items", "plain_items", "put_coded", "variety", "wrong",
]  # fmt: skip

Pack = Callable[[Any], list[Any]]
Unpack = Callable[[Any, Budget], Any]


# ---- conversions


def wrong(name: str, expected: str, value: object) -> Misfit:
    """Return the misfit of a value of another type."""
    return Misfit("invalid_value", expected, "nil" if value is None else kind_of(value), name)


def fields_of(row: Any, count: int) -> list[Any]:
    """Return the values of an array that must have so many."""
    if type(row) is not list:
        raise wrong("", "an array", row)
    if len(row) != count:
        code = "truncated" if len(row) < count else "trailing_bytes"
        raise Misfit(code, f"{count} values", f"{len(row)} values")
    return row


def items(name: str, value: Any, take: Unpack, budget: Budget) -> list[Any]:
    """Return the items of an array, each made by `take`."""
    made: list[Any] = []
    _count(name, value, budget)
    try:
        for item in value:
            made.append(take(item, budget))
    except Misfit as misfit:
        raise misfit.within(f"{name}[{len(made)}]") from None
    return made


def plain_items(name: str, value: Any, types: tuple[type, ...], budget: Budget) -> list[Any]:
    """Return the items of an array, all of one of these types."""
    _count(name, value, budget)
    if not set(map(type, value)) <= set(types):
        index, item = next((n, item) for n, item in enumerate(value) if type(item) not in types)
        raise wrong(f"{name}[{index}]", types[0].__name__, item)
    found: list[Any] = value
    return found


def _count(name: str, value: Any, budget: Budget) -> None:
    if type(value) is not list:
        raise wrong(name, "an array", value)
    try:
        budget.take(len(value))
    except Misfit as misfit:
        raise misfit.within(name) from None


def absent_of(values: tuple[Any, ...]) -> int:
    """Return how many of the last values are nil."""
    n_there = sum(value is not None for value in values)
    if None in values[:n_there]:
        raise Misfit("constraint", "nothing behind an absent value", "a value")
    return len(values) - n_there


def put_coded(
    table: Mapping[type, tuple[int | str | None, Pack]], value: Any, header: tuple[Any, ...] = ()
) -> list[Any]:
    """Return the array of a value that its code stands before; None: it is its first field."""
    code, pack = table[type(value)]
    return pack(value) if code is None else [code, *header, *pack(value)]


def coded(
    tables: Mapping[str | None, Mapping[Any, tuple[str, Unpack]]], row: Any, n_header: int, budget: Budget
) -> Any:
    """Return what an array is whose first value is its code, with `n_header` others behind that are not its own."""
    if type(row) is not list or len(row) <= n_header:
        raise wrong("", f"an array of {n_header + 1} values or more", row)
    table = tables.get(budget.role) or tables[None]
    code = row[0]
    found = table.get(code) if type(code) in (int, str) else None
    if found is None:
        raise Misfit(
            "unknown_code", "a known message", str(code)[:32] if type(code) is int else kind_of(code)
        )
    name, unpack = found
    try:
        return unpack(row[n_header + 1 :], budget)
    except Misfit as misfit:
        raise misfit.within(name) from None


def variety(rows: tuple[tuple[int, int, str, Unpack, bool], ...], row: Any, budget: Budget) -> Any:
    """Return the variety of a union; those of several codes are given theirs too."""
    if type(row) is not list or not row:
        raise wrong("", "an array", row)
    code = row[0]
    for low, high, name, unpack, has_code in rows:
        if type(code) is int and low <= code <= high:
            try:
                return unpack(row if has_code else row[1:], budget)
            except Misfit as misfit:
                raise misfit.within(name) from None
    raise Misfit("unknown_code", "a known variety", str(code)[:32] if type(code) is int else kind_of(code))


def any_of(row: Any) -> tuple[int, Any]:
    """Return which form a value has, and the value."""
    number, value = fields_of(row, 2)
    if type(number) is not int:
        raise wrong("", "the number of a form", number)
    return number, value


# ---- the format


class MsgpackFormat:
    """Frames as msgpack arrays; `unpacks` by role (None: the first), `packs` by the class of the frame."""

    __slots__ = ("_decode", "_encode", "_error", "_packs", "_unpacks")

    def __init__(
        self,
        encode: Callable[[Any], bytes],
        decode: Callable[[bytes], Any],
        error: type[Exception],
        packs: Mapping[type, Pack],
        unpacks: Mapping[str | None, Unpack],
    ) -> None:
        self._encode = encode
        self._decode = decode
        self._error = error
        self._packs = packs
        self._unpacks = unpacks

    def pack(self, frame: Any) -> bytes:
        return self._encode(self._packs[type(frame)](frame))

    def unpack(self, body: bytes, role: str | None, budget: Budget) -> Any:
        try:
            row = self._decode(body)
        except UnicodeDecodeError:
            raise Misfit("invalid_text", "UTF-8", "other bytes") from None
        except self._error:
            raise Misfit("invalid_value", "msgpack", "other bytes") from None
        return self._unpacks[role if role in self._unpacks else None](row, budget)

    def frame(self, body: bytes) -> bytes:
        return body

    def framer(self, most: int) -> ArrayFramer:
        return ArrayFramer(most)


_SCALAR = 0
_LENGTH, _ARRAY, _MAP, _EXT, _NEVER = range(1, 6)


def _head(byte: int) -> tuple[int, int, int]:
    """Return what begins with a byte: its kind, the bytes of its head, and its fixed size or count."""
    if byte <= 0x7F or byte >= 0xE0 or byte in (0xC0, 0xC2, 0xC3):
        return _SCALAR, 1, 0
    if byte <= 0x8F:
        return _MAP, 1, byte & 15
    if byte <= 0x9F:
        return _ARRAY, 1, byte & 15
    if byte <= 0xBF:
        return _SCALAR, 1, byte & 31
    return _HEADS[byte]


_HEADS: dict[int, tuple[int, int, int]] = {
    0xC1: (_NEVER, 1, 0),
    **{0xC4 + n: (_LENGTH, 1 + (1 << n), 0) for n in range(3)},
    **{0xC7 + n: (_EXT, 1 + (1 << n), 0) for n in range(3)},
    0xCA: (_SCALAR, 1, 4),
    0xCB: (_SCALAR, 1, 8),
    **{0xCC + n: (_SCALAR, 1, 1 << n) for n in range(4)},
    **{0xD0 + n: (_SCALAR, 1, 1 << n) for n in range(4)},
    **{0xD4 + n: (_EXT, 1, 1 << n) for n in range(5)},
    **{0xD9 + n: (_LENGTH, 1 + (1 << n), 0) for n in range(3)},
    0xDC: (_ARRAY, 3, 0),
    0xDD: (_ARRAY, 5, 0),
    0xDE: (_MAP, 3, 0),
    0xDF: (_MAP, 5, 0),
}
_BY_BYTE = tuple(_head(byte) for byte in range(256))
_STEPS = tuple(1 + size if kind == _SCALAR else 0 for kind, _, size in _BY_BYTE)
"""How far a value reaches whose first byte says all; 0: it does not."""


class ArrayFramer:
    """Finds the end of values that say themselves where they end."""

    __slots__ = ("_is_strange", "_most", "_open", "_seen", "needed")

    def __init__(self, most: int) -> None:
        self._most = most
        self.needed = 1
        self._begin()

    def _begin(self) -> None:
        self._seen = 0  # bytes of the frame that need not be looked at again
        self._open = 1  # values that are still to come
        self._is_strange = False

    def find(self, data: bytes | bytearray, start: int) -> tuple[int, int] | None:
        end = len(data)
        position = start + self._seen
        n_open = self._open
        while n_open and position < end:
            byte = data[position]
            step = _STEPS[byte]
            if step:  # by far the most
                n_open -= 1
                position += step
                continue
            if 0x90 <= byte <= 0x9F:
                n_open += byte - 0x91
                position += 1
                continue
            size, count = self._measure(data, position, start)
            if size == 0:
                break
            position += size
            n_open += count - 1
            if position - start + n_open > self._most:
                break
        return self._outcome(start, position, n_open, end)

    def _outcome(self, start: int, position: int, n_open: int, end: int) -> tuple[int, int] | None:
        if position - start + n_open > self._most:
            expected = f"a frame of at most {self._most} bytes"
            raise DecodeError(
                "limit_exceeded", frame_offset=start, at=start, expected=expected, found="a larger one"
            )
        if n_open or position > end:
            self._seen, self._open = position - start, n_open
            self.needed = max(1, position + n_open - end)
            return None
        is_strange = self._is_strange
        self._begin()
        if is_strange:
            expected, found = "arrays and plain values", "a map or an extension"
            raise DecodeError(
                "invalid_value",
                frame_offset=start,
                at=start,
                expected=expected,
                found=found,
                recoverable=True,
                end=position,
            )
        return start, position

    def _measure(self, data: bytes | bytearray, position: int, start: int) -> tuple[int, int]:
        """Return the size of a value and how many stand in it; size 0: its head is cut."""
        kind, head, size = _BY_BYTE[data[position]]
        if kind == _NEVER:
            raise DecodeError(
                "invalid_value", frame_offset=start, at=position, expected="a msgpack value", found="c1"
            )
        if position + head > len(data):
            return 0, 0
        if head > 1:
            size = int.from_bytes(data[position + 1 : position + head], "big")
        if kind == _LENGTH:
            return head + size, 0
        if kind == _ARRAY:
            return head, size
        self._is_strange = True
        return (head, 2 * size) if kind == _MAP else (head + 1 + size, 0)
