"""The JSON in a field, next to the field."""

from __future__ import annotations

import json
import math

from ..reference.access import is_a
from ..reference.expressions import Value

__all__ = ["add_view", "is_shallow"]


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
    if is_shallow(view):
        found[key] = view


def _refuse(name: str) -> Value:
    raise ValueError(name)


def _finite(text: str) -> float:
    number = float(text)
    if not math.isfinite(number):
        raise ValueError("a float beyond all floats")
    return number


_DECODER = json.JSONDecoder(parse_constant=_refuse, parse_float=_finite)


def is_shallow(view: Value, most: int = _DEEPEST_VIEW - 1) -> bool:
    """Return whether the view, which a decoder of JSON returned, can be written as JSON safely."""
    if type(view) is not dict and type(view) is not list:
        return True
    for item in view.values() if type(view) is dict else view:
        if (type(item) is dict or type(item) is list) and not is_shallow(item, most - 1):
            return False
    return most > 0
