"""Fields of a message and of its frame by their paths: what they hold, the same with others, and what numbers fit."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

from wiregen.runtime.schema.protocol import Schema
from wiregen.runtime.tree import FrameValue, Record

__all__ = ["fits", "is_measured", "type_at", "value_at", "with_values"]


def _holder(value: Any, name: str) -> Any:
    """Return what holds a field: the message, or else its frame."""
    if isinstance(value, FrameValue) and isinstance(value.message, Record) and name in value.message.fields:
        return value.message
    return value


def value_at(value: Any, path: tuple[str, ...]) -> Any:
    found = _holder(value, path[0]).fields.get(path[0])
    for name in path[1:]:
        found = None if found is None else found.fields.get(name)
    return found


def with_values(base: Any, paths: tuple[tuple[str, ...], ...], values: tuple[Any, ...]) -> Any:
    """Return a value with other fields."""
    if isinstance(base, FrameValue):
        message = Record(base.message.name, dict(base.message.fields))
        made: Any = FrameValue(base.name, dict(base.fields), message, body=base.body)
    else:
        made = Record(base.name, dict(base.fields))
    for path, value in zip(paths, values, strict=True):
        _set(_holder(made, path[0]).fields, path, value)
    return made


def _set(fields: dict[str, Any], path: tuple[str, ...], value: Any) -> None:
    if len(path) == 1:
        fields[path[0]] = value
    elif isinstance(fields.get(path[0]), Record):
        inner = fields[path[0]]
        fields[path[0]] = Record(inner.name, dict(inner.fields))
        _set(fields[path[0]].fields, path[1:], value)


def type_at(plan: Schema, type_: Any, path: tuple[str, ...]) -> Any:
    while type_[0] == "region":
        type_ = type_[1]
    if not path or type_[0] != "struct":
        return type_
    inner = next((field[2] for field in plan.structs[type_[1]] if field[0] == path[0]), type_)
    return type_at(plan, inner, path[1:])


def is_measured(type_: Any) -> bool:
    match type_:
        case ("bytes", ("computed", _)):
            return True
        case ("match", _, arms):
            return any(is_measured(arm) for _, arm in arms)
        case ("region", inner, *_):
            return is_measured(inner)
        case _:
            return False


@lru_cache(maxsize=1024)
def _bounds(type_: Any) -> tuple[int, int]:
    match type_:
        case ("int", size, is_signed, _):
            return (
                (-(2 ** (8 * size - 1)), 2 ** (8 * size - 1) - 1) if is_signed else (0, 2 ** (8 * size) - 1)
            )
        case ("bits", bits, *_):
            return 0, 2**bits - 1
        case ("varint", bits, is_zigzag, _):
            return (-(2 ** (bits - 1)), 2 ** (bits - 1) - 1) if is_zigzag else (0, 2**bits - 1)
        case _:
            return -(2**63), 2**64 - 1


def fits(type_: Any, number: int) -> bool:
    low, high = _bounds(type_)
    return low <= number <= high
