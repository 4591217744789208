"""Lists that are too long are made of short ones, for their items are all the same: making so many one by one takes a second."""

from __future__ import annotations

from typing import Any, Final

from .mistakes import parts

__all__ = ["with_long_lists", "with_short_lists"]

_LONG: Final = 1 << 16
_STANDS_FOR_LONG: Final = 41


def with_short_lists(value: Any, long: list[int]) -> Any:
    """Return a part of a line with its long lists short, and add how long they are."""
    match value:
        case {"*": [[[item], int(count)]]} if count >= _LONG:
            long.append(count)
            return {"*": [[[item], _STANDS_FOR_LONG]]}
        case dict() if "*" not in value:
            return {key: with_short_lists(part, long) for key, part in value.items()}
        case list() | tuple():
            return [with_short_lists(part, long) for part in value]
        case _:
            return value


def with_long_lists(value: Any, long: list[int]) -> Any:
    """Return a value whose short lists are as long as they were."""
    for _, _, part in list(parts(value, ())) if long else ():
        if isinstance(part, list) and len(part) == _STANDS_FOR_LONG and long:
            part[:] = part[:1] * long.pop(0)
    assert not long
    return value
