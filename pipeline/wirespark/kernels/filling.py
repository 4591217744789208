"""The kernels that copy: `measure` adds up the room that the entries of a tape take, `fill` writes them into columns.

Invariant: both run over entries of one scan and the same bytes, so that every place they read was proven, and every place that
`fill` writes was counted by `measure`. All arguments are integers: addresses and sizes.
"""

# mypy: ignore-errors
# Reason: compiled by numba, which infers the types; all of them are 64-bit integers.

from __future__ import annotations

from wirespark.kernels.memory import copy, inlined, kernel, load8, load64, store8, store16, store32, store64
from wirespark.kernels.ops import *  # noqa: F403
from wirespark.kernels.scanning import _get, _index_of, _integer, _set


@inlined
def _add(counts, column, which, number):
    _set(counts, 3 * column + which, _get(counts, 3 * column + which) + number)


@inlined
def _next_column(columns, column):
    kind = _get(columns, 3 * column)
    return _get(columns, 3 * column + 2) if kind == C_LIST or kind == C_MIRROR else column + 1


@inlined
def _text_size(texts, text):
    return _get(texts, text + 1) - _get(texts, text)


@inlined
def _text_of(members, numbers, enum, value):
    """Return the number of a member's name; negative: it has none."""
    member = _index_of(numbers, _get(members, 3 * enum), _get(members, 3 * enum + 1), value)
    return member if member < 0 else _get(members, 3 * enum + 2) + member


# ---- measure


@inlined
def _measure_null(column, columns, counts):
    stop = _get(columns, 3 * column + 2)
    while column < stop:
        if _get(columns, 3 * column) < C_NOTHING:
            _add(counts, column, 0, 1)
            _add(counts, column, 2, 1)
        column = _next_column(columns, column)


@inlined
def _measure_run(data, place, first, last, fields, texts, members, numbers, counts):
    for number in range(first, last):
        field = fields + 48 * number
        kind, column = _get(field, 0), _get(field, 1)
        _add(counts, column, 0, 1)
        if kind == F_UUID:
            _add(counts, column, 1, 36)
        elif kind == F_ENUM:
            beside = _get(field, 4)
            value = _integer(data + place + _get(field, 2), _get(field, 3))
            text = _text_of(members, numbers, _get(field, 5), value)
            _add(counts, beside, 0, 1)
            if text < 0:
                _add(counts, beside, 2, 1)
            else:
                _add(counts, beside, 1, _text_size(texts, text))


@kernel
def measure(data, tape, n_entries, columns, runs, fields, texts, members, numbers, counts):
    """Add up what the entries hold: of each column its values, the bytes of these or the items, its nulls."""
    for index in range(n_entries):
        entry = tape + 24 * index
        word, first, second = _get(entry, 0), _get(entry, 1), _get(entry, 2)
        kind, column = word & 255, word >> 8
        if kind == T_RUN:
            start, stop = _get(runs, 2 * first), _get(runs, 2 * first + 1)
            _measure_run(data, second, start, stop, fields, texts, members, numbers, counts)
        elif kind == T_NULL:
            _measure_null(column, columns, counts)
        else:
            _add(counts, column, 0, 1)
            if kind == T_SPAN:
                _add(counts, column, 1, second)
            elif kind == T_LIST:
                _add(counts, column, 1, first)
            elif kind == T_CONST:
                _add(counts, column, 1, _text_size(texts, first))


# ---- fill


@inlined
def _put(target, width, value, high):
    """Write an integer as Arrow has it; `high`: the half beyond 64 bits."""
    if width == 8:
        store64(target, value)
    elif width == 4:
        store32(target, value)
    elif width == 2:
        store16(target, value)
    elif width == 1:
        store8(target, value)
    else:
        store64(target, value)
        store64(target + 8, high)


@inlined
def _digit(number):
    return number + 48 if number < 10 else number + 87


