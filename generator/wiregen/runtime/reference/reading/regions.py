"""Regions: shapes that must fill a given number of bytes."""

from __future__ import annotations

from collections.abc import Generator

from ...lazy import Dispatch, Lazy
from ...schema.elements import TrailingBytes
from ...schema.types import Chunks, Compressed, InSize, Prefix, Region, Type
from ..tree import FrameValue, Node, Record
from ..window import Place, Window
from .lengths import read_prefix
from .reader import Reader, Steps, n_bytes

__all__ = ["CARRIERS", "note_end", "read_inside", "read_region"]


def read_region(reader: Reader, type_: Region, place: Place) -> Steps:
    steps: Steps = CARRIERS[type(type_.carrier)](reader, type_, type_.carrier, place)
    return steps


def _read_in_size(reader: Reader, type_: Region, carrier: InSize, place: Place) -> Steps:
    size = reader.number(carrier.size, place)
    return (yield from _read_sized(reader, type_, place, size, blame=reader.blame(carrier.size)))


def _read_prefixed(reader: Reader, type_: Region, carrier: Prefix, place: Place) -> Steps:
    prefix = yield from read_prefix(reader, carrier, place, "length")
    if prefix.value is None:
        return reader.node(place, type_, prefix.start, None, (prefix,))
    assert isinstance(prefix.value, int)
    return (yield from _read_sized(reader, type_, place, prefix.value, prefix=prefix))


CARRIERS = Dispatch(
    {InSize: _read_in_size, Prefix: _read_prefixed},
    {
        Compressed: Lazy("reference.reading.compressed", "read_compressed"),
        Chunks: Lazy("reference.reading.chunks", "read_chunks"),
    },
)


def _read_sized(
    reader: Reader,
    type_: Region,
    place: Place,
    size: int,
    *,
    prefix: Node | None = None,
    blame: Node | None = None,
) -> Steps:
    window = reader.window
    start = window.here if prefix is None else prefix.start
    stop = window.position + size
    yield from reader.need(stop, place, blame or prefix)
    note_end(reader, window.base + stop)
    before = (window.end, window.short, window.short_rule)
    window.end, window.short, window.short_rule = stop, "truncated", None
    inside = yield from _read_content(reader, type_.content, type_.lenient, place)
    window.end, window.short, window.short_rule = before
    head = () if prefix is None else (prefix,)
    return reader.node(place, type_, start, inside[0].value, (*head, *inside))


def note_end(reader: Reader, end: int) -> None:
    """Record the end of the outermost frame, if the bytes after the region have a fixed size."""
    if reader.known_end is None and reader.after is not None and not reader.window.inner:
        reader.known_end = end + reader.after


def _read_content(
    reader: Reader, content: Type, lenient: bool | str, place: Place
) -> Generator[int, bool, tuple[Node, ...]]:
    """Return the content that fills the region of the window, and the trailing bytes."""
    before = (reader.is_last, reader.is_bounded)
    reader.is_last, reader.is_bounded = True, True
    node = yield from reader.read(reader, content, place)
    reader.is_last, reader.is_bounded = before
    node.name = "content"
    window = reader.window
    assert window.end is not None
    left = window.end - window.position
    owner = node.value if isinstance(node.value, Record | FrameValue) else reader.scope
    if lenient:
        owner.tail = b""  # of several lenient regions of one record the last one's bytes are kept
    if left == 0:
        return (node,)
    start, is_strict = window.here, reader.layout.strict
    is_refused = not lenient or (is_strict and lenient != "padded")
    tail = b"" if is_refused else (yield from reader.take(left, place))
    if is_refused or (is_strict and any(tail)):
        raise reader.fail(
            "trailing_bytes", place, start, expected="the end of the region", found=n_bytes(left)
        )
    leftover = reader.node(place.part("tail"), TrailingBytes(), start, tail)
    if lenient == "padded" and not any(tail):
        leftover.annotate("padding")
    else:
        owner.tail = tail
        leftover.annotate("left over")
    return (node, leftover)


def read_inside(
    reader: Reader, content: Type, lenient: bool | str, place: Place, window: Window
) -> Generator[int, bool, tuple[Node, ...]]:
    """Return the content that fills transformed bytes."""
    outside, after = reader.window, reader.after
    reader.window, reader.after = window, None
    inside = yield from _read_content(reader, content, lenient, place)
    reader.window, reader.after = outside, after
    return inside
