"""What generated packages stand on: the standard library and nothing else; copied as it is into every generated tree."""

from __future__ import annotations

from .codec.errors import DecodeError, EncodeError, NeedMoreData, SessionError

__all__ = ["DecodeError", "EncodeError", "NeedMoreData", "SessionError"]
