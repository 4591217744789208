"""Native bytes of single values, which serializations carry where they have no form of their own."""

from __future__ import annotations

from ..codec.errors import EncodeError
from ..codec.options import Options
from ..lazy import Lazy
from ..reference.expressions import Value
from ..reference.layout import Type
from ..reference.tree import Record
from ..reference.writing.cells import RegionContext
from ..reference.writing.frames import WRITERS
from ..reference.writing.rows import CellRow
from ..reference.writing.writer import Writer
from ..schema.declarations import Field
from ..schema.protocol import Schema

__all__ = ["write_type"]

_REFUSE_UNREADABLE_TYPE = Lazy("reference.writing.verification", "refuse_unreadable_type")


def write_type(schema: Schema, type_: Type, value: Value, name: str) -> bytes:
    """Return the bytes of one shape that fills a region of its own.

    Raises:
        EncodeError: It cannot be written, or its bytes alone are read as another value.
    """
    writer = Writer(schema, Options(), WRITERS, compression=-1, is_tail_kept=False)
    field = Field(name, False, type_, None, None, None, "", None, False)
    row = CellRow(writer, (field,), Record(name, {name: value}), name)
    try:
        data = row.write(lambda: 0, RegionContext(has_end=True))
        if writer.is_to_be_read:
            _REFUSE_UNREADABLE_TYPE.load()(schema, type_, value, data, name)
        return data
    except RecursionError:
        raise EncodeError("too_deep", path=name, expected="fewer levels of nesting") from None
