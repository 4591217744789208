"""Whole frames in a buffer to columns, up to the first one that is not certainly valid."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from wirespark.columns import Columns, Found, frames_schema, header_type
from wirespark.kernels import ops
from wirespark.kernels.assembling import INSIDE, Filled, places_of
from wirespark.kernels.compiled import N_STATE, TAPE, fill, measure, scan
from wirespark.kernels.compiling import KernelProgram, program_of
from wirespark.options import Wishes
from wirespark.untyped import ArrowArray, Batch

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["Scanned", "Scanner", "scanner_of"]

_MOST_ENTRIES = 1 << 17
_MOST_FRAMES = 1 << 15
_MOST_INSIDE = (1 << 31) - 1
_MOST_LIMIT = 1 << 60
_TIME = pa.timestamp("us", tz="UTC")


@dataclass(frozen=True, slots=True, kw_only=True)
class Scanned:
    """The result of a scan; `frames`: start, end and message of those wanted.

    Attributes:
        end: The start of the last valid frame, which is accepted only if another one follows.
        reason: The reason of its end: one of ops.ALL, CUT, ODD, FULL.
        needed: The minimum number of bytes of a cut frame from `end` on.
        is_any: There was a valid frame.
    """

    frames: NDArray[np.int64]
    end: int
    reason: int
    needed: int
    is_any: bool


class Scanner:
    """Runs the program of one role; its tape is reused."""

    def __init__(self, wishes: Wishes, role: str | None, program: KernelProgram) -> None:
        self._program = program
        self._package = wishes.package
        self._role = role
        self._schema = frames_schema(wishes.package)
        self._names = pa.array([root.name for root in program.roots], pa.string())
        self._codes = pa.array([root.code for root in program.roots], pa.int64())
        self._roles = pa.array([role or root.role for root in program.roots], pa.string())
        wanted = wishes.messages
        self._wanted = np.array([wanted is None or root.name in wanted for root in program.roots], np.bool_)
        self._tape = np.empty((_MOST_ENTRIES, 3), np.int64)
        self._frames = np.empty((_MOST_FRAMES, 3), np.int64)
        self._window = np.zeros((1, ops.W_SIZE), np.int64)
        limits = [min(limit, _MOST_LIMIT) for limit in program.limits]
        self._kept = (
            np.zeros(program.n_registers, np.int64),
            np.array([*limits, _MOST_ENTRIES, _MOST_FRAMES], np.int64),
            np.zeros(N_STATE, np.int64),
        )
        self._state = self._kept[2]
        tables = {name: _address(array) for name, array in program.arrays.items()}
        registers, bounds, state = map(_address, self._kept)
        self._scan_tables = (
            tables["program"],
            tables["numbers"],
            registers,
            bounds,
            _address(self._wanted),
            state,
            *map(_address, (self._tape, self._frames)),
        )
        self._fill_tables = [
            tables[name] for name in ("runs", "fields", "texts", "pool", "members", "numbers")
        ]

    def scan(self, data: NDArray[np.uint8], start: int) -> Scanned:
        """Prove frames from `start` on."""
        window = self._window
        window[0, ops.W_START], window[0, ops.W_STOP] = start, len(data)
        self.scan_windows(data, window)
        found: list[int] = window[0].tolist()
        return Scanned(
            frames=self._frames[: found[ops.W_FOUND]],
            end=found[ops.W_POSITION],
            reason=found[ops.W_REASON],
            needed=found[ops.W_NEEDED],
            is_any=bool(found[ops.W_PROVEN]),
        )

    def scan_windows(self, data: NDArray[np.uint8], windows: NDArray[np.int64]) -> int:
        """Prove the frames of several windows, rows with the columns of `ops`; return the number of those that are done.

        If it is less than all, the next one is done up to its `POSITION`, and the others are untouched.
        """
        n_done: int = scan(_address(data), _address(windows), len(windows), *self._scan_tables)
        return n_done

    @property
    def frames(self) -> NDArray[np.int64]:
        """Return room for the frames of a scan: start, end and message; the next one writes over it."""
        return self._frames

    def columns(
        self, data: NDArray[np.uint8], found: Scanned, base: int, times: NDArray[np.int64] | None = None
    ) -> Columns:
        """Return the columns of the last scan; `base`: the offset of data[0] in the stream."""
        return self.filled(data, found.frames, found.frames[:, 0] + base, times, base + found.end)

    def filled(
        self,
        data: NDArray[np.uint8],
        frames: NDArray[np.int64],
        offsets: NDArray[np.int64],
        times: NDArray[np.int64] | None,
        end: int,
    ) -> Columns:
        """Return the columns of the last scan, with these `frames`; `offsets`: of the frames in their streams."""
        filled = self._filled(data, self._tape[: self._state[TAPE]])
        which = frames[:, 2]
        messages = {}
        for index in np.flatnonzero(np.bincount(which)).tolist():
            root = self._program.roots[index]
            rows = np.flatnonzero(which == index).astype(np.int32)
            arrays = [filled.array(column, len(rows)) for column in root.columns]
            fields = [column.field for column in root.columns]
            own = pa.StructArray.from_arrays(arrays, fields=fields) if arrays else None
            messages[root.name] = Found(rows=pa.array(rows), columns=own)
        return Columns(rows=self._rows(frames, filled, offsets, times), messages=messages, end=end)

    def _filled(self, data: NDArray[np.uint8], tape: NDArray[np.int64]) -> Filled:
        columns = self._program.columns
        counts = np.zeros((len(columns), 3), np.int64)
        given = (_address(data), _address(tape), len(tape), _address(columns), *self._fill_tables[:3])
        measure(*given, *self._fill_tables[4:], _address(counts))
        if counts[:, INSIDE].max(initial=0) > _MOST_INSIDE:
            raise AssertionError("a scan found more than a buffer can hold")
        places, (n_bytes, n_offsets, n_flags) = places_of(columns, counts)
        out, offsets = np.empty(n_bytes, np.uint8), np.zeros(n_offsets, np.int32)
        validity, done = np.ones(n_flags, np.uint8), np.zeros_like(counts)
        room = (_address(places), _address(done), _address(out), _address(offsets), _address(validity))
        fill(*given, *self._fill_tables[3:], *room)
        return Filled(places, counts, out, offsets, validity)

    def _rows(
        self,
        frames: NDArray[np.int64],
        filled: Filled,
        offsets: NDArray[np.int64],
        times: NDArray[np.int64] | None,
    ) -> Batch:
        which = pa.array(frames[:, 2])
        n_rows = len(frames)
        arrays = {
            "_offset": pa.array(offsets),
            "_size": pa.array(frames[:, 1] - frames[:, 0]),
            "_from": self._roles.take(which),
            "_time": pa.nulls(n_rows, _TIME) if times is None else pa.array(times, _TIME),
            "_message": self._names.take(which),
            "_code": self._codes.take(which),
        }
        if "_header" in self._schema.names:
            arrays["_header"] = self._header(filled, n_rows)
        columns = [
            arrays[field.name] if field.name in arrays else pa.nulls(n_rows, field.type)
            for field in self._schema
        ]
        return pa.RecordBatch.from_arrays(columns, schema=self._schema)

    def _header(self, filled: Filled, n_rows: int) -> ArrowArray:
        """Return the header fields of the frames; with several kinds of frames only those of this kind."""
        own = [filled.array(column, n_rows) for column in self._program.header]
        type_ = header_type(self._package)
        if len(self._package.columns.HEADERS) == 1:
            return pa.StructArray.from_arrays(own, fields=list(type_))
        arrays = [
            (
                pa.StructArray.from_arrays(own, fields=list(field.type))
                if field.name == self._program.frame
                else pa.nulls(n_rows, field.type)
            )
            for field in type_
        ]
        return pa.StructArray.from_arrays(arrays, fields=list(type_))


def scanner_of(wishes: Wishes, role: str | None) -> Scanner | None:
    """Return a scanner for the frames that a role sends, or None if all of them need the object path."""
    program = _program(
        wishes.protocol, role, wishes.variant, wishes.strict, tuple(sorted(wishes.limits.items()))
    )
    return None if program is None or not program.is_useful else Scanner(wishes, role, program)


@lru_cache(maxsize=64)
def _program(
    protocol: str, role: str | None, variant: str | None, strict: bool, limits: tuple[tuple[str, int], ...]
) -> KernelProgram | None:
    wishes = Wishes(protocol=protocol, role=role, variant=variant, strict=strict, limits=dict(limits))
    return program_of(wishes, role)


def _address(array: NDArray[np.int64] | NDArray[np.int32] | NDArray[np.uint8] | NDArray[np.bool_]) -> int:
    """Return the address of an array's first element; the caller keeps the array alive."""
    address: int = array.ctypes.data
    return address
