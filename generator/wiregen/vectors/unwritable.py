"""What an encoder refuses: one beyond what each type can say, and values that break a condition."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from typing import Any, Final

from wiregen.runtime.errors import EncodeError
from wiregen.runtime.options import Options, Plan
from wiregen.runtime.records import frame_from_record, frame_record
from wiregen.runtime.text import encode_text
from wiregen.runtime.tree import FrameValue, Record, Variety
from wiregen.runtime.writing import write_frame
from wiregen.specimens import Soil
from wiregen.specimens.soil import bounds, every_field, rows_of
from wiregen.vectors.bench import Scene
from wiregen.vectors.drafts import Draft, Drafting
from wiregen.vectors.format import Unwritable

__all__ = ["refused_values"]

_LONGEST: Final = 65536
"""The longest text or bytes that is made to be too long for its prefix."""


def refused_values(drafting: Drafting, soil: Soil, frames: list[Draft]) -> Iterator[Unwritable]:
    """Return frames of which one field says more than its type can."""
    types = _types(soil.plan)
    shown: set[str] = set()
    for draft in frames:
        if len(draft.data) > 3000 or len(draft.trees) != 1:
            continue
        value = copy.deepcopy(draft.trees[0].value)
        for site, holder, name in _fields(value):
            for what, beyond in _beyond(soil, types.get(site), holder[name]):
                covers = f"{site} {what}"
                if covers in shown:
                    continue
                before, holder[name] = holder[name], beyond
                vector = _refused(drafting, draft, value, covers)
                holder[name] = before
                if vector is not None:
                    shown.add(covers)
                    yield vector


def _types(plan: Plan) -> dict[str, Any]:
    return {
        f"{owner}.{field[0]}": field[2] for owner, fields in rows_of(plan) for field in every_field(fields)
    }


def _fields(value: Any) -> Iterator[tuple[str, Any, str]]:
    """Return every field below a value: its site, what holds it, its name there."""
    match value:
        case list():
            for item in value[:2]:
                yield from _fields(item)
            return
        case Variety():
            owner = f"{value.union}.{value.name}"
        case Record() | FrameValue():
            owner = value.name
        case _:
            return
    for name, part in list(value.fields.items()):
        yield f"{owner}.{name}", value.fields, name
        yield from _fields(part)
    if isinstance(value, FrameValue):
        yield from _fields(value.message)


def _beyond(soil: Soil, type_: Any, value: Any) -> Iterator[tuple[str, Any]]:
    """Return what is one beyond a type."""
    match type_:
        case ("int", *_) | ("bits", _, False, _) if isinstance(value, int):
            low, high = bounds(type_)
            yield from (("one above the largest", high + 1), ("one below the smallest", low - 1))
        case ("varint", bits, zigzag, _) if isinstance(value, int):
            low, high = (-(1 << bits - 1), (1 << bits - 1) - 1) if zigzag else (0, (1 << bits) - 1)
            yield from (("one above the largest", high + 1), ("one below the smallest", low - 1))
        case ("enum", name, *_) if isinstance(value, int):
            yield from _beyond_members(soil.plan["enums"][name])
        case ("text", encoding, length, *_) if isinstance(value, str):
            yield from _beyond_text(soil, encoding, length)
        case ("bytes", length) if isinstance(value, bytes):
            most = soil.most_said(length)
            if most is not None and most < _LONGEST:
                yield "one byte too long", b"\x5a" * (most + 1)


def _beyond_members(enum: Any) -> Iterator[tuple[str, Any]]:
    base, is_open, members = enum
    if is_open and base[0] == "int":
        low, high = bounds(base)
        yield from (("one above the largest", high + 1), ("one below the smallest", low - 1))
    elif not is_open:
        known = {number for number, _ in members}
        yield "no member", next(number for number in range(max(known) + 2) if number not in known)


def _beyond_text(soil: Soil, encoding: str, length: Any) -> Iterator[tuple[str, Any]]:
    most = soil.most_said(length)
    if most is not None and most < _LONGEST:
        yield "one unit too long", "w" * (most + 1)
    for what, text in (("beyond ASCII", "\x80"), ("beyond Latin-1", "Ā"), ("a lone surrogate", "\ud800")):
        try:
            encode_text(text, encoding)
        except UnicodeEncodeError:
            yield what, text
            return


def _refused(drafting: Drafting, draft: Draft, value: Any, covers: str) -> Unwritable | None:
    """Return the vector of a value that is refused, as its line says it and as the careful codec takes that."""
    scene = draft.scene
    record = _recorded(drafting, value, scene)
    if record is None:
        return None
    options = Options(scene.role, context=draft.known, variant=scene.variant)
    try:
        again = frame_from_record(drafting.plan, record, role=scene.role, variant=scene.variant)
        write_frame(drafting.plan, again, options)
    except EncodeError as error:
        return drafting.unwritable(scene, record, error, (covers,))
    return None


def _recorded(drafting: Drafting, value: Any, scene: Scene) -> dict[str, Any] | None:
    try:
        return frame_record(drafting.plan, value, variant=scene.variant)
    except EncodeError:
        return None
