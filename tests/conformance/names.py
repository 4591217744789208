"""Names of the makers of other vectors, and the names here: the one table between the two."""

from __future__ import annotations

import re
from typing import Final

CODES: Final[dict[str, str]] = {
    "truncated": "truncated",
    "bad_version": "invalid_enum",
    "bad_type": "unknown_code",
    "too_many_pairs": "limit_exceeded",
    "frame_too_large": "limit_exceeded",
    "inflate_error": "inflate_failed",
    "inflate_truncated": "inflate_failed",
    "inflate_trailing": "trailing_bytes",
    "inflate_limit": "limit_exceeded",
    "partial_inner": "partial_inner",
    "nested_depth": "too_deep",
    "bad_json": "invalid_value",
}
"""Kinds of errors that the codec finds; those of the session are the session's own names."""

RULES: Final = frozenset(
    "bad_version bad_type bad_json too_many_pairs frame_too_large inflate_limit nested_depth".split()
)
"""Kinds that are names of rules in the .wire file too: an error carries them."""

LIMITS: Final[dict[str, str]] = {
    "max_frame": "frame",
    "max_inflated": "inflated",
    "max_pairs": "count",
    "max_depth": "depth",
    "max_window": "window",
}

MESSAGES: Final[dict[str, str]] = {"W": "Window", "D": "Data", "J": "Json", "A": "Ack", "C": "Compressed"}

# ---- Geode, Reactive Streams, Pravega

ERRORS: Final[dict[str, str]] = {
    "bad_boolean": "invalid_value",
    "bad_connect_byte": "invalid_enum",
    "bad_modified_utf8": "invalid_text",
    "bad_response_type": "constraint",
    "bad_utf8": "invalid_text",
    "count_over_limit": "limit_exceeded",
    "element_before_subscribed": "missing_context",
    "key_type_not_allowed": "constraint",
    "negative_count": "invalid_value",
    "negative_size": "invalid_value",
    "trailing_bytes": "trailing_bytes",
    "trailing_bytes_in_value": "trailing_bytes",
    "truncated_in_frame": "truncated",
    "undelimitable_value": "unknown_code",
    "unknown_api": "invalid_enum",
    "unknown_message_type": "unknown_code",
    "unknown_metadata_key": "unknown_code",
    "varint_not_minimal": "not_canonical",
    "varint_overflow": "invalid_value",
}
"""The codec's findings in malformed bytes, by the makers' names; an error carries them as its rule."""

UNTIED: Final = frozenset({"trailing_bytes", "truncated_in_frame", "varint_not_minimal", "varint_overflow"})
"""Names that are not a rule of an error: the code says it all, or a type has two of them and can name only one."""

SIDES: Final[dict[str, str]] = {"c2s": "client", "s2c": "server", "c": "client", "s": "server"}

VALUES: Final[dict[str, str]] = {
    "int": "Integer",
    "long": "Long",
    "boolean": "Boolean",
    "byte": "Byte",
    "float": "Float",
    "date": "Date",
    "bytes": "Bytes",
    "bigint": "BigInteger",
    "intArray": "IntArray",
    "map": "HashMap",
    "pdx": "Pdx",
}
"""The typed wrappers of Geode's values; strings, nulls and opaque values say more than their wrapper."""

OURS: Final[dict[tuple[str, str], str]] = {
    ("PutAllRequest", "pairs"): "key_value_pairs",
    ("GetAllResponse", "pairs"): "key_value_pairs",
    ("AppendBlockEnd", "unused"): "request_id",  # version 7 left the place empty
    ("TableKey", "key_version"): "version",
    ("TableKey", "data"): "key",
    ("TableValue", "data"): "value",
    ("AttributeUpdate", "attribute_update_type"): "type",
}
"""Fields that their makers call otherwise, by message or struct; all else is our name in another case."""


def snake(name: str) -> str:
    """Return a camelCase name in our case."""
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name).lower()


def our_field(owner: str, name: str) -> str:
    """Return our name of a field of a message or struct."""
    return OURS.get((owner, snake(name)), snake(name))
