"""The kernels that copy: `measure` adds up the sizes of a tape's entries, `fill` writes the entries into columns.

Invariant: both run over entries of one scan and the same bytes. Every place that they read was proven, and
every place that `fill` writes was counted by `measure`. All arguments are integers: addresses and sizes.
"""

# mypy: ignore-errors
# Reason: compiled by numba, which infers the types; all of them are 64-bit integers.

from __future__ import annotations

from wirespark.kernels import ops
from wirespark.kernels.memory import copy, inlined, kernel, load8, store8, store16, store32, store64
from wirespark.kernels.peeking import cell, index_of, integer, put_cell


@inlined
def _add(counts, column, which, number):
    put_cell(counts, 3 * column + which, cell(counts, 3 * column + which) + number)


@inlined
def _next_column(columns, column):
    kind = cell(columns, 3 * column)
    return cell(columns, 3 * column + 2) if kind == ops.C_LIST or kind == ops.C_MIRROR else column + 1


@inlined
def _text_size(texts, text):
    return cell(texts, text + 1) - cell(texts, text)


@inlined
def _text_of(members, numbers, enum, value):
    """Return the number of a member's name, negative without a name."""
    member = index_of(numbers, cell(members, 3 * enum), cell(members, 3 * enum + 1), value)
    return member if member < 0 else cell(members, 3 * enum + 2) + member


# ---- measure


@inlined
def _measure_null(column, columns, counts):
    stop = cell(columns, 3 * column + 2)
    while column < stop:
        if cell(columns, 3 * column) < ops.C_NOTHING:
            _add(counts, column, 0, 1)
            _add(counts, column, 2, 1)
        column = _next_column(columns, column)


@inlined
def _measure_run(data, place, first, last, fields, texts, members, numbers, counts):
    for number in range(first, last):
        field = fields + 48 * number
        kind, column = cell(field, 0), cell(field, 1)
        _add(counts, column, 0, 1)
        if kind == ops.F_UUID:
            _add(counts, column, 1, 36)
        elif kind == ops.F_ENUM:
            beside = cell(field, 4)
            value = integer(data + place + cell(field, 2), cell(field, 3))
            text = _text_of(members, numbers, cell(field, 5), value)
            _add(counts, beside, 0, 1)
            if text < 0:
                _add(counts, beside, 2, 1)
            else:
                _add(counts, beside, 1, _text_size(texts, text))


@kernel
def measure(data, tape, n_entries, columns, runs, fields, texts, members, numbers, counts):
    """Add up the entries: for each column its values, their bytes or items, its nulls."""
    for index in range(n_entries):
        entry = tape + 24 * index
        word, first, second = cell(entry, 0), cell(entry, 1), cell(entry, 2)
        kind, column = word & 255, word >> 8
        if kind == ops.T_RUN:
            start, stop = cell(runs, 2 * first), cell(runs, 2 * first + 1)
            _measure_run(data, second, start, stop, fields, texts, members, numbers, counts)
        elif kind == ops.T_NULL:
            _measure_null(column, columns, counts)
        else:
            _add(counts, column, 0, 1)
            if kind == ops.T_SPAN:
                _add(counts, column, 1, second)
            elif kind == ops.T_LIST:
                _add(counts, column, 1, first)
            elif kind == ops.T_CONST:
                _add(counts, column, 1, _text_size(texts, first))


# ---- fill


@inlined
def _put(target, width, value, high):
    """Write an integer in Arrow's format; `high`: the half beyond 64 bits."""
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
    """Reserve bytes for the next value of a column, and return their address."""
    used = cell(counts, 3 * column + 1)
    _add(counts, column, 0, 1)
    put_cell(counts, 3 * column + 1, used + size)
    store32(offsets + 4 * (cell(places, 3 * column + 1) + cell(counts, 3 * column)), used + size)
    return out + cell(places, 3 * column) + used


@inlined
def _short(out, columns, places, counts, column, value, high):
    index, width = cell(counts, 3 * column), cell(columns, 3 * column + 1)
    _put(out + cell(places, 3 * column) + index * width, width, value, high)
    put_cell(counts, 3 * column, index + 1)


@inlined
def _null(out, offsets, validity, columns, places, counts, column):
    """Write a null in a column and in its inner columns."""
    stop = cell(columns, 3 * column + 2)
    while column < stop:
        kind = cell(columns, 3 * column)
        if kind < ops.C_NOTHING:
            store8(validity + cell(places, 3 * column + 2) + cell(counts, 3 * column), 0)
        if kind == ops.C_BYTES or kind == ops.C_UUID or kind == ops.C_LIST:
            _long(out, offsets, places, counts, column, 0)
        elif kind == ops.C_INT or kind == ops.C_FLAG:
            _short(out, columns, places, counts, column, 0, 0)
        elif kind == ops.C_STRUCT:
            _add(counts, column, 0, 1)
        column = _next_column(columns, column)


@inlined
def _enum(out, offsets, validity, columns, places, counts, column, text, texts, pool):
    if text < 0:
        _null(out, offsets, validity, columns, places, counts, column)
    else:
        size = _text_size(texts, text)
        copy(_long(out, offsets, places, counts, column, size), pool + cell(texts, text), size)


@inlined
def _run(
    data, first, last, out, offsets, validity, columns, places, counts, fields, texts, pool, members, numbers
):
    """Write the fields of a run that lies at `data`."""
    for number in range(first, last):
        field = fields + 48 * number
        kind, column = cell(field, 0), cell(field, 1)
        here, form = data + cell(field, 2), cell(field, 3)
        if kind == ops.F_UUID:
            _hexadecimal(_long(out, offsets, places, counts, column, 36), here)
            continue
        value = integer(here, form)
        _short(out, columns, places, counts, column, value, value >> 63 if form & ops.SIGNED else 0)
        if kind == ops.F_ENUM:
            text = _text_of(members, numbers, cell(field, 5), value)
            _enum(out, offsets, validity, columns, places, counts, cell(field, 4), text, texts, pool)


@kernel
def fill(
    data,
    tape,
    n_entries,
    columns,
    runs,
    fields,
    texts,
    pool,
    members,
    numbers,
    places,
    counts,
    out,
    offsets,
    validity,
):
    """Write the entries, each column in its place: bytes in `out`, offsets of four bytes, validity a byte each."""
    for index in range(n_entries):
        entry = tape + 24 * index
        word, first, second = cell(entry, 0), cell(entry, 1), cell(entry, 2)
        kind, column = word & 255, word >> 8
        if kind == ops.T_RUN:
            start, stop = cell(runs, 2 * first), cell(runs, 2 * first + 1)
            _run(
                data + second, start, stop, out, offsets, validity, columns, places, counts, fields, texts, pool,
                members, numbers,
            )  # fmt: skip
        elif kind == ops.T_SPAN:
            copy(_long(out, offsets, places, counts, column, second), data + first, second)
        elif kind == ops.T_VALUE:
            _short(out, columns, places, counts, column, first, first >> 63)
        elif kind == ops.T_LIST:
            _long(out, offsets, places, counts, column, first)
        elif kind == ops.T_NULL:
            _null(out, offsets, validity, columns, places, counts, column)
        elif kind == ops.T_PRESENT:
            _add(counts, column, 0, 1)
        else:
            _enum(out, offsets, validity, columns, places, counts, column, first, texts, pool)
