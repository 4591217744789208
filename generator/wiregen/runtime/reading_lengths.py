"""Bytes, text and lists: whatever has a length."""

from __future__ import annotations

from collections.abc import Generator
from typing import Any

from .expressions import Undefined
from .layout import UNBOUNDED, Type
from .reader import Reader, Steps
from .schema.elements import Data, DelimiterBytes
from .schema.expressions import Expression
from .skimming import SKIPPED, skim_of
from .striding import stride_of
from .text import NOT_CANONICAL, decode_text
from .tree import Node, Value
from .window import Place

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .errors import Code

__all__ = ["read_bytes", "read_list", "read_prefix", "read_span", "read_text"]


class Span:
    """A run of bytes of a known size, which lies from here on.

    Attributes:
        size: None: the prefix says null.
        prefix: The node of the length, if there is one.
        delimiter: How many bytes stand behind it.
    """

    __slots__ = ("blame", "delimiter", "prefix", "size")

    def __init__(
        self, size: int | None, *, prefix: Node | None = None, blame: Node | None = None, delimiter: int = 0
    ) -> None:
        self.size = size
        self.prefix = prefix
        self.blame = blame or prefix
        self.delimiter = delimiter


def read_span(
    reader: Reader, length: tuple[Any, ...], place: Place, *, unit: int = 1
) -> Generator[int, bool, Span]:
    """Return how many bytes a length stands for; `unit`: the bytes that it counts as one."""
    match length[0]:
        case "prefix":
            prefix = yield from read_prefix(reader, length, place, "length")
            number = prefix.value
            assert number is None or isinstance(number, int)
            return Span(None if number is None else number * unit, prefix=prefix)
        case "computed":
            number = reader.number(length[1], place)
            return Span(number * unit, blame=reader.blame(length[1]))
        case "end":
            return Span(_rest(reader, place))
        case _:
            delimiter = bytes.fromhex(length[1])
            size = yield from _find(reader, delimiter, place, unit)
            return Span(size, delimiter=len(delimiter))


def read_prefix(reader: Reader, length: tuple[Any, ...], place: Place, name: str) -> Steps:
    """Return the node of a length or count, which is not negative; `length`: `("prefix", type)`, or with a rule behind."""
    _, type_, *rules = length
    rule = rules[0] if rules else None
    node = yield from reader.read(reader, type_, Place(name, place.path, rule, is_part=True))
    if node.value is not None:
        assert isinstance(node.value, int)
        reader.refuse_negative(node.value, place, node, rule)
    return node


def _rest(reader: Reader, place: Place) -> int:
    window = reader.window
    if window.end is None:
        raise reader.fail("undelimitable", place, expected="a region with an end")
    return window.end - window.position


def _find(reader: Reader, delimiter: bytes, place: Place, unit: int) -> Generator[int, bool, int]:
    """Return how far it is to the delimiter; each byte is looked at once."""
    window = reader.window
    start = searched = window.position
    while True:
        stop = min(window.available, UNBOUNDED if window.end is None else window.end, window.frame_end)
        found = window.data.find(delimiter, searched, stop)
        if found >= 0 and (found - start) % unit == 0:
            return found - start
        if found >= 0:
            searched = found + 1
            continue
        searched = max(searched, stop - len(delimiter) + 1)
        yield from reader.need(max(stop + 1, start + len(delimiter)), place)


def _take_span(
    reader: Reader, span: Span, place: Place
) -> Generator[int, bool, tuple[bytes, tuple[Node, ...]]]:
    """Return the bytes of a span and the nodes that together make it up; no nodes where it is all there is."""
    start = reader.window.here
    data = yield from reader.take(span.size or 0, place, span.blame)
    if span.prefix is None and not span.delimiter:
        return data, ()
    inside = reader.node(place.part("data"), Data(), start)
    if span.prefix is not None:
        return data, (span.prefix, inside)
    end = reader.window.here
    yield from reader.take(span.delimiter, place)
    return data, (inside, reader.node(place.part("delimiter"), DelimiterBytes(), end))


def read_bytes(reader: Reader, type_: Type, place: Place) -> Steps:
    start = reader.window.here
    span = yield from read_span(reader, type_[1], place)
    data, children = yield from _take_span(reader, span, place)
    return reader.node(place, type_, start, None if span.size is None else data, children)


def read_text(reader: Reader, type_: Type, place: Place) -> Steps:
    _, encoding, length, lenient, endian = type_
    start = reader.window.here
    span = yield from read_span(reader, length, place, unit=2 if encoding == "utf16" else 1)
    text_start = reader.window.here
    data, children = yield from _take_span(reader, span, place)
    if span.size is None:
        return reader.node(place, type_, start, None, children)
    try:
        value, note = _text(data, encoding, lenient and not reader.schema.strict, endian)
    except UnicodeDecodeError as error:
        code: Code = "not_canonical" if error.reason == NOT_CANONICAL else "invalid_text"
        found = f"byte 0x{data[error.start]:02x} at {error.start}"
        raise reader.fail(code, place, text_start + error.start, expected=encoding, found=found) from None
    node = reader.node(place, type_, start, value, children)
    node.note = note
    return node


