"""The bytes of msgpack arrays: their ends, their sizes and their errors, before a library decodes them.

The search goes from head to head and never backwards, so a frame in many chunks costs no more than one in
one. A head is refused before its bytes arrive if it exceeds the remaining budget of a frame, in bytes or in
values: a byte of msgpack may take 70 of memory.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, NoReturn

from ..codec.errors import DecodeError, within
from .conversion import Misfit, Unreadable

__all__ = ["ArrayBounds", "ArrayFramer", "ValuePlace", "look", "places_of"]

_SCALAR = 0
_LENGTH, _ARRAY, _MAP, _EXT, _NEVER = range(1, 6)


def _head(byte: int) -> tuple[int, int, int]:
    """Return the kind of a value by its first byte, the bytes of its head, and its fixed size or count."""
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
"""The size of a value whose first byte gives it; 0 for other values."""


class ArrayBounds:
    """The bounds of an array.

    Attributes:
        most: The maximum number of bytes.
        n_values: The maximum number of values in it and in the arrays in it.
        widest: The maximum number of values in one array.
        refusal: Returns the error for an array of so many values.
        complaint: Returns the error in an array's bytes, or in the bytes after them.
    """

    __slots__ = ("complaint", "most", "n_values", "refusal", "widest")

    def __init__(
        self,
        *,
        most: int,
        n_values: int,
        widest: int,
        refusal: Callable[[int], Misfit],
        complaint: Callable[[bytes, Misfit | None], Misfit],
    ) -> None:
        self.most = most
        self.n_values = n_values
        self.widest = widest
        self.refusal = refusal
        self.complaint = complaint


class ArrayFramer:
    """Finds the end of values that contain their own size."""

    __slots__ = ("_bounds", "_is_strange", "_left", "_most", "_open", "_seen", "needed")

    def __init__(self, bounds: ArrayBounds) -> None:
        self._bounds = bounds
        self._most = bounds.most
        self.needed = 1
        self._begin()

    def _begin(self) -> None:
        self._seen = 0  # bytes of the frame that were already examined
        self._open = 1  # values that are still to come
        self._left = self._bounds.n_values
        self._is_strange = False

    def find(self, data: bytes | bytearray, start: int) -> tuple[int, int] | None:
        end = len(data)
        position = start + self._seen
        n_open, n_left = self._open, self._left
        while n_open and position < end:
            byte = data[position]
            step = _STEPS[byte]
            if step:  # by far the most
                n_open -= 1
                position += step
                continue
            if byte == 0xC4:  # short bytes, next to them
                if position + 1 == end:
                    break
                n_open -= 1
                position += 2 + data[position + 1]
                continue
            if 0x90 <= byte <= 0x9F:
                size, count = 1, byte & 15
            else:
                size, count = self._measure(data, position, start)
                if size == 0:
                    break
            n_left -= count
            if n_left < 0:
                self._refuse(data, start, position, self._bounds.refusal(count))
            position += size
            n_open += count - 1
            if position - start + n_open > self._most:
                break
        self._left = n_left
        return self._outcome(data, start, position, n_open)

    def _outcome(
        self, data: bytes | bytearray, start: int, position: int, n_open: int
    ) -> tuple[int, int] | None:
        if position - start + n_open > self._most:
            expected = within(f"a frame of at most {self._most} bytes", "frame")
            raise DecodeError(
                "limit_exceeded", frame_offset=start, at=start, expected=expected, found="a larger one"
            )
        if n_open or position > len(data):
            self._seen, self._open = position - start, n_open
            self.needed = max(1, position + n_open - len(data))
            return None
        is_strange = self._is_strange
        self._begin()
        if is_strange:
            misfit = self._bounds.complaint(bytes(data[start:position]), None)
            raise misfit.error(start, start, position)
        return start, position

    def _measure(self, data: bytes | bytearray, position: int, start: int) -> tuple[int, int]:
        """Return the size of a value and the number of values in it; size 0: its head is cut off."""
        kind, size, count = _measured(data, position)
        if kind == _NEVER:
            self._refuse(data, start, position, Misfit("invalid_value", "a msgpack value", "c1"))
        if kind == _ARRAY and count > self._bounds.widest:
            self._refuse(data, start, position, self._bounds.refusal(count))
        if kind in (_MAP, _EXT):
            self._is_strange = True
        return size, count

    def _refuse(self, data: bytes | bytearray, start: int, position: int, misfit: Misfit) -> NoReturn:
        """Refuse the value at a position; its end is not searched for."""
        rest = misfit.at_place(position - start)
        raise self._bounds.complaint(bytes(data[start:position]), rest).error(start, start)


def _measured(data: bytes | bytearray, position: int) -> tuple[int, int, int]:
    """Return a value's kind, its size (for an array or a map that of its head; 0: it is cut off) and the
    number of values in it.
    """
    kind, head, size = _BY_BYTE[data[position]]
    if position + head > len(data):
        return kind, 0, 0
    if head > 1:
        size = int.from_bytes(data[position + 1 : position + head], "big")
    if kind in (_ARRAY, _MAP):
        return kind, head, size if kind == _ARRAY else 2 * size
    return kind, head + size + (kind == _EXT), 0


# ---- a second look


class ValuePlace:
    """A plain value in an array: `row[index]`, and the end of its bytes."""

    __slots__ = ("end", "index", "row")

    def __init__(self, row: list[Any], index: int, end: int) -> None:
        self.row = row
        self.index = index
        self.end = end


def places_of(data: bytes, row: list[Any]) -> Iterator[ValuePlace]:
    """Yield the places of the plain values of an array that was decoded from `data`, in their order."""
    position = _measured(data, 0)[1]
    waiting = [(row, iter(range(len(row))))]
    while waiting:
        row, indices = waiting[-1]
        index = next(indices, None)
        if index is None:
            waiting.pop()
            continue
        kind, size, _ = _measured(data, position)
        position += size
        value = row[index]
        if kind == _ARRAY:
            waiting.append((value, iter(range(len(value)))))
        else:
            yield ValuePlace(row, index, position)


def look(data: bytes, decode: Callable[[bytes], object], rest: Misfit | None) -> object:
    """Return the value of bytes, with a `Fault` for each value that is malformed; `rest` is the error after their end.

    The code that unpacks it refuses the first fault, and thus reports its place.
    """
    root: list[Any] = []
    waiting = [(root, 1)]
    position = 0
    while waiting:
        row, count = waiting[-1]
        if len(row) == count:
            waiting.pop()
        elif position < len(data):
            position = _look_at(data, position, decode, waiting)
        else:
            _fill(waiting, rest or Misfit("truncated", "a value", "the end", at=position))
    return root[0]


def _look_at(
    data: bytes, position: int, decode: Callable[[bytes], object], waiting: list[tuple[list[Any], int]]
) -> int:
    """Add the value at a position, and return its end; the values of an array or a map are added to `waiting`."""
    row = waiting[-1][0]
    kind, size, count = _measured(data, position)
    end = position + size
    if kind == _ARRAY:
        row.append([])
        waiting.append((row[-1], count))
    elif kind in (_MAP, _EXT):
        found = "a map" if kind == _MAP else "an extension"
        row.append(Unreadable(Misfit("invalid_value", "arrays and plain values", found, at=position)))
        waiting.append(([], count))  # not used
    else:
        row.append(_leaf(data[position:end], position, decode))
    return end


def _leaf(source: bytes, position: int, decode: Callable[[bytes], object]) -> object:
    try:
        return decode(source)
    except ValueError:  # a text: all else is a value
        return Unreadable(Misfit("invalid_text", "UTF-8", "other bytes", at=position))


def _fill(waiting: list[tuple[list[object], int]], rest: Misfit) -> None:
    """Make the first missing value a fault; the values after it are unknown."""
    waiting[-1][0].append(Unreadable(rest))
    behind = Unreadable(rest, is_behind=True)
    for row, count in waiting:
        row += [behind] * (count - len(row))
    waiting.clear()
