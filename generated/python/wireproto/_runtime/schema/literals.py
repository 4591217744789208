"""Words that nodes hold, as closed sets of literals; for type checkers and the compiler, no codec imports them."""

from typing import Literal, TypeAlias

__all__ = [
    "Algorithm", "BitOrder", "ChecksumAlgorithm", "Code", "Encoding", "Endian", "ErrorAction", "FieldScope", "FloatName", "Function", "Operator", "PositionName", "ViewForm",
]  # fmt: skip

Endian: TypeAlias = Literal["big", "little"]
BitOrder: TypeAlias = Literal["msb", "lsb"]
Encoding: TypeAlias = Literal["utf8", "mutf8", "ascii", "latin1", "utf16"]
FloatName: TypeAlias = Literal["f32", "f64"]
Algorithm: TypeAlias = Literal["zlib", "gzip", "deflate"]
ViewForm: TypeAlias = Literal["json", "dict"]
FieldScope: TypeAlias = Literal["own", "frame", "item"]
PositionName: TypeAlias = Literal["remaining", "offset"]
Operator: TypeAlias = Literal[
    "+", "-", "*", "/", "%", "**", "==", "!=", "<", "<=", ">", ">=", "and", "or", "in", "not in"
]
Function: TypeAlias = Literal[
    "size", "count", "present", "code", "distinct", "min", "max", "push", "drop", "remove", "index", "rank"
]
ChecksumAlgorithm: TypeAlias = Literal["crc32", "adler32", "crc16"]
Code: TypeAlias = Literal[
    "truncated", "trailing_bytes", "unknown_code", "wrong_constant", "invalid_value", "invalid_text", "invalid_enum",
    "constraint", "length_mismatch", "not_canonical", "limit_exceeded", "too_deep", "inflate_failed", "partial_inner",
    "missing_context", "duplicate", "undelimitable", "unrepresentable", "lost_sync", "gap", "incomplete_join",
]  # fmt: skip
"""The errors that a decoder may report in every protocol; a file adds its own names."""
ErrorAction: TypeAlias = Literal["close", "continue"]
"""The action of a connection after an error that the codec can recover from."""
