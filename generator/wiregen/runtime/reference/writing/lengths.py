"""Values with a length: bytes, text and lists."""

from __future__ import annotations

from ...codec.errors import EncodeError
from ...codec.text import delimiter_at
from ...schema.expressions import Expression
from ...schema.types import (
    Bytes,
    CodingReference,
    Computed,
    Delimited,
    Integer,
    Prefix,
    Text,
    ToEnd,
    Varint,
)
from ..scalars import coding_bytes, null, scalar, text_bytes
from .cells import Spot
from .writer import Writer

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ...schema.types import ByteLength, Length

__all__ = ["measured", "prefix_bytes", "write_sized"]

_NULL = object()


def write_sized(writer: Writer, type_: Bytes | Text, value: object, spot: Spot) -> bytes:
    """Return the bytes of bytes or text, with their length."""
    if value is None:
        return null_length(writer, type_.length, value, spot)
    data = text_bytes(type_, value, spot.path)
    is_utf16 = isinstance(type_, Text) and type_.encoding == "utf16"
    return measured(writer, type_.length, data, 2 if is_utf16 else 1, spot)


def measured(writer: Writer, length: ByteLength, data: bytes, unit: int, spot: Spot) -> bytes:
    """Return bytes with the length that a reader needs to find their end; `unit`: the bytes that it counts as one."""
    count = len(data) // unit
    match length:
        case Prefix(type_):
            return prefix_bytes(writer, type_, count, spot.path) + data
        case Computed(expression):
            check_count(expression, count, spot)
            return data
        case Delimited(digits):
            return _delimited(data, bytes.fromhex(digits), unit, spot)
        case ToEnd():
            refuse_endless(spot)
            return data


def _delimited(data: bytes, delimiter: bytes, unit: int, spot: Spot) -> bytes:
    whole = data + delimiter
    if delimiter_at(whole, delimiter, unit) != len(data):
        raise EncodeError("unrepresentable", path=spot.path, expected="no delimiter in it", found="one")
    return whole


def refuse_endless(spot: Spot) -> None:
    """Refuse a value that extends to the end of its region if that end is unknown."""
    if not spot.around.has_end:
        raise EncodeError("undelimitable", path=spot.path, expected="a region with an end")


def check_count(expression: Expression, count: int | None, spot: Spot) -> None:
    """Check a length against its computed value when the row is written."""

    def check() -> None:
        expected = spot.row.worth_at(expression, spot.path, spot.start, otherwise=count)
        if expected != count or type(expected) is not type(count):
            raise EncodeError("length_mismatch", path=spot.path, expected=str(expected), found=str(count))

    spot.row.later(check)


def prefix_bytes(
    writer: Writer, type_: Integer | Varint | CodingReference, count: int | None, path: str
) -> bytes:
    """Return a length or count as the prefix of the element that it measures.

    Raises:
        EncodeError: `unrepresentable`, it does not fit; `invalid_value`, it is null and the prefix cannot encode that.
    """
    if isinstance(type_, CodingReference):
        return coding_bytes(writer.layout.schema, type_.name, count, path)
    if count is None:
        raise null(None, path)
    if count > type_.bounds[1]:
        raise EncodeError(
            "unrepresentable", path=path, expected=f"a length of at most {type_.bounds[1]}", found=str(count)
        )
    return scalar(writer.layout.schema, type_, count, path)


def null_length(writer: Writer, length: Length, value: object, spot: Spot) -> bytes:
    """Return the bytes of a null, which only a variable-width integer can encode."""
    if isinstance(length, Prefix):
        return prefix_bytes(writer, length.type, None, spot.path)
    if not isinstance(length, Computed):
        raise null(value, spot.path)
    check_count(length.value, None, spot)
    return b""


# ---- lists ----
