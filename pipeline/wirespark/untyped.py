"""Names for untyped values: a signature documents the type of a value, and type checkers do not check it."""

from typing import Any, TypeAlias

__all__ = [
    "ArrowArray",
    "ArrowField",
    "ArrowSchema",
    "ArrowType",
    "Batch",
    "Buffer",
    "Client",
    "Compiled",
    "Made",
    "Values",
]

_Untyped: TypeAlias = Any  # pyarrow, numba and boto3 ship no types

ArrowType: TypeAlias = _Untyped
ArrowField: TypeAlias = _Untyped
ArrowSchema: TypeAlias = _Untyped
ArrowArray: TypeAlias = _Untyped
Buffer: TypeAlias = _Untyped
Batch: TypeAlias = _Untyped
"""A RecordBatch or a Table."""
Client: TypeAlias = _Untyped
"""A client of boto3, whose class is made at run time."""
Compiled: TypeAlias = _Untyped
"""A function that numba compiles."""

Made: TypeAlias = Any  # classes of generated packages are found by name at run time
"""A class of a generated package, or a value that it made."""
Values: TypeAlias = list[Made]
"""The values of a column, with None for null."""
