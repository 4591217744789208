"""Buffers that the kernels filled to Arrow arrays, without a copy and without an object per value."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from wirespark.kernels import ops
from wirespark.kernels.layout import Column
from wirespark.untyped import ArrowArray, Buffer

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["Filled", "places_of"]

_LINE = 64
VALUES, INSIDE, NULLS = range(3)
"""Of a column's counts: its values; the bytes of these, or the items; the nulls among them."""


def places_of(
    columns: NDArray[np.int64], counts: NDArray[np.int64]
) -> tuple[NDArray[np.int64], tuple[int, int, int]]:
    """Return the start of each column's bytes, offsets and validity, and the total size of each."""
    kinds, values = columns[:, 0], counts[:, VALUES]
    is_long = (kinds == ops.C_BYTES) | (kinds == ops.C_UUID)
    is_plain = (kinds == ops.C_INT) | (kinds == ops.C_FLAG)
    sizes = np.where(is_long, counts[:, INSIDE], np.where(is_plain, values * columns[:, 1], 0))
    offsets = np.where(is_long | (kinds == ops.C_LIST), values + 1, 0)
    validity = np.where(counts[:, NULLS] > 0, values, 0)
    places = np.zeros((len(columns), 3), np.int64)
    totals = []
    for n, needed in enumerate((sizes, offsets, validity)):
        aligned = (needed + _LINE - 1) // _LINE * _LINE
        ends = np.cumsum(aligned)
        places[:, n] = ends - aligned
        totals.append(int(ends[-1]) if len(ends) else 0)
    return places, (totals[0], totals[1], totals[2])


class Filled:
    """The buffers of one fill."""

    def __init__(
        self,
        places: NDArray[np.int64],
        counts: NDArray[np.int64],
        out: NDArray[np.uint8],
        offsets: NDArray[np.int32],
        validity: NDArray[np.uint8],
    ) -> None:
        self._places = places
        self._counts = counts
        self._out = out
        self._validity = validity
        self._bytes = pa.py_buffer(out)
        self._offsets = pa.py_buffer(offsets)

    def array(self, column: Column, n_values: int) -> ArrowArray:
        """Return the array of a column, which has `n_values` values."""
        if column.kind == ops.C_NOTHING and not column.children:
            return pa.nulls(n_values, column.field.type)
        if column.kind in (ops.C_LIST, ops.C_MIRROR):
            return self._list(column, n_values)
        if column.kind < ops.C_NOTHING and self._counts[column.index, VALUES] != n_values:
            raise AssertionError(f"the kernels gave another number of values of {column.field.name}")
        valid, n_nulls = self._valid(column, n_values)
        if column.kind in (ops.C_STRUCT, ops.C_NOTHING):
            children = [self.array(child, n_values) for child in column.children]
            return pa.Array.from_buffers(column.field.type, n_values, [valid], n_nulls, children=children)
        buffers = [valid, *self._buffers(column, n_values)]
        return pa.Array.from_buffers(column.field.type, n_values, buffers, n_nulls)

    def _buffers(self, column: Column, n_values: int) -> list[Buffer]:
        place, first, _ = (int(each) for each in self._places[column.index])
        if column.kind == ops.C_INT:
            return [self._bytes.slice(place, n_values * column.width)]
        if column.kind == ops.C_FLAG:
            return [_bits(self._out[place : place + n_values])]
        size = int(self._counts[column.index, INSIDE])
        return [self._offsets.slice(4 * first, 4 * (n_values + 1)), self._bytes.slice(place, size)]

    def _list(self, column: Column, n_values: int) -> ArrowArray:
        """Return the array of a list; the offsets may be those of the list next to it."""
        origin = column.origin or column
        if self._counts[origin.index, VALUES] != n_values:
            raise AssertionError(f"the kernels gave another number of lists of {column.field.name}")
        valid, n_nulls = self._valid(origin, n_values)
        first = int(self._places[origin.index, 1])
        items = self.array(column.children[0], int(self._counts[origin.index, INSIDE]))
        offsets = self._offsets.slice(4 * first, 4 * (n_values + 1))
        return pa.Array.from_buffers(column.field.type, n_values, [valid, offsets], n_nulls, children=[items])

    def _valid(self, column: Column, n_values: int) -> tuple[Buffer, int]:
        n_nulls = int(self._counts[column.index, NULLS])
        if not n_nulls:
            return None, 0
        place = int(self._places[column.index, 2])
        return _bits(self._validity[place : place + n_values]), n_nulls


def _bits(flags: NDArray[np.uint8]) -> Buffer:
    return pa.py_buffer(np.packbits(flags, bitorder="little"))
