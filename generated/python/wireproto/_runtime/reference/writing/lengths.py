"""What has a length: bytes, text and lists."""

from __future__ import annotations

from typing import Any

from ...codec.errors import EncodeError
from ...codec.text import delimiter_at
from ...schema.expressions import Expression
from ...schema.types import (
    Bytes,
    CodingReference,
    Computed,
    Delimited,
    Integer,
    List,
    Prefix,
    Text,
    Until,
    Varint,
)
from ..access import as_items, kind_of
from ..scalars import bounds, coding_bytes, null, scalar, text_bytes
from .cells import Spot
from .row_scope import LastItem
from .writer import Writer

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ...schema.types import ByteLength, ItemCondition, ItemLength, Length

__all__ = ["measured", "prefix_bytes", "write_list", "write_sized"]

_NULL = object()


def write_sized(writer: Writer, type_: Bytes | Text, value: Any, spot: Spot) -> bytes:
    """Return the bytes of bytes or text, with their length."""
    if value is None:
        return null_length(writer, type_.length, value, spot)
    data = text_bytes(type_, value, spot.path)
    is_utf16 = isinstance(type_, Text) and type_.encoding == "utf16"
    return measured(writer, type_.length, data, 2 if is_utf16 else 1, spot)


def measured(writer: Writer, length: ByteLength, data: bytes, unit: int, spot: Spot) -> bytes:
    """Return bytes with the length that a reader needs to find their end; `unit`: the bytes that it counts as one."""
    count = len(data) // unit
    match length:
        case Prefix(type_):
            return prefix_bytes(writer, type_, count, spot.path) + data
        case Computed(expression):
            check_count(expression, count, spot)
            return data
        case Delimited(digits):
            return _delimited(data, bytes.fromhex(digits), unit, spot)
        case _:
            refuse_endless(spot)
            return data


def _delimited(data: bytes, delimiter: bytes, unit: int, spot: Spot) -> bytes:
    whole = data + delimiter
    if delimiter_at(whole, delimiter, unit) != len(data):
        raise EncodeError("unrepresentable", path=spot.path, expected="no delimiter in it", found="one")
    return whole


def refuse_endless(spot: Spot) -> None:
    """Refuse what reaches to the end of a region where there is no such end."""
    if not spot.around.has_end:
        raise EncodeError("undelimitable", path=spot.path, expected="a region with an end")


def check_count(expression: Expression, count: int | None, spot: Spot) -> None:
    """Compare a length with what is computed for it, when the row is written."""

    def check() -> None:
        expected = spot.row.worth_at(expression, spot.path, spot.start, otherwise=count)
        if expected != count or type(expected) is not type(count):
            raise EncodeError("length_mismatch", path=spot.path, expected=str(expected), found=str(count))

    spot.row.later(check)


def prefix_bytes(
    writer: Writer, type_: Integer | Varint | CodingReference, count: int | None, path: str
) -> bytes:
    """Return a length or count as it stands before what it measures.

    Raises:
        EncodeError: `unrepresentable`, it does not fit; `invalid_value`, there is none and the prefix has no null.
    """
    if isinstance(type_, CodingReference):
        return coding_bytes(writer.schema.plan, type_.name, count, path)
    if count is None:
        raise null(None, path)
    if count > bounds(type_)[1]:
        raise EncodeError(
            "unrepresentable", path=path, expected=f"a length of at most {bounds(type_)[1]}", found=str(count)
        )
    return scalar(writer.schema.plan, type_, count, path)


def null_length(writer: Writer, length: Length, value: Any, spot: Spot) -> bytes:
    """Return the bytes of a null, which only a coding can say."""
    if isinstance(length, Prefix):
        return prefix_bytes(writer, length.type, None, spot.path)
    if not isinstance(length, Computed):
        raise null(value, spot.path)
    check_count(length.value, None, spot)
    return b""


# ---- lists ----


def write_list(writer: Writer, type_: List, value: Any, spot: Spot) -> bytes:
    if value is None:
        return null_length(writer, type_.length, value, spot)
    items = as_items(value, spot.path)
    if len(items) > writer.schema.count:
        expected = f"at most {writer.schema.count} items"
        raise writer.over("count", spot.path, expected, f"{len(items)} items")
    writer.spend_messages(len(items), spot.path)
    head = _head(writer, type_.length, len(items), spot)
    return head + _items(writer, type_, items, spot, len(head))


def _head(writer: Writer, length: ItemLength, count: int, spot: Spot) -> bytes:
    match length:
        case Prefix(type_):
            return prefix_bytes(writer, type_, count, spot.path)
        case Computed(expression):
            check_count(expression, count, spot)
        case Until():
            if count == 0:
                raise EncodeError("unrepresentable", path=spot.path, expected="an item", found="none")
        case _:
            refuse_endless(spot)
    return b""


def _items(writer: Writer, type_: List, items: tuple[Any, ...], spot: Spot, offset: int) -> bytes:
    parts: list[bytes] = []
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


def _check_where(where: ItemCondition, item: LastItem, spot: Spot, rule: str | None) -> None:
    """Refuse an item that does not fulfil the condition that every item has."""
    if not spot.row.worth_at(where.condition, spot.path, spot.start, item=item, otherwise=True):
        found = kind_of(item.value)
        raise EncodeError("constraint", path=spot.path, expected=where.text, found=found).tied(rule)


def _check_until(condition: Expression, item: LastItem, spot: Spot, *, is_last: bool) -> None:
    row = spot.row
    if bool(row.worth_at(condition, spot.path, spot.start, item=item, otherwise=is_last)) != is_last:
        expected = "the item that ends the list" if is_last else "an item that does not end the list"
        raise EncodeError("constraint", path=spot.path, expected=expected, found=kind_of(item.value))
