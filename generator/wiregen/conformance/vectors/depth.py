"""Declarations inside themselves: as deep as the limit allows, and one level deeper.

Code counts a level where a declaration is read and where one is written, so each alternative that holds others is also put
at the deepest place.
"""

from __future__ import annotations

import copy
from collections.abc import Iterator

from wiregen.conformance.vectors.drafts import Draft, Drafting
from wiregen.conformance.vectors.format import Unwritable
from wiregen.conformance.vectors.refused_values import refused
from wiregen.conformance.vectors.value_places import bare, places
from wiregen.runtime.codec.errors import DecodeError, EncodeError
from wiregen.runtime.codec.options import Options
from wiregen.runtime.reference.expressions import Value
from wiregen.runtime.reference.tree import FrameValue, Record, Variety
from wiregen.runtime.reference.writing.frames import write_frame
from wiregen.schema.copies import replace

__all__ = ["deep_drafts"]

_MOST = 70
"""Copies that are tried, and the depth to which drafts may nest: a copy may add several levels to the limit's 32."""


def deep_drafts(drafting: Drafting, frames: list[Draft]) -> Iterator[Draft | Unwritable]:
    """Yield, for each declaration that can hold itself, the deepest value that is allowed, one that is too
    deep, and a wide one.
    """
    shown: set[str] = set()
    single: dict[str, tuple[Draft, str]] = {}
    for draft in frames:
        for kind, name in [(kind, slot.name(kind)) for kind, slot in _slots(draft.trees[0].value, ())]:
            if name in shown:
                continue
            value = copy.deepcopy(draft.trees[0].value)
            slot = _named(value, name)
            is_single = _nesting(slot.around) == _nesting(slot.value) + 1
            made = list(_grown(drafting, draft, value, slot, f"{name} in itself"))
            if not made:
                continue
            shown.add(name)
            if is_single:
                single.setdefault(kind, (draft, name))
            if len(shown) > 1:  # only the first has its spans: they are many
                made = [each.as_variation() if isinstance(each, Draft) else each for each in made]
            yield from (*made, *_wide(drafting, draft, copy.deepcopy(draft.trees[0].value), name))
    for value in _holders(frames, frozenset(single)):
        yield from _lowest(drafting, *single[value.union], value)


def _holders(frames: list[Draft], unions: frozenset[str]) -> Iterator[Variety]:
    """Yield the smallest value of each alternative that holds other declarations, for each depth of these."""
    found: dict[tuple[str, str, int], Variety] = {}
    for draft in frames:
        for _, holder, key in places(draft.trees[0].value):
            value = holder[key]
            if not isinstance(value, Variety) or value.union not in unions:
                continue
            for each in (value, bare(value)):
                assert isinstance(each, Variety)
                kind = (each.union, each.name, _nesting(each))
                if kind not in found or _n_declared(each) < _n_declared(found[kind]):
                    found[kind] = each
    yield from (value for (_, _, n_levels), value in found.items() if n_levels > 1)


def _lowest(drafting: Drafting, draft: Draft, name: str, holder: Variety) -> Iterator[Draft | Unwritable]:
    """Put an alternative at the lowest level where all that it holds is allowed, and one level lower."""
    value = copy.deepcopy(draft.trees[0].value)
    slot = _named(value, name)
    if isinstance(slot.holder, list):
        slot.holder[:], slot.key = [slot.value], 0
    slot.put(copy.deepcopy(holder))
    what = f"{holder.union}.{holder.name} of {_nesting(holder)} levels in {name}"
    for each in _grown(drafting, draft, value, slot, what):
        yield each.as_variation() if isinstance(each, Draft) else each


class _Slot:
    """A place in a value that holds a declaration of the same kind as an enclosing one."""

    def __init__(self, around: object, holder: Value, key: object) -> None:
        self.around = around
        self.holder = holder
        self.key = key

    def name(self, kind: str) -> str:
        """Return the name of the slot: its alternative, and its field if the slot is a field of that
        alternative or of a record.
        """
        own = f"{kind}.{self.around.name}" if isinstance(self.around, Variety) else kind
        return f"{own}, {self.key}" if isinstance(self.key, str) else own

    def put(self, value: Value) -> None:
        if self.key is None:
            self.holder.message = value
        else:
            self.holder[self.key] = value

    @property
    def value(self) -> Value:
        return self.holder.message if self.key is None else self.holder[self.key]


