"""Lazy views of fields: pairs as a dict, text as JSON."""

from __future__ import annotations

from .errors import DecodeError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

__all__ = ["dict_view", "json_view"]


def dict_view(pairs: list[Any], key: str = "key", value: str = "value") -> dict[Any, Any]:
    """Return pairs as a dict; of equal keys the last one stays. `key`, `value`: their attributes."""
    return {getattr(pair, key): getattr(pair, value) for pair in pairs}


def json_view(data: bytes | str | None, path: str, rule: str | None = None) -> Any:
    """Return the value of a JSON text, or None for an absent field.

    Raises:
        DecodeError: `invalid_value` with the field's `rule`: the text is not JSON, or is nested too deeply
            to be read.
    """
    if data is None:
        return None
    import json

    try:
        return json.loads(data, parse_constant=_refuse_constant)
    except (ValueError, RecursionError) as error:
        found = _not_json(error)
        raise DecodeError("invalid_value", rule=rule, path=path, expected="JSON", found=found) from None


def _not_json(error: ValueError | RecursionError) -> str:
    """Return the reason why a text is not JSON, with the position if it is known; lines and columns count from 1."""
    if isinstance(error, UnicodeDecodeError):
        return f"text that is not UTF-8 at byte {error.start}"
    if isinstance(error, RecursionError):
        return "JSON that is nested too deep"
    if hasattr(error, "lineno") and hasattr(error, "colno"):
        return f"text that is not JSON at line {error.lineno} column {error.colno}"
    return "a number that JSON does not have, or with too many digits"


def _refuse_constant(name: str) -> None:
    """Refuse NaN and the infinities, which Python reads and JSON does not have."""
    raise ValueError(name)
