"""Regions whose content is carried in transformed bytes."""

from __future__ import annotations

from ...codec.transforms import TRANSFORMS, MalformedError
from ...schema.elements import CompressedBody, DelimiterBytes
from ...schema.types import Compressed, Region
from ..skimming import BYTES_OF_WORK as _BYTES_OF_WORK
from ..window import Place
from .lengths import read_span
from .reader import Reader, Steps, n_bytes
from .regions import note_end, read_inside

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ...schema.literals import Algorithm

__all__ = ["read_compressed"]


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
    content = _decode(reader, data, algorithm, place, at)
    inside = yield from read_inside(
        reader, type_.content, type_.lenient, place, outside.inside(content, at, is_inflated=True)
    )
    body.children = inside
    pieces = () if span.prefix is None else (span.prefix,)
    delimiter = (reader.node(place.part("delimiter"), DelimiterBytes(), end),) if span.delimiter else ()
    return reader.node(place, type_, start, inside[0].value, (*pieces, body, *delimiter))


def _decode(reader: Reader, data: bytes, algorithm: Algorithm, place: Place, at: int) -> bytes:
    """Return the content that fills bytes, within the frame's budget.

    Raises:
        DecodeError: The error of the transform, trailing_bytes, limit_exceeded.
    """
    transform = TRANSFORMS[algorithm]
    most = reader.inflated_left if transform.is_compression else len(data)
    try:
        content = transform.decode(data, most)
    except MalformedError as error:
        if error.n_left:
            found = n_bytes(error.n_left)
            raise reader.fail(
                "trailing_bytes", place, at, expected="the end of the region", found=found
            ) from None
        raise reader.fail(
            transform.error, place, at + error.at, expected=error.expected, found=error.found
        ) from None
    if len(content) > most:
        expected = f"at most {reader.layout.inflated} inflated bytes"
        raise reader.fail("limit_exceeded", place, at, expected=expected, found="more", limit="inflated")
    if transform.is_compression:
        reader.inflated_left -= len(content)
    reader.spend_work(len(content) // _BYTES_OF_WORK, place)
    return content
