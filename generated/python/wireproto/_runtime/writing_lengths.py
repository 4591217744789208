"""What has a length: bytes, text and lists."""

from __future__ import annotations

from typing import Any

from .access import as_items, kind_of
from .cells import Spot
from .errors import EncodeError
from .layout import Type
from .row_scope import LastItem
from .scalars import bounds, coding_bytes, null, scalar, text_bytes
from .text import delimiter_at
from .writer import Writer

__all__ = ["measured", "prefix_bytes", "write_list", "write_sized"]

_NULL = object()


def write_sized(writer: Writer, type_: Type, value: Any, spot: Spot) -> bytes:
    """Return the bytes of a `bytes` or `text`, with its length."""
    length = type_[1] if type_[0] == "bytes" else type_[2]
    if value is None:
        return null_length(writer, length, value, spot)
    data = text_bytes(type_, value, spot.path)
    is_utf16 = type_[0] == "text" and type_[1] == "utf16"
    return measured(writer, length, data, 2 if is_utf16 else 1, spot)


def measured(writer: Writer, length: Type, data: bytes, unit: int, spot: Spot) -> bytes:
    """Return bytes with the length that a reader needs to find their end; `unit`: the bytes that it counts as one."""
    count = len(data) // unit
    match length:
        case ("prefix", type_, *_):
            return prefix_bytes(writer, type_, count, spot.path) + data
        case ("computed", expression):
            check_count(expression, count, spot)
            return data
        case ("delimited", digits):
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


def check_count(expression: Any, count: int | None, spot: Spot) -> None:
    """Compare a length with what is computed for it, when the row is written."""

    def check() -> None:
        expected = spot.row.worth_at(expression, spot.path, spot.start, otherwise=count)
        if expected != count or type(expected) is not type(count):
            raise EncodeError("length_mismatch", path=spot.path, expected=str(expected), found=str(count))

    spot.row.later(check)


def prefix_bytes(writer: Writer, type_: Type, count: int | None, path: str) -> bytes:
    """Return a length or count as it stands before what it measures.

    Raises:
        EncodeError: `unrepresentable`, it does not fit; `invalid_value`, there is none and the prefix has no null.
    """
    if type_[0] == "coding":
        return coding_bytes(writer.schema.plan, type_[1], count, path)
    if count is None:
        raise null(None, path)
    if count > bounds(type_)[1]:
        raise EncodeError(
            "unrepresentable", path=path, expected=f"a length of at most {bounds(type_)[1]}", found=str(count)
        )
    return scalar(writer.schema.plan, type_, count, path)


def null_length(writer: Writer, length: Type, value: Any, spot: Spot) -> bytes:
    """Return the bytes of a null, which only a coding can say."""
    if length[0] == "prefix":
        return prefix_bytes(writer, length[1], None, spot.path)
    if length[0] != "computed":
        raise null(value, spot.path)
    check_count(length[1], None, spot)
    return b""


# ---- lists ----


def write_list(writer: Writer, type_: Type, value: Any, spot: Spot) -> bytes:
    _, item, length, _, *more = type_
    rule, where = (*more, None, None)[:2]
    if value is None:
        return null_length(writer, length, value, spot)
    items = as_items(value, spot.path)
    if len(items) > writer.schema.count:
        expected = f"at most {writer.schema.count} items"
        raise writer.over("count", spot.path, expected, f"{len(items)} items")
    writer.spend_messages(len(items), spot.path)
    head = _head(writer, length, len(items), spot)
    return head + _items(writer, item, items, length, spot, len(head), rule, where)


def _head(writer: Writer, length: Type, count: int, spot: Spot) -> bytes:
    match length:
        case ("prefix", type_, *_):
            return prefix_bytes(writer, type_, count, spot.path)
        case ("computed", expression):
            check_count(expression, count, spot)
        case ("until", _):
            if count == 0:
                raise EncodeError("unrepresentable", path=spot.path, expected="an item", found="none")
        case _:
            refuse_endless(spot)
    return b""


def _items(
    writer: Writer,
    type_: Type,
    items: tuple[Any, ...],
    length: Type,
    spot: Spot,
    offset: int,
    rule: str | None,
    where: tuple[Any, str] | None,
) -> bytes:
    parts: list[bytes] = []
    for index, item in enumerate(items):
        here = spot.item(index, offset)
        parts.append(writer.write(type_, item, here))
        offset += len(parts[-1])
        writer.refuse_long(offset, here.path)
        last = LastItem(type_, item, here.cell.inner, len(parts[-1]))
        if where is not None:
            _check_where(where, last, here, rule)
        if length[0] == "until":
            _check_until(length[1], last, here, is_last=index == len(items) - 1)
    return b"".join(parts)


def _check_where(where: tuple[Any, str], item: LastItem, spot: Spot, rule: str | None) -> None:
    """Refuse an item that does not fulfil the condition that every item has."""
    condition, text = where
    if not spot.row.worth_at(condition, spot.path, spot.start, item=item, otherwise=True):
        raise EncodeError("constraint", path=spot.path, expected=text, found=kind_of(item.value)).tied(rule)


def _check_until(condition: Any, item: LastItem, spot: Spot, *, is_last: bool) -> None:
    row = spot.row
    if bool(row.worth_at(condition, spot.path, spot.start, item=item, otherwise=is_last)) != is_last:
        expected = "the item that ends the list" if is_last else "an item that does not end the list"
        raise EncodeError("constraint", path=spot.path, expected=expected, found=kind_of(item.value))
