"""Regions: shapes inside bytes whose end is given."""

from __future__ import annotations

from ...lazy import Dispatch, Lazy
from ...schema.expressions import Expression
from ...schema.shapes import is_flat
from ...schema.types import (
    Chunks,
    CodingReference,
    Compressed,
    InSize,
    Prefix,
    Region,
)
from ..access import as_bytes, extra, keeps_tail
from ..expressions import Circular, Value
from ..layout import fixed_size
from .cells import Spot, nowhere
from .lengths import check_count, prefix_bytes
from .writer import Writer

__all__ = ["CARRIERS", "write_content", "write_region"]


def write_region(writer: Writer, type_: Region, value: object, spot: Spot) -> bytes:
    carrier = type_.carrier
    match carrier.length if value is None else None:
        case Prefix(CodingReference() as prefix) if not is_flat(type_.content):
            return prefix_bytes(writer, prefix, None, spot.path)
    data: bytes = CARRIERS[type(carrier)](writer, type_, carrier, value, spot)
    return data


def _write_in_size(writer: Writer, type_: Region, carrier: InSize, value: Value, spot: Spot) -> bytes:
    data = write_content(writer, type_, value, spot.within(spot.start))
    data = _filled(writer, type_, carrier.size, data, value, spot)
    check_count(carrier.size, len(data), spot)
    return data


def _write_prefixed(writer: Writer, type_: Region, carrier: Prefix, value: Value, spot: Spot) -> bytes:
    size = fixed_size(writer.layout, carrier.type)
    start = nowhere if size is None else spot.behind(size)
    data = write_content(writer, type_, value, spot.within(start))
    return prefix_bytes(writer, carrier.type, len(data), spot.path) + data


CARRIERS = Dispatch(
    {InSize: _write_in_size, Prefix: _write_prefixed},
    {
        Compressed: Lazy("reference.writing.compressed", "write_compressed"),
        Chunks: Lazy("reference.writing.chunks", "write_chunk"),
    },
)


def write_content(writer: Writer, type_: Region, value: Value, spot: Spot) -> bytes:
    """Return the bytes of a region's content, before it is compressed or put into chunks."""
    data = writer.write(type_.content, value, spot)
    return data + _tail(type_, value, spot) if type_.lenient and writer.is_tail_kept else data


def _tail(type_: Region, value: object, spot: Spot) -> bytes:
    """Return the trailing bytes that were read after a value."""
    if keeps_tail(value) and not is_flat(type_.content):
        return as_bytes(extra(value, "tail", b"", spot.path) or b"", spot.path)
    regions = [
        cell for cell in spot.row.cells.values() if isinstance(cell.type, Region) and cell.type.lenient
    ]
    if regions[-1:] != [spot.cell]:  # of several lenient regions the last keeps the trailing bytes
        return b""
    return as_bytes(extra(spot.row.owner, "tail", b"", spot.path) or b"", spot.path)


def _filled(
    writer: Writer, type_: Region, expression: Expression, data: bytes, value: object, spot: Spot
) -> bytes:
    """Return the content of a lenient region of given size, padded with the trailing bytes that were read, or zeros."""
    if type_.lenient != "padded":
        return data
    try:
        size = spot.row.worth_at(expression, spot.path, spot.start, otherwise=None)
    except Circular:
        return data
    if type(size) is not int or size <= len(data):
        return data
    writer.refuse_long(size, spot.path)
    if not writer.is_tail_kept:
        data += _tail(type_, value, spot)[: size - len(data)]
    return data.ljust(size, b"\0")
