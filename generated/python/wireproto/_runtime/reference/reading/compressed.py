"""Compressed regions."""

from __future__ import annotations

import zlib

from ...schema.elements import CompressedBody, DelimiterBytes
from ...schema.types import Compressed, Region
from ..skimming import BYTES_OF_WORK as _BYTES_OF_WORK
from ..window import Place
from .lengths import read_span
from .reader import Reader, Steps, n_bytes
from .regions import note_end, read_inside

__all__ = ["read_compressed"]


_WINDOW_BITS = {"zlib": 15, "gzip": 31, "deflate": -15}


def read_compressed(reader: Reader, type_: Region, carrier: Compressed, place: Place) -> Steps:
    """Return the node of a compressed region."""
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
    note_end(reader, outside.here)
    inflated = _inflate(reader, data, algorithm, place, at)
    inside = yield from read_inside(
        reader, type_.content, type_.lenient, place, outside.inside(inflated, at, is_inflated=True)
    )
    body.children = inside
    pieces = () if span.prefix is None else (span.prefix,)
    delimiter = (reader.node(place.part("delimiter"), DelimiterBytes(), end),) if span.delimiter else ()
    return reader.node(place, type_, start, inside[0].value, (*pieces, body, *delimiter))


def _inflate(reader: Reader, data: bytes, algorithm: str, place: Place, at: int) -> bytes:
    """Return the content of one whole stream, within the frame's budget.

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
