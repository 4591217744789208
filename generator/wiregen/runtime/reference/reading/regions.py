"""Regions: shapes that must fill what they are laid in, as it came, inflated, or joined."""

from __future__ import annotations

import zlib
from collections.abc import Generator

from ...schema.elements import CompressedBody, DelimiterBytes, JoinedBody, TrailingBytes
from ...schema.types import Chunks, Compressed, InSize, Prefix, Region, StructReference, Type
from ..skimming import BYTES_OF_WORK as _BYTES_OF_WORK
from ..skimming import SKIPPED
from ..tree import FrameValue, Node, Record
from ..window import Place, Window
from .lengths import holds, read_prefix, read_span
from .reader import Reader, Steps, n_bytes

__all__ = ["read_inside", "read_region"]

_WINDOW_BITS = {"zlib": 15, "gzip": 31, "deflate": -15}


def read_region(reader: Reader, type_: Region, place: Place) -> Steps:
    carrier = type_.carrier
    match carrier:
        case InSize(expression):
            size = reader.number(expression, place)
            return (yield from _read_sized(reader, type_, place, size, blame=reader.blame(expression)))
        case Prefix():
            prefix = yield from read_prefix(reader, carrier, place, "length")
            if prefix.value is None:
                return reader.node(place, type_, prefix.start, None, (prefix,))
            assert isinstance(prefix.value, int)
            return (yield from _read_sized(reader, type_, place, prefix.value, prefix=prefix))
        case Compressed():
            return (yield from _read_compressed(reader, type_, carrier, place))
        case _:
            return (yield from _read_chunks(reader, type_, carrier, place))


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
    _note_end(reader, window.base + stop)
    before = (window.end, window.short, window.short_rule)
    window.end, window.short, window.short_rule = stop, "truncated", None
    inside = yield from _read_content(reader, type_.content, type_.lenient, place)
    window.end, window.short, window.short_rule = before
    head = () if prefix is None else (prefix,)
    return reader.node(place, type_, start, inside[0].value, (*head, *inside))


def _note_end(reader: Reader, end: int) -> None:
    """Remember where the outermost frame ends, when what follows the region has a fixed size."""
    if reader.known_end is None and reader.after is not None and not reader.window.inner:
        reader.known_end = end + reader.after


def _read_content(
    reader: Reader, content: Type, lenient: bool | str, place: Place
) -> Generator[int, bool, tuple[Node, ...]]:
    """Return what fills the region of the window, and what is left over."""
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
    start, is_strict = window.here, reader.schema.strict
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


# ---- inflated ----


def _read_compressed(reader: Reader, type_: Region, carrier: Compressed, place: Place) -> Steps:
    algorithm = carrier.algorithm
    outside = reader.window
    start = outside.here
    span = yield from read_span(reader, carrier.length, place)
    if span.size is None:
        return reader.node(place, type_, start, None, (span.prefix,) if span.prefix is not None else ())
    at = outside.here
    data = yield from reader.take(span.size, place, span.blame)
    body = reader.node(place.part("body"), CompressedBody(algorithm), at)
    end = outside.here
    yield from reader.take(span.delimiter, place)
    _note_end(reader, outside.here)
    inflated = _inflate(reader, data, algorithm, place, at)
    inside = yield from read_inside(
        reader, type_.content, type_.lenient, place, outside.inside(inflated, at, is_inflated=True)
    )
    body.children = inside
    pieces = () if span.prefix is None else (span.prefix,)
    delimiter = (reader.node(place.part("delimiter"), DelimiterBytes(), end),) if span.delimiter else ()
    return reader.node(place, type_, start, inside[0].value, (*pieces, body, *delimiter))


def read_inside(
    reader: Reader, content: Type, lenient: bool | str, place: Place, window: Window
) -> Generator[int, bool, tuple[Node, ...]]:
    """Return what fills transformed bytes."""
    outside, after = reader.window, reader.after
    reader.window, reader.after = window, None
    inside = yield from _read_content(reader, content, lenient, place)
    reader.window, reader.after = outside, after
    return inside


def _inflate(reader: Reader, data: bytes, algorithm: str, place: Place, at: int) -> bytes:
    """Return what one whole stream of at most the frame's budget holds.

    Raises:
        DecodeError: inflate_failed, trailing_bytes, limit_exceeded.
    """
    stream = zlib.decompressobj(_WINDOW_BITS[algorithm])
    try:
        inflated = stream.decompress(data, reader.inflated_left + 1)
    except zlib.error:
        raise reader.fail("inflate_failed", place, at, expected=algorithm, found="something else") from None
    if len(inflated) > reader.inflated_left:
        expected = f"at most {reader.schema.inflated} inflated bytes"
        raise reader.fail("limit_exceeded", place, at, expected=expected, found="more", limit="inflated")
    if not stream.eof:
        raise reader.fail("inflate_failed", place, at, expected="a whole stream", found="a part")
    if stream.unused_data:
        found = n_bytes(len(stream.unused_data))
        raise reader.fail("trailing_bytes", place, at, expected="the end of the region", found=found)
    reader.inflated_left -= len(inflated)
    reader.spend_work(len(inflated) // _BYTES_OF_WORK, place)
    return inflated


# ---- joined ----


def _read_chunks(reader: Reader, type_: Region, carrier: Chunks, place: Place) -> Steps:
    outside = reader.window
    start = outside.here
    chunks, pieces = yield from _chunks(reader, carrier, place)
    _note_end(reader, outside.here)
    data = b"".join(pieces)
    body = reader.node(place.part("body"), JoinedBody(carrier.struct), outside.here)
    body.children = yield from read_inside(
        reader, type_.content, type_.lenient, place, outside.inside(data, start, is_inflated=False)
    )
    return reader.node(place, type_, start, body.children[0].value, (*chunks, body))


def _chunks(
    reader: Reader, carrier: Chunks, place: Place
) -> Generator[int, bool, tuple[list[Node], list[bytes]]]:
    """Return the chunks, whose nodes are not kept where only a fault is looked for, and the bytes of each."""
    after, is_last = reader.after, reader.is_last
    reader.after, reader.is_last = None, False
    chunks: list[Node] = []
    pieces: list[bytes] = []
    chunk = None
    while chunk is None or not holds(reader, carrier.until, chunk, place):
        here = place.item(len(chunks))
        reader.spend_messages(1, here)
        chunk = yield from reader.read(reader, StructReference(carrier.struct), here)
        chunks.append(SKIPPED if reader.is_quick else chunk)
        pieces.append(_data_of(chunk, carrier.data))
    reader.after, reader.is_last = after, is_last
    return chunks, pieces


def _data_of(chunk: Node, name: str) -> bytes:
    value = chunk.value.fields[name] if isinstance(chunk.value, Record) else b""
    return value if isinstance(value, bytes) else b""
