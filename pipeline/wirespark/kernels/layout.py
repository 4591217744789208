"""The columns of a table's schema for the kernels: numbered, each before its inner columns."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from wirespark.kernels import ops
from wirespark.untyped import ArrowField

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["Column", "ProgramColumns", "groups_of"]

_BESIDE = ("number", "raw")


@dataclass(slots=True, kw_only=True, eq=False)
class Column:
    """One column; `kind` is determined while a program is made, `stop` is the number after its inner columns.

    Attributes:
        origin: For a list next to another one, that one: their offsets are the same.
    """

    index: int
    field: ArrowField
    kind: int
    width: int = 0
    stop: int = 0
    children: list[Column] = field(default_factory=list)
    origin: Column | None = None

    @property
    def wire(self) -> str:
        wire: bytes = (self.field.metadata or {}).get(b"wire", b"")
        return wire.decode()


class ProgramColumns:
    """All columns of a program."""

    def __init__(self) -> None:
        self.columns: list[Column] = []

    def table(self, schema: Iterable[ArrowField]) -> list[Column]:
        """Return the columns of a schema or struct type."""
        found: list[Column] = []
        for each in schema:
            column = self._column(each)
            is_beside = column.wire in _BESIDE and column.kind == ops.C_LIST
            if is_beside:
                column.kind, column.origin = ops.C_MIRROR, _first_of(found)
            found.append(column)
        return found

    def array(self) -> NDArray[np.int64]:
        """Return kind, width and stop of each."""
        rows = [(each.kind, each.width, each.stop) for each in self.columns]
        return np.array(rows, np.int64).reshape(-1, 3)

    def _column(self, arrow_field: ArrowField) -> Column:
        kind, width = _kind_of(arrow_field)
        column = Column(index=len(self.columns), field=arrow_field, kind=kind, width=width)
        self.columns.append(column)
        if pa.types.is_list(arrow_field.type):
            item = pa.field(arrow_field.name, arrow_field.type.value_type, metadata=arrow_field.metadata)
            column.children.append(self._column(item))
        elif pa.types.is_struct(arrow_field.type):
            column.children = self.table(arrow_field.type)
        column.stop = len(self.columns)
        return column


def _first_of(columns: list[Column]) -> Column:
    return next(each for each in reversed(columns) if each.wire not in _BESIDE)


def _kind_of(arrow_field: ArrowField) -> tuple[int, int]:
    type_ = arrow_field.type
    wire = (arrow_field.metadata or {}).get(b"wire", b"").decode()
    if pa.types.is_list(type_):
        return ops.C_LIST, 0
    if pa.types.is_struct(type_) or wire in ("json", "raw"):
        return ops.C_NOTHING, 0
    if pa.types.is_boolean(type_):
        return ops.C_FLAG, 1
    if wire == "uuid":
        return ops.C_UUID, 0
    if pa.types.is_string(type_) or pa.types.is_binary(type_):
        return ops.C_BYTES, 0
    return ops.C_INT, type_.bit_width // 8


def groups_of(columns: Iterable[Column]) -> Iterator[list[Column]]:
    """Yield each column with those next to it."""
    group: list[Column] = []
    for column in columns:
        if group and column.wire not in _BESIDE:
            yield group
            group = []
        group.append(column)
    if group:
        yield group
