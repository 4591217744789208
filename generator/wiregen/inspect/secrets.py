"""Which fields are not for the eyes of whoever looks at a terminal."""

from collections.abc import Iterator
from typing import Any

__all__ = ["holds_secret", "may_hold_secret", "secret_names"]

_NAME, _SECRET, _FIELD_SIZE = 0, 8, 9


def secret_names(plan: dict[str, Any]) -> frozenset[str]:
    """Return the names of all `@secret` fields of a plan.

    A name that is secret in one declaration is hidden in all: the partial message of an error does not tell which it is of.
    """
    kinds = ("structs", "messages", "frames", "preambles", "unions", "variants")
    return frozenset(field[_NAME] for kind in kinds for field in _fields(plan[kind]) if field[_SECRET])


def holds_secret(node: Any, names: frozenset[str]) -> bool:
    """Tell whether a tree's node, or one below it, is of a secret field."""
    return bool(names) and any(below.name in names for below in node.walk())


def may_hold_secret(plan: dict[str, Any], message: str | None) -> bool:
    """Tell whether the bytes of a message can hold those of a secret field; of one that is not known, whether any can."""
    if message not in plan["messages"]:
        return bool(secret_names(plan))
    return _reaches_secret(plan, plan["messages"][message], set())


def _reaches_secret(plan: dict[str, Any], value: Any, seen: set[tuple[str, str]]) -> bool:
    if not isinstance(value, tuple):
        return False
    match value:
        case ("struct" | "union" as kind, str(name), *_) if (kind, name) not in seen:
            seen.add((kind, name))
            return _reaches_secret(plan, plan[f"{kind}s"].get(name), seen)
        case ("message_match" | "frame" | "message", *_):
            return bool(secret_names(plan))
    return any(field[_SECRET] for field in _fields(value)) or any(
        _reaches_secret(plan, part, seen) for part in value
    )


def _fields(value: Any) -> Iterator[tuple[Any, ...]]:
    """Return everything that has a field's form, at whatever depth."""
    if isinstance(value, dict):
        value = tuple(value.values())
    if not isinstance(value, tuple):
        return
    if len(value) == _FIELD_SIZE and isinstance(value[_NAME], str) and isinstance(value[_SECRET], bool):
        yield value
    for part in value:
        yield from _fields(part)
