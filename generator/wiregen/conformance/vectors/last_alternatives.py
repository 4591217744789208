"""Each alternative as the last element of a frame, where later bytes do not reveal that it is read too far,
or not far enough.
"""

from __future__ import annotations

import copy
from collections.abc import Iterator
from typing import Final

from wiregen.conformance.vectors.drafts import Draft, Drafting
from wiregen.conformance.vectors.fault_kinds import Fields
from wiregen.conformance.vectors.frame_parts import parts_of
from wiregen.conformance.vectors.value_places import places
from wiregen.runtime.codec.errors import DecodeError, EncodeError
from wiregen.runtime.codec.options import Options
from wiregen.runtime.reference.tree import Node, Variety
from wiregen.runtime.reference.writing.frames import write_frame
from wiregen.runtime.schema.types import UnionReference

__all__ = ["moved_drafts"]

_LONGEST: Final = 200
_PLACES: Final = 3
"""Frames in which an alternative is tried."""


def moved_drafts(drafting: Drafting, frames: list[Draft]) -> Iterator[Draft]:
    """Yield a frame that ends with each alternative that is not yet last in a frame."""
    short = [draft for draft in frames if len(draft.trees) == 1 and len(draft.data) <= _LONGEST]
    ends = [(draft, site, union) for draft in short for site, union in _ends(draft)]
    for value in _elsewhere(frames):
        targets = [(draft, site) for draft, site, union in ends if union == value.union]
        for draft, site in targets[:_PLACES]:
            found = _with(drafting, draft, site, value)
            if found is not None:
                yield found.showing((f"{value.union}.{value.name} at the end of {site}",))
                break
    yield from _endless(drafting, frames, ends)


def _endless(drafting: Drafting, frames: list[Draft], ends: list[tuple[Draft, str, str]]) -> Iterator[Draft]:
    """Yield the alternatives that extend to the end of their region, in each place where a frame may end:
    only there does the end matter.
    """
    fields = Fields(drafting.schema)
    unions = {union for _, _, union in ends}
    codes = {union: frozenset(fields.endless(union)) for union in unions}
    values = {
        value.union: value
        for value in _varieties(frames)
        if value.union in unions and value.code in codes[value.union]
    }
    shown: set[str] = set()
    for draft, site, union in ends:
        if union in values and site not in shown:
            shown.add(site)
            found = _with(drafting, draft, site, values[union])
            if found is not None:
                yield found.showing((f"{union}.{values[union].name} as the last of {site}",))


def _varieties(frames: list[Draft]) -> Iterator[Variety]:
    for draft in frames:
        for tree in draft.trees:
            for _, holder, key in places(tree.value):
                if isinstance(holder[key], Variety):
                    yield holder[key]


def _ends(draft: Draft) -> Iterator[tuple[str, str]]:
    """Yield the places where an alternative is the last element of a frame."""
    for part in parts_of(draft.trees[0]):
        node, type_ = part.node, part.node.type
        if isinstance(type_, UnionReference) and node.end == draft.trees[0].end and not draft.scene.variant:
            yield part.site, type_.name


def _elsewhere(frames: list[Draft]) -> Iterator[Variety]:
    """Yield the largest value of each alternative that is not the last element of any frame."""
    plain: set[tuple[str, str]] = set()
    found: dict[tuple[str, str], Variety] = {}
    for draft in frames:
        for tree in draft.trees:
            plain |= {(each.union, each.name) for each in _last(tree)}
            for _, holder, key in places(tree.value):
                value = holder[key]
                if isinstance(value, Variety) and len(str(value)) > len(
                    str(found.get((value.union, value.name), ""))
                ):
                    found[value.union, value.name] = value
    yield from (value for name, value in found.items() if name not in plain and len(str(value)) < 1000)


def _last(tree: Node) -> Iterator[Variety]:
    for node in tree.walk():
        if isinstance(node.value, Variety) and not node.inner and node.end == tree.end:
            yield node.value


def _with(drafting: Drafting, draft: Draft, site: str, value: Variety) -> Draft | None:
    frame = copy.deepcopy(draft.trees[0].value)
    for place, holder, key in places(frame):
        if place == site and isinstance(holder[key], Variety):
            holder[key] = copy.deepcopy(value)
            break
    options = Options(draft.scene.role, context=draft.known, variant=draft.scene.variant)
    try:
        data = write_frame(drafting.schema, frame, options, compression=0)
        found = drafting.draft(draft.scene, data)
    except (DecodeError, EncodeError):
        return None
    return found.as_variation() if found.is_whole and len(found.trees) == 1 else None
