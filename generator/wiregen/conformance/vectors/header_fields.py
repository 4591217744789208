"""Headers with every message: code may read or write a message together with its header, and must be right each time."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from typing import Final

from wiregen.conformance.vectors.drafts import Draft, Drafting, message_of
from wiregen.runtime.codec.errors import DecodeError, EncodeError
from wiregen.runtime.codec.options import Options
from wiregen.runtime.reference.expressions import Value
from wiregen.runtime.reference.tree import FrameValue
from wiregen.runtime.reference.writing.frames import write_frame

__all__ = ["headed_drafts"]

_LONGEST: Final = 300
_MOST: Final = 12
"""Values of a field that are put before each message; numbers that only count up are treated as equal."""


def headed_drafts(drafting: Drafting, frames: list[Draft]) -> Iterator[Draft]:
    """Yield each message with the header values of other messages, one field at a time."""
    plain = [draft for draft in frames if _is_plain(draft)]
    seen = _seen(plain)
    shown: set[str] = set()
    for draft in plain:
        value = draft.trees[0].value
        for field, own in value.header.items():
            for what, other in seen[value.name, field].items():
                name = f"{_place(draft)}.{field}: {what}"
                if what == _said(own):
                    shown.add(name)
                elif name not in shown:
                    shown.add(name)
                    yield from _headed(drafting, draft, field, other, name)


def _is_plain(draft: Draft) -> bool:
    return (
        len(draft.trees) == 1 and len(draft.data) <= _LONGEST and isinstance(draft.trees[0].value, FrameValue)
    )


def _place(draft: Draft) -> str:
    variant = f"{draft.scene.variant}: " * bool(draft.scene.variant)
    return f"{variant}{message_of(draft)} in {draft.trees[0].value.name}"


def _seen(frames: list[Draft]) -> dict[tuple[str, str], dict[str, Value]]:
    """Return the values of each field of headers in all frames."""
    found: dict[tuple[str, str], dict[str, Value]] = {}
    for draft in frames:
        for field, value in draft.trees[0].value.header.items():
            known = found.setdefault((draft.trees[0].value.name, field), {})
            if len(known) < _MOST:
                known.setdefault(_said(value), value)
    return found


def _said(value: object) -> str:
    return str(value)[:40]


def _headed(drafting: Drafting, draft: Draft, field: str, other: object, name: str) -> Iterator[Draft]:
    value = copy.deepcopy(draft.trees[0].value)
    value.fields[field] = copy.deepcopy(other)
    options = Options(draft.scene.role, context=draft.known, variant=draft.scene.variant)
    try:
        data = write_frame(drafting.schema, value, options, compression=0)
        found = drafting.draft(draft.scene, data)
    except (DecodeError, EncodeError):
        return
    if found.is_whole and len(found.trees) == 1 and found.trees[0].value == value:
        yield found.as_variation().showing((name,))