@inlined
def _hexadecimal(target, data):
    """Write the text of a UUID."""
    for index in range(16):
        if index == 4 or index == 6 or index == 8 or index == 10:
            store8(target, 45)
            target += 1
        byte = load8(data + index)
        store8(target, _digit(byte >> 4))
        store8(target + 1, _digit(byte & 15))
        target += 2


@inlined
def _long(out, offsets, places, counts, column, size):
    """Make room for bytes as the next value of a column, and return where they go."""
    used = _get(counts, 3 * column + 1)
    _add(counts, column, 0, 1)
    _set(counts, 3 * column + 1, used + size)
    store32(offsets + 4 * (_get(places, 3 * column + 1) + _get(counts, 3 * column)), used + size)
    return out + _get(places, 3 * column) + used


@inlined
def _short(out, columns, places, counts, column, value, high):
    index, width = _get(counts, 3 * column), _get(columns, 3 * column + 1)
    _put(out + _get(places, 3 * column) + index * width, width, value, high)
    _set(counts, 3 * column, index + 1)


@inlined
def _null(out, offsets, validity, columns, places, counts, column):
    """Write a null in a column and in what is inside it."""
    stop = _get(columns, 3 * column + 2)
    while column < stop:
        kind = _get(columns, 3 * column)
        if kind < C_NOTHING:
            store8(validity + _get(places, 3 * column + 2) + _get(counts, 3 * column), 0)
        if kind == C_BYTES or kind == C_UUID or kind == C_LIST:
            _long(out, offsets, places, counts, column, 0)
        elif kind == C_INT or kind == C_FLAG:
            _short(out, columns, places, counts, column, 0, 0)
        elif kind == C_STRUCT:
            _add(counts, column, 0, 1)
        column = _next_column(columns, column)


@inlined
def _enum(out, offsets, validity, columns, places, counts, column, text, texts, pool):
    if text < 0:
        _null(out, offsets, validity, columns, places, counts, column)
    else:
        size = _text_size(texts, text)
        copy(_long(out, offsets, places, counts, column, size), pool + _get(texts, text), size)


@inlined
def _run(
    data, first, last, out, offsets, validity, columns, places, counts, fields, texts, pool, members, numbers
):
    """Write the fields of a run that lies at `data`."""
    for number in range(first, last):
        field = fields + 48 * number
        kind, column = _get(field, 0), _get(field, 1)
        here, form = data + _get(field, 2), _get(field, 3)
        if kind == F_UUID:
            _hexadecimal(_long(out, offsets, places, counts, column, 36), here)
            continue
        value = _integer(here, form)
        _short(out, columns, places, counts, column, value, value >> 63 if form & SIGNED else 0)
        if kind == F_ENUM:
            text = _text_of(members, numbers, _get(field, 5), value)
            _enum(out, offsets, validity, columns, places, counts, _get(field, 4), text, texts, pool)


@kernel
def fill(
    data, tape, n_entries, columns, runs, fields, texts, pool, members, numbers, places, counts, out, offsets, validity
):
    """Write what the entries hold, each column in its place: bytes in `out`, offsets of four bytes, validity a byte each."""
    for index in range(n_entries):
        entry = tape + 24 * index
        word, first, second = _get(entry, 0), _get(entry, 1), _get(entry, 2)
        kind, column = word & 255, word >> 8
        if kind == T_RUN:
            start, stop = _get(runs, 2 * first), _get(runs, 2 * first + 1)
            _run(
                data + second, start, stop, out, offsets, validity, columns, places, counts, fields, texts, pool,
                members, numbers,
            )  # fmt: skip
        elif kind == T_SPAN:
            copy(_long(out, offsets, places, counts, column, second), data + first, second)
        elif kind == T_VALUE:
            _short(out, columns, places, counts, column, first, first >> 63)
        elif kind == T_LIST:
            _long(out, offsets, places, counts, column, first)
        elif kind == T_NULL:
            _null(out, offsets, validity, columns, places, counts, column)
        elif kind == T_PRESENT:
            _add(counts, column, 0, 1)
        else:
            _enum(out, offsets, validity, columns, places, counts, column, first, texts, pool)
