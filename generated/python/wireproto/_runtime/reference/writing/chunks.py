"""Regions whose bytes are written as one chunk."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from typing import Any

from ...codec.errors import EncodeError
from ...schema.types import Chunks, Region, StructReference
from ..layout import Fields
from ..tree import Record
from .cells import RegionContext, Spot
from .regions import write_content
from .row_scope import LastItem
from .rows import Row
from .writer import Writer

__all__ = ["write_chunk"]


def write_chunk(writer: Writer, type_: Region, carrier: Chunks, value: Any, spot: Spot) -> bytes:
    """Return the one struct that holds all bytes and says that none follows."""
    data = write_content(writer, type_, value, spot.within(lambda: 0))
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
