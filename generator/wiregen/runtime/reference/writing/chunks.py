"""Regions whose bytes are written as one chunk, or as several if one cannot hold them and be the last."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from typing import Any

from ...codec.errors import EncodeError
from ...schema.declarations import Field
from ...schema.expressions import FieldReference, Number
from ...schema.node import nodes_in
from ...schema.types import Bytes, Chunks, Computed, Region, StructReference
from ..layout import Fields
from ..tree import Record
from .cells import RegionContext, Spot
from .regions import write_content
from .row_scope import LastItem
from .rows import CellRow
from .writer import Writer

__all__ = ["write_chunk"]

_SIZES: tuple[int, ...] = tuple((1 << bits) - 1 for bits in (32, 31, 24, 23, 16, 15, *range(8, 0, -1)))
"""The numbers of bytes of a chunk before the last, the largest first: the greatest values of the usual lengths."""


def write_chunk(writer: Writer, type_: Region, carrier: Chunks, value: Any, spot: Spot) -> bytes:
    """Return one chunk with all bytes, marked as the last; or several chunks, the last one marked so."""
    data = write_content(writer, type_, value, spot.within(lambda: 0))
    written: list[bytes] = []
    start, most = 0, len(data)
    while True:
        writer.spend_messages(1, spot.path)
        rest = len(data) - start
        fault: EncodeError | None = None
        if rest <= most:
            try:
                return b"".join(
                    (*written, _chunk(writer, carrier, data[start:], spot, written, is_last=True))
                )
            except EncodeError as error:
                fault = error
        most = _write_part(writer, carrier, data, start, min(rest, most), spot, written) if rest else 0
        if most == 0:
            raise fault or EncodeError("unrepresentable", path=spot.path, expected="chunks", found="none")
        start += most


def _write_part(
    writer: Writer, carrier: Chunks, data: bytes, start: int, most: int, spot: Spot, written: list[bytes]
) -> int:
    """Write a chunk that is not the last; return the number of its bytes, 0 if no size can be written."""
    for size in (most, *(each for each in _SIZES if each < most)):
        try:
            part = _chunk(writer, carrier, data[start : start + size], spot, written, is_last=False)
        except EncodeError as error:
            if error.code == "limit_exceeded":
                raise
            continue
        written.append(part)
        return size
    return 0


def _chunk(
    writer: Writer, carrier: Chunks, data: bytes, spot: Spot, before: list[bytes], *, is_last: bool
) -> bytes:
    """Return a struct with these bytes that marks whether another one follows.

    Raises:
        EncodeError: Such a struct does not exist.
    """
    struct, path = carrier.struct, f"{spot.path}[{len(before)}]"
    fields = writer.layout.structs[struct]
    offset = sum(map(len, before))
    for flags in _candidates(fields, carrier, data):
        chunk = Record(struct, {**flags, carrier.data: data})
        row = CellRow(writer, fields, chunk, path)
        written = row.write(
            lambda: spot.start() + offset, RegionContext(has_end=spot.around.has_end, is_last=False)
        )
        item = LastItem(StructReference(struct), chunk, row, len(written))
        end = spot.behind(offset + len(written))
        if bool(spot.row.worth_at(carrier.until, spot.path, end, item=item)) is is_last:
            return written
    raise EncodeError("unrepresentable", path=spot.path, expected=f"a last {struct}", found="none")


def _candidates(fields: Fields, carrier: Chunks, data: bytes) -> Iterator[dict[str, Any]]:
    """Yield candidates for the fields of a chunk besides its data: usually one flag, false or true.

    The field that is the length of the data has that value; a field on which the end depends may be a
    number that it is compared with.
    """
    free = [field for field in fields if not field.is_hidden and field.name != carrier.data]
    held = next(field for field in fields if field.name == carrier.data)
    numbers = sorted({each.value for each in nodes_in(carrier.until) if isinstance(each, Number)})
    asked = {
        each.path[-1] for each in nodes_in(carrier.until) if isinstance(each, FieldReference) and each.path
    }
    choices = [
        (len(data),) if _is_length(field, held) else (0, 1, *numbers) if field.name in asked else (0, 1)
        for field in free[:8]
    ]
    for values in product(*choices):
        yield {field.name: value for field, value in zip(free, values, strict=False)}


def _is_length(field: Field, held: Field) -> bool:
    """Return whether a field is the length of another one."""
    match held.type:
        case Bytes(length=Computed(value=FieldReference(path=(name,)))):
            return bool(name == field.name)
        case _:
            return False
