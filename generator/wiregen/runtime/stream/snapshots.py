"""Keys and entries of a context as JSON data."""

from __future__ import annotations

from typing import Any, TypeAlias
from uuid import UUID

__all__ = ["Key", "plain", "value_of"]

Key: TypeAlias = tuple[Any, ...]


def plain(value: object) -> object:
    match value:
        case bool() | None | str():
            return value
        case int():
            return int(value)
        case UUID():
            return {"uuid": str(value)}
        case bytes():
            return {"hex": value.hex()}
        case _:
            raise ValueError(f"a context cannot hold a {type(value).__name__}")


def value_of(value: object) -> object:
    match value:
        case {"uuid": str(text)}:
            return UUID(text)
        case {"hex": str(text)}:
            return bytes.fromhex(text)
        case dict() | list():
            raise ValueError("not a snapshot of this protocol's contexts")
        case _:
            return value
