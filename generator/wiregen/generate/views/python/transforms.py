"""Calls of the functions of compiled code for transformed bytes."""

from __future__ import annotations

from wiregen.schema import model as m
from wiregen.schema.walk import is_compression

__all__ = ["arguments_after"]


def arguments_after(carrier: m.Compressed) -> str:
    """Return the arguments after the bytes; compression has its budget in the state."""
    return f', "{carrier.algorithm}", state' if is_compression(carrier) else ""
