"""Conversion of foreign arrays to the package's own types, and to Python values."""

from __future__ import annotations

import pyarrow as pa

from wirespark.errors import WireSparkError
from wirespark.untyped import ArrowArray, ArrowType, Values

__all__ = ["bare", "bare_type", "fitted", "plain"]


def plain(array: ArrowArray) -> Values:
    """Return the values of an array as Python values."""
    type_ = array.type
    if pa.types.is_decimal(type_):
        return [None if value is None else int(value) for value in array.to_pylist()]
    is_object = pa.types.is_string(type_) or pa.types.is_binary(type_)
    if is_object or not array.null_count:
        values: Values = array.to_numpy(zero_copy_only=False).tolist()
        return values
    found: Values = array.to_pylist()
    return found


def fitted(array: ArrowArray, type_: ArrowType, path: str = "") -> ArrowArray:
    """Return an array cast to a type.

    Missing columns inside structs become null; other widths are accepted if the values fit.

    Raises:
        WireSparkError: A column is unknown, or of another kind.
    """
    if array.type.equals(type_):
        return array
    if pa.types.is_struct(type_) and pa.types.is_struct(array.type):
        return _fitted_struct(array, type_, path)
    if pa.types.is_list(type_) and (pa.types.is_list(array.type) or pa.types.is_large_list(array.type)):
        flat = pa.concat_arrays([array]) if array.offset else array
        values = fitted(flat.values, type_.value_type, f"{path}[]")
        mask = flat.is_null() if flat.null_count else None
        return pa.ListArray.from_arrays(flat.offsets.cast(pa.int32()), values, type=type_, mask=mask)
    try:
        return array.cast(type_)
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError) as error:
        raise WireSparkError(f"the column {path or 'given'!r} has the wrong type: {error}") from None


def _fitted_struct(array: ArrowArray, type_: ArrowType, path: str) -> ArrowArray:
    given = {field.name: array.field(number) for number, field in enumerate(array.type)}
    unknown = given.keys() - {field.name for field in type_}
    if unknown:
        names = ", ".join(field.name for field in type_)
        raise WireSparkError(f"unknown column {path}{min(unknown)!r}: the columns are {names}")
    children = [
        (
            fitted(given[field.name], field.type, f"{path}{field.name}.")
            if field.name in given
            else pa.nulls(len(array), field.type)
        )
        for field in type_
    ]
    mask = array.is_null() if array.null_count else None
    return pa.StructArray.from_arrays(children, fields=list(type_), mask=mask)


def bare_type(type_: ArrowType) -> ArrowType:
    """Return a type without the metadata of its fields.

    Spark compares the type of a function's result exactly, metadata included.
    """
    if pa.types.is_struct(type_):
        return pa.struct([pa.field(field.name, bare_type(field.type)) for field in type_])
    return pa.list_(bare_type(type_.value_type)) if pa.types.is_list(type_) else type_


def bare(array: ArrowArray) -> ArrowArray:
    """Return an array without the metadata of its fields."""
    type_ = array.type
    if pa.types.is_struct(type_):
        children = [bare(array.field(number)) for number in range(type_.num_fields)]
        mask = array.is_null() if array.null_count else None
        return pa.StructArray.from_arrays(children, fields=list(bare_type(type_)), mask=mask)
    if pa.types.is_list(type_):
        flat = pa.concat_arrays([array]) if array.offset else array
        mask = flat.is_null() if flat.null_count else None
        return pa.ListArray.from_arrays(flat.offsets, bare(flat.values), type=bare_type(type_), mask=mask)
    return array
