"""Lists: their items, counted, up to a condition, or to the end of a region."""

from __future__ import annotations

from collections.abc import Generator

from ...schema.expressions import Expression, FieldReference
from ...schema.node import nodes_in
from ...schema.types import Computed, FrameReference, List, Prefix, ToEnd, Until
from ..expressions import Undefined
from ..scalars import number_shown
from ..skimming import SKIPPED, skim_of
from ..striding import stride_of
from ..tree import Node, Value
from ..window import Place
from .lengths import read_prefix, rest_of
from .reader import Reader, Steps

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ...schema.types import ItemLength

__all__ = ["holds", "read_list"]


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
        rest_of(reader, place)
    reader.building.append((place.name, values))
    of_items = place if type_.rule is None else Place(place.name, place.path, type_.rule)
    items = yield from _in_list(reader, type_, count, of_items, values)
    reader.building.pop()
    return reader.node(place, type_, start, values, (*head, *items))


def _check_count(reader: Reader, count: int, smallest: int, place: Place, blame: Node | None) -> None:
    """Refuse a count before anything is read or allocated for it."""
    if count > reader.layout.count:
        expected = f"at most {reader.layout.count} items"
        found = f"{count} items"
        raise reader.fail("limit_exceeded", place, blame=blame, expected=expected, found=found, limit="count")
    reader.check(reader.window.position + count * smallest, place, blame)
    reader.spend_messages(count, place, blame)


def _in_list(
    reader: Reader, type_: List, count: int | None, place: Place, values: list[Value]
) -> Generator[int, bool, list[Node]]:
    """Return the items. They are not last in their region; in inflated bytes, frames must be whole."""
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
        items.append(node if stride is None and reader.has_items else SKIPPED)
        if stride is None or stride.shows:
            values.append(node.value)
    if stride is not None:
        stride.end()
    return items


def _is_judged_whole(type_: List) -> bool:
    """Return whether a condition depends on an item itself, and not only on its fields."""
    return any(
        isinstance(node, FieldReference) and node.scope == "item" and not node.path
        for node in nodes_in((type_.where, type_.length))
    )


def _check_one(reader: Reader, index: int, place: Place) -> None:
    if index >= reader.layout.count:
        expected = f"at most {reader.layout.count} items"
        raise reader.fail("limit_exceeded", place, expected=expected, found="more", limit="count")
    reader.spend_messages(1, place)


def _is_over(reader: Reader, length: ItemLength, last: Node | None, place: Place) -> bool:
    window = reader.window
    if not isinstance(length, Until):
        return window.end is not None and window.position >= window.end
    return last is not None and holds(reader, length.condition, last, place)


def holds(reader: Reader, condition: Expression, item: Node, place: Place) -> bool:
    """Return whether an item meets a condition of `until` or on every item."""
    before, reader.item = reader.item, item
    try:
        return bool(reader.evaluate(condition, place))
    except Undefined:
        return False
    finally:
        reader.item = before
