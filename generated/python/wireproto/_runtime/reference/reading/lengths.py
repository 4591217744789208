"""Bytes, text and lists: whatever has a length."""

from __future__ import annotations

from collections.abc import Generator

from ...codec.text import NOT_CANONICAL, decode_text
from ...schema.elements import Data, DelimiterBytes
from ...schema.expressions import Expression, FieldReference
from ...schema.node import nodes_in
from ...schema.types import Bytes, Computed, FrameReference, List, Prefix, Text, ToEnd, Until
from ..expressions import Undefined
from ..layout import UNBOUNDED
from ..scalars import number_shown
from ..skimming import SKIPPED, skim_of
from ..striding import stride_of
from ..tree import Node, Value
from ..window import Place
from .reader import Reader, Steps

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ...codec.errors import Code
    from ...schema.literals import Encoding, Endian
    from ...schema.types import ByteLength, ItemLength

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
    reader: Reader, length: ByteLength, place: Place, *, unit: int = 1
) -> Generator[int, bool, Span]:
    """Return how many bytes a length stands for; `unit`: the bytes that it counts as one."""
    match length:
        case Prefix():
            prefix = yield from read_prefix(reader, length, place, "length")
            number = prefix.value
            assert number is None or isinstance(number, int)
            return Span(None if number is None else number * unit, prefix=prefix)
        case Computed(expression):
            size = reader.number(expression, place)
            return Span(size * unit, blame=reader.blame(expression))
        case ToEnd():
            return Span(_rest(reader, place))
        case _:
            delimiter = bytes.fromhex(length.delimiter)
            size = yield from _find(reader, delimiter, place, unit)
            return Span(size, delimiter=len(delimiter))


def read_prefix(reader: Reader, length: Prefix, place: Place, name: str) -> Steps:
    """Return the node of a length or count, which is not negative."""
    rule = length.rule
    node = yield from reader.read(reader, length.type, Place(name, place.path, rule, is_part=True))
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


def read_bytes(reader: Reader, type_: Bytes, place: Place) -> Steps:
    start = reader.window.here
    span = yield from read_span(reader, type_.length, place)
    data, children = yield from _take_span(reader, span, place)
    return reader.node(place, type_, start, None if span.size is None else data, children)


def read_text(reader: Reader, type_: Text, place: Place) -> Steps:
    encoding = type_.encoding
    start = reader.window.here
    span = yield from read_span(reader, type_.length, place, unit=2 if encoding == "utf16" else 1)
    text_start = reader.window.here
    data, children = yield from _take_span(reader, span, place)
    if span.size is None:
        return reader.node(place, type_, start, None, children)
    try:
        value, note = _text(data, encoding, type_.is_lenient and not reader.schema.strict, type_.endian)
    except UnicodeDecodeError as error:
        code: Code = "not_canonical" if error.reason == NOT_CANONICAL else "invalid_text"
        found = f"byte 0x{data[error.start]:02x} at {error.start}"
        raise reader.fail(code, place, text_start + error.start, expected=encoding, found=found) from None
    node = reader.node(place, type_, start, value, children)
    node.note = note
    return node


def _text(data: bytes, encoding: Encoding, lenient: bool, endian: Endian) -> tuple[str, str]:
    """Return the text, and what was tolerated."""
    try:
        return decode_text(data, encoding, False, endian), ""
    except UnicodeDecodeError as error:
        if not lenient:
            raise
        note = "not canonical" if error.reason == NOT_CANONICAL else f"not {encoding}"
        return decode_text(data, encoding, True, endian), note


def read_list(reader: Reader, type_: List, place: Place) -> Steps:
    length, smallest = type_.length, type_.smallest_item
    start = reader.window.here
    values: list[Value] = []
    head: tuple[Node, ...] = ()
    count: int | None = None
    if isinstance(length, Prefix):
        prefix = yield from read_prefix(reader, length, place, "count")
        if prefix.value is None:
            return reader.node(place, type_, start, None, (prefix,))
        assert isinstance(prefix.value, int)
        count, head = prefix.value, (prefix,)
        _check_count(reader, count, smallest, place, prefix)
    elif isinstance(length, Computed):
        count = reader.number(length.value, place)
        _check_count(reader, count, smallest, place, reader.blame(length.value))
    elif isinstance(length, ToEnd):
        _rest(reader, place)
    reader.building.append((place.name, values))
    of_items = place if type_.rule is None else Place(place.name, place.path, type_.rule)
    items = yield from _in_list(reader, type_, count, of_items, values)
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
    reader: Reader, type_: List, count: int | None, place: Place, values: list[Value]
) -> Generator[int, bool, list[Node]]:
    """Return the items, which are not last in their region, and in inflated bytes must be whole frames."""
    window, before = reader.window, (reader.after, reader.is_last)
    short = (window.short, window.short_rule)
    reader.after, reader.is_last = None, False
    if isinstance(type_.item, FrameReference) and isinstance(type_.length, ToEnd) and window.is_inflated:
        window.short, window.short_rule = "partial_inner", place.rule
    items = yield from _items(reader, type_, count, place, values)
    reader.after, reader.is_last = before
    window.short, window.short_rule = short
    return items


def _items(
    reader: Reader, type_: List, count: int | None, place: Place, values: list[Value]
) -> Generator[int, bool, list[Node]]:
    where, was_kept = type_.where, reader.is_kept
    keeps = was_kept or (reader.is_quick and _is_judged_whole(type_))
    items: list[Node] = []
    last: Node | None = None
    skim = skim_of(reader, type_) if where is None else None
    stride = stride_of(reader, type_) if skim is None else None
    past = skim or stride
    while (
        count is not None
        and len(items) < count
        or count is None
        and not _is_over(reader, type_.length, last, place)
    ):
        here = place.item(len(items))
        if count is None:
            _check_one(reader, len(items), here)
        if past is not None and past.is_past(place):
            items.append(SKIPPED)
            continue
        reader.is_kept = keeps
        last = node = yield from reader.read(reader, type_.item, here)
        reader.is_kept = was_kept
        if where is not None and not holds(reader, where.condition, node, here):
            found = number_shown(type_.item, node.value)
            raise reader.fail("constraint", here, blame=node, expected=where.text, found=found)
        items.append(node if stride is None else SKIPPED)
        if stride is None or stride.shows:
            values.append(node.value)
    if stride is not None:
        stride.end()
    return items


def _is_judged_whole(type_: List) -> bool:
    """Say whether a condition speaks of an item itself, and not only of its fields."""
    return any(
        isinstance(node, FieldReference) and node.scope == "item" and not node.path
        for node in nodes_in((type_.where, type_.length))
    )


def _check_one(reader: Reader, index: int, place: Place) -> None:
    if index >= reader.schema.count:
        expected = f"at most {reader.schema.count} items"
        raise reader.fail("limit_exceeded", place, expected=expected, found="more", limit="count")
    reader.spend_messages(1, place)


def _is_over(reader: Reader, length: ItemLength, last: Node | None, place: Place) -> bool:
    window = reader.window
    if not isinstance(length, Until):
        return window.end is not None and window.position >= window.end
    return last is not None and holds(reader, length.condition, last, place)


def holds(reader: Reader, condition: Expression, item: Node, place: Place) -> bool:
    """Say whether a condition, of `until` or on every item, is fulfilled by that item."""
    before, reader.item = reader.item, item
    try:
        return bool(reader.evaluate(condition, place))
    except Undefined:
        return False
    finally:
        reader.item = before
