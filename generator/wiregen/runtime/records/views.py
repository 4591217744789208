"""The JSON in a field, next to the field."""

from __future__ import annotations

import json
import math

from ..reference.access import is_a
from ..reference.expressions import Value

__all__ = ["add_view"]


_DEEPEST_VIEW = 64


def add_view(found: dict[str, Value], name: str, value: Value) -> None:
    """Add the JSON in a field next to it, unless the text is not JSON or nested too deep."""
    key = f"{name}_json"
    if key in found:
        return
    try:
        text = value if is_a(value, str) else bytes(value).decode()
        view = _DECODER.decode(text)
    except (ValueError, RecursionError):
        return
    if _is_shallow(view):
        found[key] = view


def _refuse(name: str) -> Value:
    raise ValueError(name)


def _finite(text: str) -> float:
    number = float(text)
    if not math.isfinite(number):
        raise ValueError("a float beyond all floats")
    return number


_DECODER = json.JSONDecoder(parse_constant=_refuse, parse_float=_finite)


def _is_shallow(view: Value) -> bool:
    """Return whether the view can be written as JSON safely."""
    level = [view]
    for _ in range(_DEEPEST_VIEW):
        containers = [item for item in level if isinstance(item, dict | list)]
        if not containers:
            return True
        level = [part for item in containers for part in (item.values() if isinstance(item, dict) else item)]
    return False
