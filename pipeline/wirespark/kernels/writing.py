"""A program while it is written: rows, registers, tables, and runs of fields of fixed sizes."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from wirespark.kernels import ops

__all__ = ["JumpTarget", "ProgramWriter", "Unsupported", "WritingState"]

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from wireproto._runtime.schema.declarations import Member

    Numbers: TypeAlias = NDArray[np.int64] | NDArray[np.uint8]


class Unsupported(Exception):
    """A construct that the kernels do not support: its frames are left to the object path."""


@dataclass(slots=True, eq=False)
class JumpTarget:
    """A target of jumps; `uses` are rows and cells with jumps to it, `places` places in the numbers."""

    row: int | None = None
    uses: list[tuple[list[int], int]] = field(default_factory=list)
    places: list[int] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class WritingState:
    """The state of a program at a point in its writing."""

    n_rows: int


class ProgramWriter:
    """Writes rows one by one. Fields of fixed sizes are collected until another row comes, then compared
    with the end at once.
    """

    def __init__(self) -> None:
        self.rows: list[list[int]] = [[ops.STOP, 0, 0, 0, 0]]
        self.numbers: list[int] = []
        self.runs: list[tuple[int, int]] = []
        self.fields: list[tuple[int, ...]] = []
        self.texts: list[bytes] = []
        self.members: list[tuple[int, int, int]] = []
        self.n_registers = 0
        self._enums: dict[str, int] = {}
        self._known_texts: dict[bytes, int] = {}
        self._waiting: list[list[int]] = []
        self._waiting_fields: list[tuple[int, ...]] = []
        self._waiting_size = 0

    # ---- rows

    def register(self) -> int:
        self.n_registers += 1
        return self.n_registers - 1

    def row(self, operation: int, *operands: int | JumpTarget) -> None:
        """Write an operation that does not belong to the run before it."""
        self.flush()
        self._append(operation, *operands)

    def _append(self, operation: int, *operands: int | JumpTarget) -> None:
        cells = [operation, *(each if isinstance(each, int) else 0 for each in operands)]
        cells += [0] * (5 - len(cells))
        for cell, each in enumerate(operands, 1):
            if isinstance(each, JumpTarget):
                each.uses.append((cells, cell))
                cells[cell] = each.row or 0
        self.rows.append(cells)

    def here(self, label: JumpTarget) -> None:
        """Put a label here."""
        self.flush()
        label.row = len(self.rows)
        for cells, cell in label.uses:
            cells[cell] = label.row
        for place in label.places:
            self.numbers[place] = label.row

    def mark(self) -> WritingState:
        self.flush()
        return WritingState(len(self.rows))

    def rewind(self, mark: WritingState) -> None:
        """Drop the rows written since; frames that reach this place are left to the object path."""
        self._waiting, self._waiting_fields, self._waiting_size = [], [], 0
        del self.rows[mark.n_rows :]
        self._append(ops.STOP)

    def table(self, labels: dict[int, JumpTarget], low: int, size: int) -> int:
        """Return the start of a dense table of jumps among the numbers."""
        start = len(self.numbers)
        for index in range(size):
            if low + index in labels:
                labels[low + index].places.append(len(self.numbers))
            self.numbers.append(ops.STOP)
        return start

    # ---- runs

    def fixed(self, size: int, *, fields: tuple[tuple[int, ...], ...] = ()) -> int:
        """Add a field of a fixed size to the run, and return its offset in it; `fields`: (kind, column,
        form, beside, enum).
        """
        offset = self._waiting_size
        self._waiting_size += size
        for kind, column, form, beside, enum in fields:
            self._waiting_fields.append((kind, column, offset, form, beside, enum))
        return offset

    def look(self, operation: int, *operands: int) -> None:
        """Write an operation on bytes in the run."""
        self._waiting.append([operation, *operands])

    def flush(self) -> None:
        """End the run."""
        if not self._waiting_size:
            return
        size, waiting, fields = self._waiting_size, self._waiting, self._waiting_fields
        self._waiting, self._waiting_fields, self._waiting_size = [], [], 0
        self._append(ops.NEED, size)
        for cells in waiting:
            self._append(*cells)
        if fields:
            self._append(ops.RUN, len(self.runs))
            self.runs.append((len(self.fields), len(self.fields) + len(fields)))
            self.fields.extend(fields)
        self._append(ops.SKIP, size)

    # ---- tables

    def text(self, text: str) -> int:
        """Return the number of a text."""
        data = text.encode()
        if data not in self._known_texts:
            self._known_texts[data] = len(self.texts)
            self.texts.append(data)
        return self._known_texts[data]

    def sorted_numbers(self, numbers: Iterable[int]) -> tuple[int, int]:
        """Return the start of sorted numbers, and their count."""
        start, found = len(self.numbers), sorted(set(numbers))
        self.numbers.extend(found)
        return start, len(found)

    def enum(self, name: str, members: Sequence[Member]) -> int:
        """Return the number of an enum's table of names."""
        if name not in self._enums:
            names = {each.value: each.name for each in reversed(members)}
            start, size = self.sorted_numbers(names)
            first = len(self.texts)
            self.texts.extend(names[number].encode() for number in sorted(names))
            self._enums[name] = len(self.members)
            self.members.append((start, size, first))
        return self._enums[name]

    def drop_presence(self) -> frozenset[int]:
        """Drop structs that are present whenever their holder is; return the others."""
        nulls = {row[2] for row in self.rows if row[:2] == [ops.EMIT, ops.T_NULL]}
        for row in self.rows:
            if row[:2] == [ops.EMIT, ops.T_PRESENT] and row[2] not in nulls:
                row[:] = [ops.SKIP, 0, 0, 0, 0]
        return frozenset(nulls)

    def arrays(self) -> dict[str, Numbers]:
        """Return all parts in the form that the kernels take."""
        self.flush()
        sizes = [len(text) for text in self.texts]
        return {
            "program": np.array(self.rows, np.int64),
            "numbers": np.array(self.numbers or [0], np.int64),
            "runs": np.array(self.runs, np.int64).reshape(-1, 2),
            "fields": np.array(self.fields, np.int64).reshape(-1, 6),
            "texts": np.concatenate(([0], np.cumsum(sizes))).astype(np.int64),
            "pool": np.frombuffer(b"".join(self.texts) or b"\0", np.uint8),
            "members": np.array(self.members, np.int64).reshape(-1, 3),
        }
