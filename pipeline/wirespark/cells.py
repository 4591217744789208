"""Cells of bytes to columns: the batch functions of the column functions.

A cell holds one frame, or a stretch of a stream.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from wirespark.array_casting import plain
from wirespark.batches import scanner_of
from wirespark.columns import Columns, first_rows, joined_columns
from wirespark.decoders import context_of
from wirespark.errors import WireSparkError
from wirespark.objects import Recording, recording_of
from wirespark.options import Wishes
from wirespark.stream_rows import StreamRow, Walk
from wirespark.table_rows import spread, wide_schema, wide_table
from wirespark.untyped import ArrowArray, ArrowType

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from wirespark.kernels.scanner import Scanner

__all__ = ["among_nulls", "cell_type", "decoded_cells", "decoded_frames", "decoded_messages", "frames_type"]

_PLACE = ("_file", "_flow", "_time")
_MOST_STUMBLES = 8
_WORTH = 64
"""Cells that a scan has to decode to be worth it; for fewer, objects are faster."""


def cell_type(wishes: Wishes) -> ArrowType:
    """Return the type of a cell with one frame: the columns of the wide table, without those of its place."""
    return pa.struct([f for f in wide_schema(wishes.package) if f.name not in (*_PLACE, "_offset", "_size")])


def frames_type(wishes: Wishes) -> ArrowType:
    """Return the type of each frame in a cell that holds several."""
    return pa.struct([field for field in wide_schema(wishes.package) if field.name not in _PLACE])


def decoded_cells(cells: ArrowArray, wishes: Wishes) -> ArrowArray:
    """Return a struct of that type for each cell that is not null.

    Raises:
        WireSparkError: In the mode FAILFAST, a cell is not a frame.
    """
    columns = _columns(cells.drop_null(), wishes)
    return among_nulls(_structs(columns, wishes, cell_type(wishes)), cells)


def decoded_messages(cells: ArrowArray, wishes: Wishes, name: str) -> ArrowArray:
    """Return a struct of one message's columns for each cell.

    It is null if the cell holds another message or an error.

    Raises:
        WireSparkError: In the mode FAILFAST, a cell holds another message or an error.
    """
    columns = _columns(cells.drop_null(), wishes)
    found = columns.messages.get(name)
    n_own = 0 if found is None else len(found.rows)
    if wishes.mode == "FAILFAST" and n_own < columns.rows.num_rows:
        others = [each for each in plain(columns.rows.column("_message")) if each != name]
        raise WireSparkError(
            f"a cell holds {others[0]}, not {name}: use the mode PERMISSIVE, or give the name of the protocol"
        )
    field = pa.field(name, pa.struct(list(wishes.package.messages[name])))
    return among_nulls(spread(columns, field), cells)


def decoded_frames(cells: ArrowArray, wishes: Wishes) -> ArrowArray:
    """Return a list of the frames and errors in each cell, a stretch of the bytes of one role.

    Raises:
        WireSparkError: In the mode FAILFAST, some bytes are not a frame.
    """
    rows: list[StreamRow] = []
    sizes: list[int | None] = []
    for data in plain(cells):
        found = [] if data is None else list(_walked(data, wishes))
        sizes.append(None if data is None else len(found))
        rows += found
    columns = recording_of(wishes).columns(rows, wishes.role, 0)
    _check(columns, wishes)
    items = _structs(columns, wishes, frames_type(wishes))
    offsets = np.concatenate(([0], np.cumsum([size or 0 for size in sizes]))).astype(np.int32)
    mask = cells.is_null() if cells.null_count else None
    return pa.ListArray.from_arrays(pa.array(offsets), items, mask=mask)


def _walked(data: bytes, wishes: Wishes) -> Iterator[StreamRow]:
    walk = Walk(wishes, wishes.role)
    yield from walk.feed(data)
    yield from walk.finish()


def _structs(columns: Columns, wishes: Wishes, type_: ArrowType) -> ArrowArray:
    table = wide_table(columns, wishes.package)
    return pa.StructArray.from_arrays([table.column(field.name) for field in type_], fields=list(type_))


def among_nulls(found: ArrowArray, cells: ArrowArray) -> ArrowArray:
    """Return the results of the cells that are not null, with nulls for the other cells."""
    if not cells.null_count:
        return found
    is_set = cells.is_valid().to_numpy(zero_copy_only=False)
    places = np.cumsum(is_set) - 1
    return found.take(pa.array(places, pa.int64(), mask=~is_set))


# ---- one frame in each cell


def _columns(cells: ArrowArray, wishes: Wishes) -> Columns:
    columns = _Reading(cells, wishes).columns()
    _check(columns, wishes)
    return columns


def _check(columns: Columns, wishes: Wishes) -> None:
    errors = columns.rows.column("_error")
    if wishes.mode != "FAILFAST" or errors.null_count == len(errors):
        return
    error: dict[str, object] = errors.drop_null()[0].as_py()
    raise WireSparkError(
        f"a cell is not a frame ({error['code']} at byte {error['at']}, {error['path']}): "
        "use the mode PERMISSIVE to read its error"
    )


class _Reading:
    """The non-null cells of a batch, as one buffer.

    The kernels read the frames that coincide with cells, and objects read the others.
    """

    def __init__(self, cells: ArrowArray, wishes: Wishes) -> None:
        self._cells = cells.cast(pa.binary()) if pa.types.is_large_binary(cells.type) else cells
        self._wishes = wishes
        self._recording: Recording = recording_of(wishes)
        self._ready: list[Columns] = []
        self._rows: list[StreamRow] = []

    def columns(self) -> Columns:
        scanner = self._scanner()
        if scanner is None:
            self._decode(0, len(self._cells))
        else:
            self._scan(scanner)
        self._flush()
        return joined_columns(self._ready or [self._recording.columns([], self._wishes.role, 0)])

    def _scanner(self) -> Scanner | None:
        """Return the kernels.

        Return None if there are too few cells, or if the unknown sender decides the layout.
        """
        wishes = self._wishes
        if len(self._cells) < _WORTH or (wishes.role is None and not wishes.package.has_one_frame):
            return None
        return scanner_of(wishes, wishes.role)

    def _scan(self, scanner: Scanner) -> None:
        _, offset_buffer, data_buffer = self._cells.buffers()
        first, n_cells = self._cells.offset, len(self._cells)
        ends = np.frombuffer(offset_buffer, np.int32)[first : first + n_cells + 1].astype(np.int64)
        data = np.frombuffer(data_buffer, np.uint8)[: ends[-1]]
        cell = stumbles = 0
        while cell < n_cells:
            n_right = self._scanned(scanner, data, ends, cell)
            stumbles += n_right < _WORTH
            cell += n_right
            last = n_cells if stumbles > _MOST_STUMBLES else min(cell + 1, n_cells)
            self._decode(cell, last)
            cell = last

    def _scanned(self, scanner: Scanner, data: NDArray[np.uint8], ends: NDArray[np.int64], cell: int) -> int:
        """Decode the frames that coincide with the cells from `cell` on, and return how many do."""
        found = scanner.scan(data, int(ends[cell]))
        n_frames = len(found.frames)
        here = ends[cell : cell + n_frames + 1]
        n_here = len(here) - 1
        is_right = (found.frames[:n_here, 0] == here[:-1]) & (found.frames[:n_here, 1] == here[1:])
        n_right = n_here if is_right.all() else int(np.argmin(is_right))
        if n_right:
            self._flush()
            columns = scanner.columns(data, found, 0)
            self._ready.append(columns if n_right == n_frames else first_rows(columns, n_right))
        return n_right

    def _decode(self, first: int, last: int) -> None:
        """Decode the cells with objects."""
        wishes, package = self._wishes, self._wishes.package
        given = {
            "from_role": wishes.role,
            "limits": package.native.Limits(**wishes.limits) if wishes.limits else None,
            "strict": wishes.strict or None,
            "variant": wishes.variant,
        }
        given = {name: value for name, value in given.items() if value is not None}
        for data in plain(self._cells.slice(first, last - first)):
            context = context_of(wishes)
            more = given if context is None else {**given, "context": context}
            try:
                item: object = wishes.codec.decode(data, **more)
            except package.native.DecodeError as error:
                item = error
            self._rows.append(StreamRow(0, len(data), item, data[: wishes.error_bytes]))

    def _flush(self) -> None:
        if self._rows:
            self._ready.append(self._recording.columns(self._rows, self._wishes.role, 0))
            self._rows = []
