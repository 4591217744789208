"""Keys and entries of a context as JSON data."""

from __future__ import annotations

from math import isfinite
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
        case float():
            return float(value) if isfinite(value) else {"float": str(float(value))}
        case list():
            return {"list": [plain(each) for each in value]}
        case UUID():
            return {"uuid": str(value)}
        case bytes():
            return {"hex": value.hex()}
        case _:
            raise ValueError(f"a context cannot hold a {type(value).__name__}")


def value_of(value: object) -> object:
    match value:
        case {"float": "nan" | "inf" | "-inf" as text}:
            return float(text)
        case {"list": [*items]}:
            return [value_of(each) for each in items]
        case {"uuid": str(text)}:
            return UUID(text)
        case {"hex": str(text)}:
            return bytes.fromhex(text)
        case dict() | list():
            raise ValueError("not a snapshot of this protocol's contexts")
        case _:
            return value
