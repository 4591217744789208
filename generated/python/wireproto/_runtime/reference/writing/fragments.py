"""Fragments of a block, which are written unchanged in its place.

A field before the block may be derived from what is inside, as a code is. A fragment does not hold that: the field is
written as it was read.
"""

from __future__ import annotations

from ...codec.errors import EncodeError
from ...codec.fragment import part_of
from ...schema.declarations import Derived
from ...schema.expressions import FieldReference
from ...schema.node import nodes_in, replace
from ...schema.shapes import blocks, every_field
from ...schema.types import Type
from ..access import as_bytes, attribute, extra, is_named, kind_of
from ..layout import as_octets
from .cells import Cell, join
from .rows import CellRow

__all__ = ["divide"]


def divide(row: CellRow, name: str, frame: object) -> None:
    """Put a fragment in place of a block in the row of the frame `name`, if the frame carries one."""
    layout = row.writer.layout
    for (owner, block), piece in layout.divided.items():
        if owner == name:
            message = extra(frame, "message", None, row.path)
            if is_named(message, piece) and row.writer.message_name(message) is None:
                _keep_header(row, row.cells[block], frame)
                _put_piece(row, row.cells[block], message, piece)
            else:
                _refuse_whole(row, row.cells[block], piece)


def _put_piece(row: CellRow, cell: Cell, message: object, piece: str) -> None:
    path = join(row.path, piece)
    data = as_bytes(attribute(message, "data", path), join(path, "data"))
    for inner in _within(row, cell.type):
        inner.data = b""
    field = cell.field
    cell.field = replace(field, type=as_octets(cell.type))
    cell.value = data
    declared = row.writer.layout.schema.joins[piece]
    conditions = [setting.when for setting in (*declared.parts, *declared.lasts)]

    def check() -> None:
        if not any(when is None or row.evaluate(when, cell, otherwise=True) for when in conditions):
            raise EncodeError(
                "constraint", path=path, expected="a frame that is a piece", found=kind_of(message)
            )

    row.later(check, cell)


def _keep_header(row: CellRow, block: Cell, frame: object) -> None:
    """Give the fields that are derived from what is inside a block the values that were read before the fragment.

    A frame that was not read has none of them: its fields are derived from an empty block, which gives no code.
    """
    part = part_of(frame)
    inside = {cell.name for cell in _within(row, block.type)}
    for cell in row.cells.values():
        derived = cell.field.value
        if cell.name in inside or not isinstance(derived, Derived):
            continue
        if inside.isdisjoint(each.path[0] for each in nodes_in(derived) if isinstance(each, FieldReference)):
            continue
        if part is not None and cell.name in part.header:
            cell.field = replace(cell.field, value=None)
            cell.value = part.header[cell.name]


def _refuse_whole(row: CellRow, cell: Cell, piece: str) -> None:
    """Refuse a frame that is marked as a fragment and carries a whole message."""
    conditions = [setting.when for setting in row.writer.layout.schema.joins[piece].parts]

    def check() -> None:
        if any(when is None or row.evaluate(when, cell, otherwise=False) for when in conditions):
            raise EncodeError("constraint", path=cell.path, expected=f"a {piece}", found="a whole message")

    row.later(check, cell)


def _within(row: CellRow, type_: Type) -> list[Cell]:
    """Return the cells of the fields of a block, those of blocks in it too."""
    inside = [field for block in blocks(type_) for field in every_field(block)]
    return [cell for field in inside for cell in row.cells.values() if cell.field is field]
