"""Each limit of the codec at its edge: the least with which a frame is read, and one less."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import replace
from typing import Final

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


def limited_drafts(drafting: Drafting, draft: Draft, known: Collection[str]) -> Iterator[tuple[str, Draft]]:
    """Return a frame at the edge of each limit that it comes near, and one beyond; with what that shows."""
    if draft.scene.limits or any(len(sent) > len(draft.data) for _, sent in draft.scene.before):
        return
    for limit, code in _CODES.items():
        name = f"{message_of(draft)}: over a limit {limit}" if limit == "frame" else _name(draft, limit)
        if name in known:
            continue
        least = _least(drafting, draft, limit, code)
        if least is not None and least > 0:
            yield name, _within(drafting, draft, limit, least - 1)
            yield name.replace("over a limit", "at the limit"), _within(drafting, draft, limit, least)


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
    error = _within(drafting, draft, limit, high - 1).error
    return high if error is not None and error.code == code else None


def _is_read(drafting: Drafting, draft: Draft, limit: str, bound: int) -> bool:
    return _within(drafting, draft, limit, bound).is_whole


def _within(drafting: Drafting, draft: Draft, limit: str, bound: int) -> Draft:
    return drafting.draft(replace(draft.scene, limits={limit: bound}), draft.data)
