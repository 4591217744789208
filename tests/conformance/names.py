"""What the makers of other vectors call things, and what they are here: the one table between the two."""

from __future__ import annotations

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
