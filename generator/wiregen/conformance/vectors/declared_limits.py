"""Each limit of the codec at its edge: the smallest limit with which a frame is read, and one less."""

from __future__ import annotations

import copy
import re
from collections.abc import Callable, Iterator
from typing import Final

from wiregen.conformance.vectors.drafts import Draft, Drafting, message_of
from wiregen.conformance.vectors.value_places import bare, places
from wiregen.runtime.codec.errors import DecodeError, EncodeError
from wiregen.runtime.codec.options import Options
from wiregen.runtime.reference.tree import Node
from wiregen.runtime.reference.writing.frames import write_frame
from wiregen.runtime.schema.types import List
from wiregen.schema.copies import replace

__all__ = ["limited_drafts", "limited_lists"]

_INDEX: Final = re.compile(r"\[\d+\]")
_MOST_LISTS: Final = 100
"""Lists of one frame that are tested against the limit: structs with two fields of the next struct hold 2ⁿ of them."""
_CODES: Final = {
    "frame": "limit_exceeded",
    "count": "limit_exceeded",
    "messages": "limit_exceeded",
    "inflated": "limit_exceeded",
    "depth": "too_deep",
}
"""The limits that bound one frame, and the error codes beyond them."""


def limited_drafts(
    drafting: Drafting, draft: Draft, is_wanted: Callable[[str], bool]
) -> Iterator[tuple[str, Draft | None]]:
    """Yield a frame at the edge of each limit, and one beyond it, with their names, or None for a limit that
    the frame does not reach.
    """
    if draft.scene.limits:
        return
    for limit, code in _CODES.items():
        name = _name(draft, limit)
        if not is_wanted(name):
            continue
        least = _least(drafting, draft, limit, code)
        if least is None or least == 0:
            yield name, None
            continue
        for what, bound in ((name, least - 1), (f"{name}, not quite", least)):
            yield what, _within(drafting, draft, limit, bound)


def limited_lists(
    drafting: Drafting, draft: Draft, is_wanted: Callable[[str], bool]
) -> Iterator[tuple[str, Draft | None]]:
    """Yield a frame with each of its lists one longer than the limit, with the name, or None if another is longer."""
    if draft.scene.limits:
        return
    n_tried = 0
    for node in draft.trees[0].walk():
        items = node.value if isinstance(node.type, List) else None
        if not isinstance(items, list) or not items:
            continue
        variant = f"{draft.scene.variant}: " * bool(draft.scene.variant)
        name = f"{variant}{_declared(node)}: a list over a limit count"
        if not is_wanted(name):
            continue
        if n_tried == _MOST_LISTS:
            return
        n_tried += 1
        beyond = _within(drafting, _twice(drafting, draft, node), "count", 1) if node.inner else None
        beyond = beyond or _within(drafting, draft, "count", len(items) - 1)
        error = None if beyond is None else beyond.error
        is_this = error is not None and _INDEX.sub("", error.path) == _INDEX.sub("", node.path)
        yield name, beyond if is_this and error is not None and error.code == "limit_exceeded" else None


def _twice(drafting: Drafting, draft: Draft, node: Node) -> Draft:
    """Return a frame with two items in a list of scalars, so that this list is the longest one."""
    value = copy.deepcopy(draft.trees[0].value)
    for site, holder, key in places(value):
        if site == _declared(node) and isinstance(holder[key], list):
            holder[key] = [bare(item) for item in holder[key][:1] * 2]
            options = Options(draft.scene.role, context=draft.known, variant=draft.scene.variant)
            try:
                data = write_frame(drafting.schema, value, options, compression=0)
                return drafting.draft(draft.scene, data)
            except (EncodeError, DecodeError):
                return draft
    return draft


def _declared(node: Node) -> str:
    """Return the declared place of a list."""
    return _INDEX.sub("[]", node.path)


def _name(draft: Draft, limit: str) -> str:
    """Return the name of a limit at a message, or in a layout variant at a frame."""
    kind = "too deep" if limit == "depth" else f"over a limit {limit}"
    variant, value = draft.scene.variant, draft.trees[0].value
    return f"{variant}: {value.name}: {kind}" if variant else f"{message_of(draft)}: {kind}"


def _least(drafting: Drafting, draft: Draft, limit: str, code: str) -> int | None:
    """Return the smallest limit with which a frame is read, or None if the limit does not matter."""
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
    """Return a draft of the bytes within a limit, or None if the earlier frames exceed it."""
    try:
        return drafting.draft(replace(draft.scene, limits={limit: bound}), draft.data)
    except DecodeError:
        return None
