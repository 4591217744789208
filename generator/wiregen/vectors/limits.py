"""Each limit of the codec at its edge: the least with which a frame is read, and one less."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Final

from wiregen.runtime.errors import DecodeError
from wiregen.vectors.drafts import Draft, Drafting, message_of

__all__ = ["limited_drafts"]

_CODES: Final = {
    "frame": "limit_exceeded",
    "count": "limit_exceeded",
    "messages": "limit_exceeded",
    "inflated": "limit_exceeded",
    "depth": "too_deep",
}
"""The limits that bound one frame, and what is reported beyond them."""


def limited_drafts(
    drafting: Drafting, draft: Draft, is_wanted: Callable[[str], bool]
) -> Iterator[tuple[str, Draft | None]]:
    """Return a frame at the edge of each limit that it comes near, and one beyond; with what that shows; None: it comes near to none."""
    if draft.scene.limits:
        return
    for limit, code in _CODES.items():
        name = f"{message_of(draft)}: over a limit {limit}" if limit == "frame" else _name(draft, limit)
        if not is_wanted(name):
            continue
        least = _least(drafting, draft, limit, code)
        if least is None or least == 0:
            yield name, None
            continue
        for what, bound in ((name, least - 1), (f"{name}, not quite", least)):
            yield what, _within(drafting, draft, limit, bound)


def _name(draft: Draft, limit: str) -> str:
    kind = "too deep" if limit == "depth" else f"over a limit {limit}"
    return f"{message_of(draft)}: {kind}"


def _least(drafting: Drafting, draft: Draft, limit: str, code: str) -> int | None:
    """Return the smallest limit with which a frame is read; None where it does not matter."""
    low, high = -1, 1
    if limit == "frame":
        low, high = 0, len(draft.data)
    while not _is_read(drafting, draft, limit, high):
        if high > 1 << 20:
            return None
        low, high = high, high * 2
    if limit != "frame" and _is_read(drafting, draft, limit, 0):
        return None
    low = max(low, 0)
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if _is_read(drafting, draft, limit, middle) else (middle, high)
    beyond = _within(drafting, draft, limit, high - 1)
    error = None if beyond is None else beyond.error
    return high if error is not None and error.code == code else None


def _is_read(drafting: Drafting, draft: Draft, limit: str, bound: int) -> bool:
    limited = _within(drafting, draft, limit, bound)
    return limited is not None and limited.is_whole


def _within(drafting: Drafting, draft: Draft, limit: str, bound: int) -> Draft | None:
    """Return what the bytes come to within a limit; None where what was said before does not keep to it."""
    try:
        return drafting.draft(replace(draft.scene, limits={limit: bound}), draft.data)
    except DecodeError:
        return None
