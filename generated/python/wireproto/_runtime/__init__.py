"""The runtime of generated packages: it needs only the standard library, and is copied unchanged into every
generated tree.
"""

from __future__ import annotations

from .codec.errors import DecodeError, EncodeError, NeedMoreData

__all__ = ["DecodeError", "EncodeError", "NeedMoreData"]
