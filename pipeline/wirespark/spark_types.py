"""Conversion of Arrow schemas to Spark's, with the docs as column comments."""

from __future__ import annotations

from collections.abc import Iterable

import pyarrow as pa
from pyspark.sql import types as T

from wirespark.untyped import ArrowField, ArrowType

__all__ = ["spark_type", "struct_type"]

_PLAIN: dict[ArrowType, T.DataType] = {
    pa.bool_(): T.BooleanType(),
    pa.int8(): T.ByteType(),
    pa.int16(): T.ShortType(),
    pa.int32(): T.IntegerType(),
    pa.int64(): T.LongType(),
    pa.float32(): T.FloatType(),
    pa.float64(): T.DoubleType(),
    pa.string(): T.StringType(),
    pa.binary(): T.BinaryType(),
    pa.decimal128(20, 0): T.DecimalType(20, 0),
    pa.timestamp("us", tz="UTC"): T.TimestampType(),
    pa.date32(): T.DateType(),
}


def struct_type(fields: Iterable[ArrowField]) -> T.StructType:
    """Return the Spark type of an Arrow schema or struct type."""
    return T.StructType([T.StructField(f.name, spark_type(f.type), True, _comment(f)) for f in fields])


def spark_type(type_: ArrowType) -> T.DataType:
    """Return the Spark type of an Arrow type."""
    if pa.types.is_struct(type_):
        return struct_type(type_)
    if pa.types.is_list(type_):
        return T.ArrayType(spark_type(type_.value_type))
    return _PLAIN[type_]


def _comment(field: ArrowField) -> dict[str, str]:
    comment = (field.metadata or {}).get(b"comment")
    return {} if comment is None else {"comment": comment.decode()}
