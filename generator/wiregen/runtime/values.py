"""What every generated class shares: how it shows itself, and its lazy views."""

from __future__ import annotations

from .errors import DecodeError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Final

__all__ = ["Generic", "check_limits", "check_role", "dict_view", "distinct", "json_view", "show"]

_SHOWN: Final = 64
"""Characters of a value that `repr` shows."""


class Generic:
    """Stands for typing's, which takes milliseconds to import."""

    __slots__ = ()

    def __class_getitem__(cls, item: object) -> type:
        return cls


def show(value: object) -> str:
    """Return the repr of a value, cut where it is long; bytes, text and lists are cut before they are spelled out."""
    if isinstance(value, bytes | str) and len(value) > _SHOWN:
        return f"{value[:_SHOWN]!r}… ({len(value)})"
    if isinstance(value, list) and len(value) > 3:
        return f"[{', '.join(show(item) for item in value[:3])}, … ({len(value)})]"
    if isinstance(value, list):
        return f"[{', '.join(show(item) for item in value)}]"
    try:
        text = repr(value)
    except RecursionError:
        return "…"
    return text if len(text) <= 16 * _SHOWN else f"{text[: 16 * _SHOWN]}…"


def dict_view(pairs: list[Any], key: str = "key", value: str = "value") -> dict[Any, Any]:
    """Return pairs as a dict; of equal keys the last one stays. `key`, `value`: their attributes."""
    return {getattr(pair, key): getattr(pair, value) for pair in pairs}


def distinct(items: list[Any]) -> bool:
    """Say whether all items differ; of varieties, whether their codes do."""
    return len({_identity(item) for item in items}) == len(items)


def _identity(item: Any) -> Any:
    """Return what tells an item from others. Two varieties of one code are the same key, whatever they say."""
    if isinstance(item, list | tuple):
        return tuple(map(_identity, item))
    kind = type(item)
    slots = getattr(kind, "__match_args__", None)
    if slots is None:
        return item
    if "." in kind.__qualname__:  # a variety stands inside its union, everything else by itself
        return (kind, item.code)
    return (kind, tuple(_identity(getattr(item, name)) for name in slots))


def json_view(data: bytes | str | None, path: str) -> Any:
    """Return the value of a JSON text; None of what is absent.

    Raises:
        DecodeError: `invalid_value`, it is not JSON, or nested too deep to be read.
    """
    if data is None:
        return None
    import json

    try:
        return json.loads(data)
    except (ValueError, RecursionError) as error:
        raise DecodeError("invalid_value", path=path, expected="JSON", found=type(error).__name__) from None


def check_role(role: str | None, roles: tuple[str, ...]) -> None:
    """Refuse a role that the protocol does not have.

    Raises:
        ValueError: It names the roles that there are.
    """
    if role is not None and role not in roles:
        raise ValueError(f"there is no role {show(role)}, only {' and '.join(roles)}")


def check_limits(limits: dict[str, Any], times: tuple[str, ...] = ()) -> None:
    """Refuse bounds that nothing could keep to. `times`: those in milliseconds.

    Raises:
        ValueError: One is no integer from 0 on (nor None).
    """
    for name, limit in limits.items():
        if limit is not None and (type(limit) is not int or limit < 0):
            what = "an integer of milliseconds" if name in times else "an integer"
            raise ValueError(f"the limit {name} is {what} from 0 on, not {show(limit)}")
