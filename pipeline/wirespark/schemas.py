"""The schemas of a protocol's tables, in Arrow's types and in Spark's."""

from __future__ import annotations

from typing import TYPE_CHECKING

from wirespark.errors import WireSparkError
from wirespark.packages import package_of
from wirespark.table_rows import message_schema, wide_schema
from wirespark.untyped import ArrowSchema

if TYPE_CHECKING:
    from pyspark.sql.types import StructType

__all__ = ["arrow_schema", "spark_schema"]


def arrow_schema(protocol: str, message: str | None = None) -> ArrowSchema:
    """Return the columns of one message's table, or of the wide one with a struct for each.

    Raises:
        WireSparkError: The protocol or the message is unknown.
    """
    package = package_of(protocol)
    if message is None:
        return wide_schema(package)
    if message not in package.messages:
        raise WireSparkError(
            f"there is no message {message!r}: the messages are {', '.join(package.messages)}"
        )
    return message_schema(package, message)


def spark_schema(protocol: str, message: str | None = None) -> StructType:
    """Return the same for Spark; docs are column comments."""
    from wirespark.spark_types import struct_type

    return struct_type(arrow_schema(protocol, message))