def _grown(
    drafting: Drafting, draft: Draft, value: object, slot: _Slot, name: str
) -> Iterator[Draft | Unwritable]:
    """Put the enclosing value into the slot of its own copy, repeatedly, until it is too deep."""
    last: Draft = draft
    core, most = slot.value, drafting.schema.limits["depth"]
    n_inside = _nesting(core)
    added = _nesting(slot.around) - n_inside
    for level in range(1, _MOST):
        slot.put(core)
        try:
            core = copy.deepcopy(slot.around)
        except RecursionError:
            return
        slot.put(core)
        if level > 1 and (level + 2) * added + n_inside < most:
            continue
        found = _read(drafting, draft, value)
        if found is None:
            return
        if found.error is not None:
            if found.error.code == "too_deep":
                yield found.as_variation().showing((f"{name}: {level} levels",))
                yield from refused(drafting, draft, value, f"{name}: {level} levels")
                yield last.showing((f"{name}: {level - 1} levels",))
            return
        last = found


def _wide(drafting: Drafting, draft: Draft, value: object, name: str) -> Iterator[Draft]:
    """Yield values with more declarations side by side than may be nested."""
    for kind, slot in _slots(value, ()):
        around = slot.around
        if name != slot.name(kind) or not isinstance(around, Record | Variety | FrameValue):
            continue
        fields = getattr(around.message, "fields", {}) if isinstance(around, FrameValue) else around.fields
        for items in list[Value](fields.values()):
            own = (
                next((item for item in items if _holds(item, slot)), None)
                if isinstance(items, list)
                else None
            )
            if own is None:
                continue
            items[:] = []
            item = copy.deepcopy(around)
            if slot.holder is not items:
                slot.put(item)
                item = own
            items[:] = [copy.deepcopy(item) for _ in range(drafting.schema.limits["depth"] + 2)]
            found = _read(drafting, draft, value)
            if found is not None and found.is_whole:
                yield found.as_variation().showing((f"{name} beside itself",))
            return


def _nesting(value: object) -> int:
    """Return the depth of nested declarations in a value."""
    deepest, waiting = 0, [(value, 1)]
    while waiting:
        part, depth = waiting.pop()
        if isinstance(part, list):
            waiting += ((each, depth) for each in part)
        elif isinstance(part, FrameValue | Record | Variety):
            deepest = max(deepest, depth)
            inner = (part.message,) if isinstance(part, FrameValue) else part.fields.values()
            waiting += ((each, depth + 1) for each in inner)
    return deepest


def _n_declared(value: object) -> int:
    """Return the number of declarations in a value."""
    match value:
        case list():
            return sum(map(_n_declared, value))
        case Record() | Variety():
            return 1 + sum(map(_n_declared, value.fields.values()))
        case _:
            return 0


def _holds(item: object, slot: _Slot) -> bool:
    return item is slot.value or item is slot.holder or getattr(item, "fields", None) is slot.holder


def _read(drafting: Drafting, draft: Draft, value: object) -> Draft | None:
    """Return the draft of a value that may be too deep to be encoded."""
    scene = draft.scene
    loose = replace(drafting.schema, limits={**drafting.schema.limits, "depth": _MOST + 1})
    options = Options(scene.role, context=draft.known, variant=scene.variant)
    try:
        return drafting.draft(scene, write_frame(loose, value, options, compression=0, needs_context=False))
    except (EncodeError, DecodeError):
        return None


def _named(value: object, name: str) -> _Slot:
    """Return the first slot of that name, which there is."""
    return next(slot for kind, slot in _slots(value, ()) if slot.name(kind) == name)


def _slots(value: object, around: tuple[object, ...]) -> Iterator[tuple[str, _Slot]]:
    match value:
        case FrameValue():
            yield from _inside(value, value, None, around, value.message)
        case Record() | Variety():
            for key, part in value.fields.items():
                yield from _inside(value, value.fields, key, around, part)
        case list():
            for index, part in enumerate(value):
                yield from _inside(None, value, index, around, part)


def _inside(
    owner: object, holder: object, key: object, around: tuple[object, ...], part: object
) -> Iterator[tuple[str, _Slot]]:
    outer = around if owner is None else (*around, owner)
    kind = _kind(part)
    same = next((each for each in outer if kind and _kind(each) == kind), None)
    if same is not None:
        yield kind, _Slot(same, holder, key)
    yield from _slots(part, outer)


def _kind(value: object) -> str:
    match value:
        case Variety():
            return value.union
        case FrameValue() | Record():
            return value.name
        case _:
            return ""
