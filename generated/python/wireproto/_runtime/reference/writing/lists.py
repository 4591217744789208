"""Lists: their counts and items."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from ...codec.errors import EncodeError
from ...records.types import unsure_names
from ...schema.expressions import Expression
from ...schema.shapes import content
from ...schema.types import Computed, List, Prefix, StructReference, ToEnd, UnionReference, Until
from ..access import as_items, is_a, kind_of
from ..expressions import Value
from ..layout import Fields
from .cells import Cell, Spot
from .lengths import check_count, null_length, prefix_bytes, refuse_endless
from .row_scope import LastItem
from .rows import CellRow
from .writer import PLAIN, Writer

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ...schema.types import ItemCondition, ItemLength, Type

__all__ = ["comparable", "write_list"]

_ASKED_ONCE = (bool, int, float, str, bytes, bytearray, memoryview, UUID)
"""Classes of values that are not asked for what they stand for: an object may answer otherwise the next time."""


def write_list(writer: Writer, type_: List, value: Any, spot: Spot) -> bytes:
    if value is None:
        return null_length(writer, type_.length, value, spot)
    items = as_items(value, spot.path)
    if len(items) > writer.layout.count:
        expected = f"at most {writer.layout.count} items"
        raise writer.over("count", spot.path, expected, f"{len(items)} items")
    writer.spend_messages(len(items), spot.path)
    parts = [_head(writer, type_.length, len(items), spot)]
    offset = len(parts[0])
    for index, item in enumerate(items):
        here = spot.item(index, offset)
        parts.append(writer.write(type_.item, item, here))
        offset += len(parts[-1])
        writer.refuse_long(offset, here.path)
        last = LastItem(type_.item, item, here.cell.inner, len(parts[-1]))
        if type_.where is not None:
            _check_where(type_.where, last, here, type_.rule)
        if isinstance(type_.length, Until):
            _check_until(type_.length.condition, last, here, is_last=index == len(items) - 1)
    return b"".join(parts)


def comparable(row: CellRow, type_: Type, value: object, path: str) -> object:
    """Return a value of a list, or the list, as a reader compares it: plain ones as their bytes, alternatives by their
    codes, lists and structs as tuples of their values; None for an absent one.
    """
    writer, type_ = row.writer, content(type_)
    match type_:
        case _ if value is None:
            return None
        case List(item):
            items = enumerate(as_items(value, path))
            return tuple([comparable(row, item, each, f"{path}[{number}]") for number, each in items])
        case UnionReference(name):
            variety = writer.variety(name, value, path)
            declared = next(
                each for each in writer.layout.schema.unions[name].varieties if each.name == variety.name
            )
            variety.fields = _comparable_fields(row, name, declared.fields, value, path)
            return variety
        case StructReference(name):
            fields = writer.layout.structs[name]
            return tuple(_comparable_fields(row, name, fields, value, path).values())
        case _ if not isinstance(type_, PLAIN):
            return value
        case _ if not is_a(value, *_ASKED_ONCE):
            raise EncodeError("invalid_value", path=path, expected="a plain value", found=kind_of(value))
        case _:
            return writer.coerce(type_, value, path)


def _comparable_fields(row: CellRow, name: str, fields: Fields, value: object, path: str) -> dict[str, Value]:
    row.writer.enter(name, path)
    inner, unsure = CellRow(row.writer, fields, value, path, frame=row.frame), unsure_names(fields)
    cells = [cell for cell in inner.cells.values() if not cell.is_hidden]
    found = {cell.name: _comparable_field(inner, cell, unsure) for cell in cells}
    row.writer.leave(name)
    return found


def _comparable_field(row: CellRow, cell: Cell, unsure: frozenset[str]) -> object:
    """Return the value of a field of a struct, given or by default; one in a block must be given."""
    has_value = row.is_given(cell) or (cell.field.value is not None and cell.name not in unsure)
    return comparable(row, row.type_of(cell), row.value(cell), cell.path) if has_value else None


def _head(writer: Writer, length: ItemLength, count: int, spot: Spot) -> bytes:
    match length:
        case Prefix(type_):
            return prefix_bytes(writer, type_, count, spot.path)
        case Computed(expression):
            check_count(expression, count, spot)
        case Until():
            if count == 0:
                raise EncodeError("unrepresentable", path=spot.path, expected="an item", found="none")
        case ToEnd():
            refuse_endless(spot)
    return b""


def _check_where(where: ItemCondition, item: LastItem, spot: Spot, rule: str | None) -> None:
    """Refuse an item that does not meet the condition on every item."""
    end = spot.behind(item.size)
    if not spot.row.worth_at(where.condition, spot.path, end, item=item, otherwise=True):
        found = kind_of(item.value)
        raise EncodeError("constraint", path=spot.path, expected=where.text, found=found).tied(rule)


def _check_until(condition: Expression, item: LastItem, spot: Spot, *, is_last: bool) -> None:
    row, end = spot.row, spot.behind(item.size)
    if bool(row.worth_at(condition, spot.path, end, item=item, otherwise=is_last)) != is_last:
        expected = "the item that ends the list" if is_last else "an item that does not end the list"
        raise EncodeError("constraint", path=spot.path, expected=expected, found=kind_of(item.value))
