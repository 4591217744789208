"""Regions: shapes laid in something that says where they end, as they are, compressed, or in chunks."""

from __future__ import annotations

import zlib
from collections.abc import Iterator
from itertools import product
from typing import Any

from ...codec.errors import EncodeError
from ...schema.expressions import Expression
from ...schema.shapes import is_flat
from ...schema.types import (
    Carrier,
    Chunks,
    CodingReference,
    Compressed,
    InSize,
    Prefix,
    Region,
    StructReference,
    Type,
)
from ..access import as_bytes, extra, keeps_tail
from ..expressions import Circular
from ..layout import Fields, fixed_size
from ..skimming import BYTES_OF_WORK
from ..tree import Record
from .cells import RegionContext, Spot, nowhere
from .lengths import check_count, measured, prefix_bytes
from .row_scope import LastItem
from .rows import Row
from .writer import Writer

__all__ = ["write_region"]

_WINDOW_BITS = {"zlib": 15, "gzip": 31, "deflate": -15}


def write_region(writer: Writer, type_: Region, value: Any, spot: Spot) -> bytes:
    carrier = type_.carrier
    prefix = _prefix_of(carrier)
    if value is None and isinstance(prefix, CodingReference) and not is_flat(type_.content):
        return prefix_bytes(writer, prefix, None, spot.path)
    match carrier:
        case InSize(expression):
            data = _content(writer, type_, value, spot.within(spot.start))
            data = _filled(writer, type_, expression, data, value, spot)
            check_count(expression, len(data), spot)
            return data
        case Prefix(prefix):
            size = fixed_size(writer.schema, prefix)
            start = nowhere if size is None else spot.behind(size)
            data = _content(writer, type_, value, spot.within(start))
            return prefix_bytes(writer, prefix, len(data), spot.path) + data
        case Compressed(algorithm, length):
            data = _content(writer, type_, value, spot.within(lambda: 0))
            data = _deflate(writer, data, algorithm, spot.path)
            return measured(writer, length, data, 1, spot)
        case Chunks():
            return _chunk(writer, carrier, _content(writer, type_, value, spot.within(lambda: 0)), spot)


def _prefix_of(carrier: Carrier) -> Type | None:
    """Return the type of the length that the region begins with; None: it has none."""
    match carrier:
        case Prefix(prefix) | Compressed(_, Prefix(prefix)):
            return prefix
        case _:
            return None


def _content(writer: Writer, type_: Region, value: Any, spot: Spot) -> bytes:
    data = writer.write(type_.content, value, spot)
    return data + _tail(type_, value, spot) if type_.lenient and writer.is_tail_kept else data


def _tail(type_: Region, value: Any, spot: Spot) -> bytes:
    """Return the bytes that were left over behind a value when it was read."""
    if keeps_tail(value) and not is_flat(type_.content):
        return as_bytes(extra(value, "tail", b"", spot.path) or b"", spot.path)
    if not spot.row.is_last_tail(spot.cell):
        return b""
    return as_bytes(extra(spot.row.owner, "tail", b"", spot.path) or b"", spot.path)


def _filled(
    writer: Writer, type_: Region, expression: Expression, data: bytes, value: Any, spot: Spot
) -> bytes:
    """Return the content of a lenient region of given size, filled with the bytes left over when it was read, or zeros."""
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


def _deflate(writer: Writer, data: bytes, algorithm: str, path: str) -> bytes:
    """Return one compressed stream; a gzip header without a time, so that equal values have equal bytes."""
    writer.spend_inflated(len(data), path)
    writer.spend_work(len(data) // BYTES_OF_WORK, path)
    stream = zlib.compressobj(writer.compression, zlib.DEFLATED, _WINDOW_BITS[algorithm])
    return stream.compress(data) + stream.flush()


# ---- chunks ----


def _chunk(writer: Writer, carrier: Chunks, data: bytes, spot: Spot) -> bytes:
    """Return the one struct that holds all bytes and says that none follows."""
    struct = carrier.struct
    writer.spend_messages(1, spot.path)
    fields = writer.schema.structs[struct]
    for flags in _candidates(fields, carrier.data):
        chunk = Record(struct, {**flags, carrier.data: data})
        row = Row(writer, fields, chunk, f"{spot.path}[0]")
        written = row.write(spot.start, RegionContext(has_end=spot.around.has_end, is_last=False))
        last = LastItem(StructReference(struct), chunk, row, len(written))
        if spot.row.worth_at(carrier.until, spot.path, spot.start, item=last):
            return written
    raise EncodeError("unrepresentable", path=spot.path, expected=f"a last {struct}", found="none")


def _candidates(fields: Fields, data_field: str) -> Iterator[dict[str, Any]]:
    """Return what the fields of a chunk besides its data may say: usually one flag, false or true."""
    free = [field for field in fields if not field.is_hidden and field.name != data_field]
    for values in product((0, 1), repeat=min(len(free), 8)):
        yield {field.name: value for field, value in zip(free, values, strict=False)}
