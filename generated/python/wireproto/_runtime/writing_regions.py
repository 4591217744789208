"""Regions: shapes laid in something that says where they end, as they are, compressed, or in chunks."""

from __future__ import annotations

import zlib
from collections.abc import Iterator
from itertools import product
from typing import Any

from .access import as_bytes, extra
from .cells import Spot, Surroundings, is_flat, nowhere
from .errors import EncodeError
from .rows import Row
from .schema import Fields, Type, fixed_size
from .tree import Record
from .writer import Writer
from .writing_lengths import check_count, measured, prefix_bytes

__all__ = ["write_region"]

_WINDOW_BITS = {"zlib": 15, "gzip": 31, "deflate": -15}


def write_region(writer: Writer, type_: Type, value: Any, spot: Spot) -> bytes:
    _, shape, carrier, _ = type_
    if value is None and carrier[0] == "prefix" and carrier[1][0] == "coding" and not is_flat(shape):
        return prefix_bytes(writer, carrier[1], None, spot.path)
    match carrier:
        case ("size", expression):
            data = _content(writer, type_, value, spot.within(spot.start))
            check_count(expression, len(data), spot)
            return data
        case ("prefix", prefix, *_):
            size = fixed_size(writer.schema, prefix)
            start = nowhere if size is None else spot.behind(size)
            data = _content(writer, type_, value, spot.within(start))
            return prefix_bytes(writer, prefix, len(data), spot.path) + data
        case ("compressed", algorithm, length):
            data = _content(writer, type_, value, spot.within(lambda: 0))
            data = _deflate(writer, data, algorithm, spot.path)
            return measured(writer, length, data, 1, spot)
        case _:
            return _chunk(writer, carrier, _content(writer, type_, value, spot.within(lambda: 0)), spot)


def _content(writer: Writer, type_: Type, value: Any, spot: Spot) -> bytes:
    _, shape, _, lenient = type_
    data = writer.write(shape, value, spot)
    if lenient and writer.is_tail_kept:
        owner = spot.row.owner if is_flat(shape) else value
        data += as_bytes(extra(owner, "tail", b"", spot.path) or b"", spot.path)
    return data


def _deflate(writer: Writer, data: bytes, algorithm: str, path: str) -> bytes:
    """Return one compressed stream; a gzip header without a time, so that equal values have equal bytes."""
    writer.spend_inflated(len(data), path)
    stream = zlib.compressobj(writer.compression, zlib.DEFLATED, _WINDOW_BITS[algorithm])
    return stream.compress(data) + stream.flush()


# ---- chunks ----


def _chunk(writer: Writer, carrier: Type, data: bytes, spot: Spot) -> bytes:
    """Return the one struct that holds all bytes and says that none follows."""
    _, struct, data_field, until = carrier
    writer.spend_messages(1, spot.path)
    fields = writer.schema.structs[struct]
    for flags in _candidates(fields, data_field):
        chunk = Record(struct, {**flags, data_field: data})
        row = Row(writer, fields, chunk, f"{spot.path}[0]")
        written = row.write(spot.start, Surroundings(has_end=spot.around.has_end, is_last=False))
        if spot.row.worth_at(until, spot.path, spot.start, item=(chunk, row)):
            return written
    raise EncodeError("unrepresentable", path=spot.path, expected=f"a last {struct}", found="none")


def _candidates(fields: Fields, data_field: str) -> Iterator[dict[str, Any]]:
    """Return what the fields of a chunk besides its data may say: usually one flag, false or true."""
    free = [field for field in fields if not field[1] and field[0] != data_field]
    for values in product((0, 1), repeat=min(len(free), 8)):
        yield {field[0]: value for field, value in zip(free, values, strict=False)}
