"""Projection to the requested columns: the schema that a user gives selects them, inside structs too."""

from __future__ import annotations

import pyarrow as pa

from wirespark.errors import WireSparkError
from wirespark.untyped import ArrowArray, ArrowSchema, ArrowType, Batch

__all__ = ["check_projection", "projected"]


def projected(batch: Batch, names: tuple[str, ...], types: dict[str, ArrowType]) -> Batch:
    """Return a batch with these columns; `types` are the requested Arrow types."""
    arrays = [_pruned(batch.column(name), types[name]) for name in names]
    fields = [pa.field(name, types[name]) for name in names]
    return pa.RecordBatch.from_arrays(arrays, schema=pa.schema(fields))


def _pruned(array: ArrowArray, type_: ArrowType) -> ArrowArray:
    if array.type.equals(type_):
        return array
    if pa.types.is_struct(type_):
        children = [_pruned(array.field(each.name), each.type) for each in type_]
        mask = array.is_null() if array.null_count else None
        return pa.StructArray.from_arrays(children, fields=list(type_), mask=mask)
    if pa.types.is_list(type_):
        flat = array if array.offset == 0 else pa.concat_arrays([array])
        mask = flat.is_null() if flat.null_count else None
        values = _pruned(flat.values, type_.value_type)
        return pa.ListArray.from_arrays(flat.offsets, values, type=type_, mask=mask)
    return array.cast(type_)


def check_projection(asked: ArrowSchema, known: ArrowSchema, path: str = "") -> None:
    """Check a requested schema against the known columns.

    Raises:
        WireSparkError: It has a column that is unknown, or of another type.
    """
    fields = {field.name: field for field in known}
    for field in asked:
        here = f"{path}{field.name}"
        if field.name not in fields:
            raise WireSparkError(f"unknown column {here!r}: the columns are {', '.join(fields)}")
        _check_type(field.type, fields[field.name].type, here)


def _check_type(asked: ArrowType, known: ArrowType, path: str) -> None:
    if pa.types.is_struct(asked) and pa.types.is_struct(known):
        check_projection(asked, known, f"{path}.")
    elif pa.types.is_list(asked) and pa.types.is_list(known):
        _check_type(asked.value_type, known.value_type, path)
    elif not asked.equals(known):
        raise WireSparkError(f"the column {path!r} has the type {known}, not {asked}: correct the schema")
