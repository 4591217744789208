"""Bytes and text, and the lengths of all types that have one."""

from __future__ import annotations

from collections.abc import Generator

from ...codec.text import NOT_CANONICAL, decode_text
from ...schema.elements import Data, DelimiterBytes
from ...schema.types import Bytes, Computed, Delimited, Prefix, Text, ToEnd
from ..layout import UNBOUNDED
from ..tree import Node
from ..window import Place
from .reader import Reader, Steps

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ...schema.literals import Code, Encoding, Endian
    from ...schema.types import ByteLength

__all__ = ["read_bytes", "read_prefix", "read_span", "read_text", "rest_of"]


class SizedRun:
    """A run of bytes of a known size, which starts here.

    Attributes:
        size: The number of bytes, or None if the prefix is null.
        prefix: The node of the length, if there is one.
        delimiter: The number of bytes of the delimiter after it.
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
) -> Generator[int, bool, SizedRun]:
    """Return the span of bytes that a length gives; `unit`: the bytes that it counts as one."""
    match length:
        case Prefix():
            prefix = yield from read_prefix(reader, length, place, "length")
            number = prefix.value
            assert number is None or isinstance(number, int)
            return SizedRun(None if number is None else number * unit, prefix=prefix)
        case Computed(expression):
            size = reader.number(expression, place)
            return SizedRun(size * unit, blame=reader.blame(expression))
        case ToEnd():
            return SizedRun(rest_of(reader, place))
        case Delimited(digits):
            delimiter = bytes.fromhex(digits)
            size = yield from _find(reader, delimiter, place, unit)
            return SizedRun(size, delimiter=len(delimiter))


def read_prefix(reader: Reader, length: Prefix, place: Place, name: str) -> Steps:
    """Return the node of a length or count, which is not negative."""
    rule = length.rule
    node = yield from reader.read(reader, length.type, Place(name, place.path, rule, is_part=True))
    if node.value is not None:
        assert isinstance(node.value, int)
        reader.refuse_negative(node.value, place, node, rule)
    return node


def rest_of(reader: Reader, place: Place) -> int:
    """Return the number of bytes left in the region.

    Raises:
        DecodeError: undelimitable, the region has no end.
    """
    window = reader.window
    if window.end is None:
        raise reader.fail("undelimitable", place, expected="a region with an end")
    return window.end - window.position


def _find(reader: Reader, delimiter: bytes, place: Place, unit: int) -> Generator[int, bool, int]:
    """Return the distance to the delimiter; each byte is examined once."""
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
    reader: Reader, span: SizedRun, place: Place
) -> Generator[int, bool, tuple[bytes, tuple[Node, ...]]]:
    """Return the bytes of a span and the nodes of its parts; no nodes if the span has a single part."""
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
        value, note = _text(data, encoding, type_.is_lenient and not reader.layout.strict, type_.endian)
    except UnicodeDecodeError as error:
        code: Code = "not_canonical" if error.reason == NOT_CANONICAL else "invalid_text"
        found = f"byte 0x{data[error.start]:02x} at {error.start}"
        raise reader.fail(code, place, text_start + error.start, expected=encoding, found=found) from None
    node = reader.node(place, type_, start, value, children)
    node.note = note
    return node


def _text(data: bytes, encoding: Encoding, lenient: bool, endian: Endian) -> tuple[str, str]:
    """Return the text, and a note if it was only tolerated."""
    try:
        return decode_text(data, encoding, False, endian), ""
    except UnicodeDecodeError as error:
        if not lenient:
            raise
        note = "not canonical" if error.reason == NOT_CANONICAL else f"not {encoding}"
        return decode_text(data, encoding, True, endian), note