def _text(data: bytes, encoding: str, lenient: bool, endian: str) -> tuple[str, str]:
    """Return the text, and what was tolerated."""
    try:
        return decode_text(data, encoding, False, endian), ""
    except UnicodeDecodeError as error:
        if not lenient:
            raise
        note = "not canonical" if error.reason == NOT_CANONICAL else f"not {encoding}"
        return decode_text(data, encoding, True, endian), note


def read_list(reader: Reader, type_: Type, place: Place) -> Steps:
    _, item, length, smallest, *more = type_
    start = reader.window.here
    values: list[Value] = []
    head: tuple[Node, ...] = ()
    count: int | None = None
    if length[0] == "prefix":
        prefix = yield from read_prefix(reader, length, place, "count")
        if prefix.value is None:
            return reader.node(place, type_, start, None, (prefix,))
        assert isinstance(prefix.value, int)
        count, head = prefix.value, (prefix,)
        _check_count(reader, count, smallest, place, prefix)
    elif length[0] == "computed":
        count = reader.number(length[1], place)
        _check_count(reader, count, smallest, place, reader.blame(length[1]))
    elif length[0] == "end":
        _rest(reader, place)
    reader.building.append((place.name, values))
    rule, where = (*more, None, None)[:2]
    of_items = place if rule is None else Place(place.name, place.path, rule)
    items = yield from _in_list(reader, item, length, count, of_items, values, where)
    reader.building.pop()
    return reader.node(place, type_, start, values, (*head, *items))


def _check_count(reader: Reader, count: int, smallest: int, place: Place, blame: Node | None) -> None:
    """Refuse a count before anything is read or allocated for it."""
    if count > reader.schema.count:
        expected = f"at most {reader.schema.count} items"
        found = f"{count} items"
        raise reader.fail("limit_exceeded", place, blame=blame, expected=expected, found=found, limit="count")
    reader.check(reader.window.position + count * smallest, place, blame)
    reader.spend_messages(count, place, blame)


def _in_list(
    reader: Reader,
    item: Type,
    length: tuple[Any, ...],
    count: int | None,
    place: Place,
    values: list[Value],
    where: tuple[Any, str] | None,
) -> Generator[int, bool, list[Node]]:
    """Return the items, which are not last in their region, and in inflated bytes must be whole frames."""
    window, before = reader.window, (reader.after, reader.is_last)
    short = (window.short, window.short_rule)
    reader.after, reader.is_last = None, False
    if item[0] == "frame" and length[0] == "end" and window.is_inflated:
        window.short, window.short_rule = "partial_inner", place.rule
    items = yield from _items(reader, item, length, count, place, values, where)
    reader.after, reader.is_last = before
    window.short, window.short_rule = short
    return items


def _items(
    reader: Reader,
    item: Type,
    length: tuple[Any, ...],
    count: int | None,
    place: Place,
    values: list[Value],
    where: tuple[Any, str] | None,
) -> Generator[int, bool, list[Node]]:
    """Return the items; `where`: a condition that each must fulfil, and its text."""
    items: list[Node] = []
    skim = None
    if where is None:
        skim = skim_of(reader, item, length) or stride_of(reader, item, length, place.name)
    while (
        count is not None
        and len(items) < count
        or count is None
        and not _is_over(reader, length, items, place)
    ):
        here = place.item(len(items))
        if count is None:
            _check_one(reader, len(items), here)
        if skim is not None and skim.is_past(place):
            items.append(SKIPPED)
            continue
        node = yield from reader.read(reader, item, here)
        if where is not None and not holds(reader, where[0], node, here):
            raise reader.fail("constraint", here, blame=node, expected=where[1])
        if skim is not None and not skim.keeps:
            items.append(SKIPPED)
            continue
        items.append(node)
        values.append(node.value)
    return items


def _check_one(reader: Reader, index: int, place: Place) -> None:
    if index >= reader.schema.count:
        expected = f"at most {reader.schema.count} items"
        raise reader.fail("limit_exceeded", place, expected=expected, found="more", limit="count")
    reader.spend_messages(1, place)


def _is_over(reader: Reader, length: tuple[Any, ...], items: list[Node], place: Place) -> bool:
    window = reader.window
    if length[0] == "end":
        return window.end is not None and window.position >= window.end
    return bool(items) and holds(reader, length[1], items[-1], place)


def holds(reader: Reader, condition: Expression, item: Node, place: Place) -> bool:
    """Say whether a condition, of `until` or on every item, is fulfilled by that item."""
    before, reader.item = reader.item, item
    try:
        return bool(reader.evaluate(condition, place))
    except Undefined:
        return False
    finally:
        reader.item = before
