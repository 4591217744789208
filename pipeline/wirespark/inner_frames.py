"""Rows for the frames inside of messages, such as those of a compressed envelope.

They are found in the columns of the messages that hold them. A row has the place of the frame outside, and no
`_size`: the bytes of a file are counted by the rows outside alone.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from wirespark.arrow_columns import wire_of
from wirespark.columns import Columns
from wirespark.packages import Package
from wirespark.table_rows import message_schema, message_table, rows_table
from wirespark.untyped import ArrowArray, ArrowField, ArrowSchema, ArrowType, Batch

__all__ = ["INSIDE", "every_schema", "inner_tables", "outer_table"]

_COLUMNS = (
    pa.field("_path", pa.string(), metadata={"comment": "The field that holds it, of the frame outside."}),
    pa.field("_depth", pa.int8(), metadata={"comment": "0, or the number of frames that it is in."}),
)

INSIDE = tuple(field.name for field in _COLUMNS)
"""The columns that tell rows of inner frames from those of outer ones."""


@cache
def every_schema(package: Package, name: str) -> ArrowSchema:
    """Return the columns of one message's table with inner rows: `_path` and `_depth` before its fields."""
    schema = message_schema(package, name)
    n_own = len(package.messages[name])
    fields = list(schema)
    place = len(fields) - n_own
    return pa.schema([*fields[:place], *_COLUMNS, *fields[place:]], metadata=schema.metadata)


def outer_table(columns: Columns, package: Package, name: str) -> Batch:
    """Return the rows of a message that are frames themselves, with those columns."""
    table = message_table(columns, package, name)
    schema = every_schema(package, name)
    inside = {"_path": pa.nulls(len(table), pa.string()), "_depth": pa.array(np.zeros(len(table), np.int8))}
    return _table(schema, {**{each: table[each] for each in table.schema.names}, **inside})


@dataclass(frozen=True, slots=True, kw_only=True)
class _Frames:
    """Frames inside of others: for each its struct, the row of the frame outside, and its path."""

    structs: ArrowArray
    rows: ArrowArray
    paths: ArrowArray
    depth: int


def inner_tables(columns: Columns, package: Package) -> Iterator[tuple[str, Batch]]:
    """Yield the rows of the frames inside of the messages of a stretch, by message.

    What a recursive message has only as JSON, in the second level of its columns, has no rows.
    """
    if not _holders(package):
        return
    outside = rows_table(columns)
    for name in _holders(package) & columns.messages.keys():
        found = columns.messages[name]
        paths = pa.repeat(pa.scalar(""), len(found.rows))
        schema = package.messages[name]
        for frames in _inside(list(schema), found.columns, found.rows, paths, 1):
            for inner in _by_message(frames):
                yield inner, _inner_table(frames, inner, package, outside)


@cache
def _holders(package: Package) -> frozenset[str]:
    return frozenset(name for name, schema in package.messages.items() if any(map(_holds_frame, schema)))


def _holds_frame(field: ArrowField) -> bool:
    return wire_of(field) == "frame" and pa.types.is_struct(_item_type(field.type))


def _item_type(type_: ArrowType) -> ArrowType:
    while pa.types.is_list(type_):
        type_ = type_.value_type
    return type_


def _inside(
    fields: Iterable[ArrowField], holder: ArrowArray, rows: ArrowArray, paths: ArrowArray, depth: int
) -> Iterator[_Frames]:
    """Yield the frames in the fields of an array of structs, and those in them."""
    for field in fields:
        if not _holds_frame(field):
            continue
        values = pc.struct_field(holder, field.name)
        here = pc.binary_join_element_wise(paths, field.name, "")
        own = rows
        while pa.types.is_list(values.type):
            parents = pc.list_parent_indices(values)
            lists = pc.binary_join_element_wise(here.take(parents), _places(parents), "]", "[")
            here = pc.replace_substring(lists, "[]", "]")
            own, values = own.take(parents), pc.list_flatten(values)
        is_there = values.is_valid()
        frames = _Frames(
            structs=values.filter(is_there),
            rows=own.filter(is_there),
            paths=here.filter(is_there),
            depth=depth,
        )
        if len(frames.rows):
            yield frames
            yield from _deeper(frames)


def _places(parents: ArrowArray) -> ArrowArray:
    """Return for each item its index in its list, as text."""
    numbers = parents.to_numpy()
    is_first = np.diff(numbers, prepend=-1) != 0
    begins = np.maximum.accumulate(np.where(is_first, np.arange(len(numbers)), 0))
    return pa.array(np.arange(len(numbers)) - begins).cast(pa.string())


def _deeper(frames: _Frames) -> Iterator[_Frames]:
    for field in frames.structs.type:
        if pa.types.is_struct(field.type) and any(map(_holds_frame, field.type)):
            is_own = pc.equal(pc.struct_field(frames.structs, "message"), field.name)
            holder = pc.struct_field(frames.structs, field.name).filter(is_own)
            paths = pc.binary_join_element_wise(frames.paths.filter(is_own), f".{field.name}.", "")
            yield from _inside(list(field.type), holder, frames.rows.filter(is_own), paths, frames.depth + 1)


def _by_message(frames: _Frames) -> list[str]:
    names: list[str] = pc.unique(pc.struct_field(frames.structs, "message").drop_null()).to_pylist()
    return names


def _inner_table(frames: _Frames, name: str, package: Package, outside: Batch) -> Batch:
    """Return the rows of one message among the frames."""
    is_own = pc.fill_null(pc.equal(pc.struct_field(frames.structs, "message"), name), False)
    structs = frames.structs.filter(is_own)
    schema = every_schema(package, name)
    places = outside.select([each for each in outside.schema.names if each in schema.names])
    taken = places.take(frames.rows.filter(is_own))
    arrays = {each: taken[each] for each in taken.schema.names}
    arrays |= {
        "_size": pa.nulls(len(structs), pa.int64()),
        "_path": frames.paths.filter(is_own),
        "_depth": pa.array(np.full(len(structs), frames.depth, np.int8)),
    }
    if "_header" in arrays:
        header = schema.field("_header").type
        children = [_field_or_null(structs, field) for field in header]
        arrays["_header"] = pa.StructArray.from_arrays(children, fields=list(header))
    # A message without fields is a Boolean, and one of a level too deep is JSON.
    is_struct = pa.types.is_struct(structs.type.field(name).type)
    own = pc.struct_field(structs, name) if is_struct else pa.nulls(len(structs), pa.struct([]))
    for field in package.messages[name]:
        arrays[field.name] = _field_or_null(own, field)
    return _table(schema, arrays)


def _field_or_null(structs: ArrowArray, field: ArrowField) -> ArrowArray:
    """Return a field of structs, or nulls where they have no field of this name and type."""
    index = structs.type.get_field_index(field.name)
    found = None if index < 0 else pc.struct_field(structs, field.name)
    if found is None or not found.type.equals(field.type):
        return pa.nulls(len(structs), field.type)
    return found


def _table(schema: ArrowSchema, arrays: dict[str, ArrowArray]) -> Batch:
    return pa.RecordBatch.from_arrays([arrays[name] for name in schema.names], schema=schema)
