"""The operations of both kernels at addresses: cells of tables, integers of any form, texts that Arrow
accepts unchanged.
"""

# mypy: ignore-errors
# Reason: compiled by numba, which infers the types; all of them are 64-bit integers.

from __future__ import annotations

from wirespark.kernels import ops
from wirespark.kernels.memory import inlined, load8, load64, store64


@inlined
def cell(table, index):
    return load64(table + 8 * index)


@inlined
def put_cell(table, index, value):
    store64(table + 8 * index, value)


@inlined
def integer(data, form):
    """Return the integer of a form; unsigned integers of eight bytes as if signed."""
    size = form & 15
    value = 0
    if form & ops.LITTLE:
        for index in range(size - 1, -1, -1):
            value = value << 8 | load8(data + index)
    elif size == 1:
        value = load8(data)
    elif size == 2:
        value = load8(data) << 8 | load8(data + 1)
    elif size == 4:
        value = load8(data) << 24 | load8(data + 1) << 16 | load8(data + 2) << 8 | load8(data + 3)
    else:
        for index in range(size):
            value = value << 8 | load8(data + index)
    if form & ops.SIGNED and size < 8 and value >> (8 * size - 1):
        value -= 1 << (8 * size)
    return value


@inlined
def index_of(numbers, start, size, value):
    """Return the index of a value among sorted numbers, negative if it is missing."""
    low, high = start, start + size
    while low < high:
        middle = (low + high) >> 1
        if cell(numbers, middle) < value:
            low = middle + 1
        else:
            high = middle
    return low - start if low < start + size and cell(numbers, low) == value else -1


# ---- text


@inlined
def _is_plain(data, size):
    """Return whether all bytes are ASCII without NUL."""
    seen = 0
    zeros = 0
    for index in range(size):
        byte = load8(data + index)
        seen |= byte
        zeros += byte == 0
    return seen < 0x80 and zeros == 0


@inlined
def is_text(data, size, kind):
    """Return whether bytes are text that Arrow accepts unchanged."""
    if _is_plain(data, size):
        return True
    place = 0
    while place < size:
        byte = load8(data + place)
        if byte < 0x80:
            if byte == 0 and kind == ops.MUTF8:
                return False
            place += 1
            continue
        length = _sequence(data + place, size - place)
        if length == 0 or kind == ops.ASCII or (length == 4 and kind == ops.MUTF8):
            return False
        place += length
    return True


@inlined
def _sequence(data, size):
    """Return the length of the UTF-8 sequence that begins here, 0 if it is invalid (Source: Unicode, table 3-7)."""
    first = load8(data)
    length = 2 if 0xC2 <= first <= 0xDF else 3 if 0xE0 <= first <= 0xEF else 4 if 0xF0 <= first <= 0xF4 else 0
    if length == 0 or length > size:
        return 0
    second = load8(data + 1)
    low = 0xA0 if first == 0xE0 else 0x90 if first == 0xF0 else 0x80
    high = 0x9F if first == 0xED else 0x8F if first == 0xF4 else 0xBF
    if second < low or second > high:
        return 0
    for index in range(2, length):
        if load8(data + index) & 0xC0 != 0x80:
            return 0
    return length
