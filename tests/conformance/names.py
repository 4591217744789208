"""The error names of the independent vectors' makers, as this project's codes."""

from __future__ import annotations

from typing import Final

LUMBERJACK: Final = {
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
}

LUMBERJACK_LIMITS: Final = {
    "max_frame": "frame",
    "max_inflated": "inflated",
    "max_pairs": "count",
    "max_depth": "depth",
    "max_window": "window",
}
