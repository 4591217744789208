"""Variable-width integers: varints, and the codings of a protocol."""

from __future__ import annotations

from collections.abc import Generator

from ...schema.types import CodingReference, Varint
from ..window import Place
from .reader import Reader, Steps

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ...schema.declarations import Width

__all__ = ["read_coding", "read_varint"]


_LONGEST_VARINT = 10  # bytes of 64 bits


def read_varint(reader: Reader, type_: Varint, place: Place) -> Steps:
    start, bits = reader.window.here, type_.bits
    groups = yield from _groups(reader, place)
    raw = sum(group << 7 * index for index, group in enumerate(groups))
    if raw >= 1 << bits:
        raise reader.fail("invalid_value", place, start, expected=f"at most {bits} bits", found="more")
    node = reader.node(place, type_, start, raw >> 1 ^ -(raw & 1) if type_.is_zigzag else raw)
    if len(groups) > 1 and groups[-1] == 0:
        if reader.layout.strict or not type_.is_lenient:
            raise reader.fail(
                "not_canonical", place, start, expected="the fewest bytes", found=f"{len(groups)} bytes"
            )
        node.annotate("longer than needed")
    return node


def _groups(reader: Reader, place: Place) -> Generator[int, bool, list[int]]:
    """Return the groups of 7 bits, the lowest first."""
    start = reader.window.here
    groups: list[int] = []
    while len(groups) < _LONGEST_VARINT:
        byte = (yield from reader.take(1, place))[0]
        groups.append(byte & 0x7F)
        if byte < 0x80:
            return groups
    raise reader.fail("invalid_value", place, start, expected="at most 64 bits", found="more")


def read_coding(reader: Reader, type_: CodingReference, place: Place) -> Steps:
    name, coding = type_.name, reader.layout.schema.codings[type_.name]
    start = reader.window.here
    first = yield from reader.read(reader, coding.type, place.part("code"))
    number = first.value
    assert isinstance(number, int)
    index = next((at for at, width in enumerate(coding.widths) if width.low <= number <= width.high), None)
    if index is None:
        rule = place.rule or reader.layout.rules.get(name)
        expected = f"a code of {name}"
        raise reader.fail("invalid_value", place, start, expected=expected, found=str(number), rule=rule)
    width = coding.widths[index]
    if width.wide is None:
        return reader.node(place, type_, start, None if width.is_null else number)
    rest = yield from reader.read(reader, width.wide, place.part("value"))
    assert isinstance(rest.value, int)
    if any(_holds(narrower, rest.value) for narrower in coding.widths[:index]):
        # A rule of a coding is about its numbers; the form has a code of its own.
        raise reader.fail(
            "not_canonical", Place(place.name, place.path), start, expected="the narrowest form"
        )
    return reader.node(place, type_, start, rest.value, (first, rest))


def _holds(width: Width, number: int) -> bool:
    if width.is_null:
        return False
    low, high = (width.low, width.high) if width.wide is None else width.wide.bounds
    return low <= number <= high
