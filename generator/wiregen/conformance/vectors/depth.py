"""Declarations inside themselves: as deep as the limit allows, and one level deeper."""

from __future__ import annotations

import copy
from collections.abc import Iterator

from wiregen.conformance.vectors.drafts import Draft, Drafting
from wiregen.conformance.vectors.format import Unwritable
from wiregen.conformance.vectors.refused_values import refused
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
    for draft in frames:
        value = copy.deepcopy(draft.trees[0].value)
        for kind, slot in _slots(value, ()):
            name = slot.name(kind)
            if name in shown:
                continue
            beside = copy.deepcopy(value)
            made = list(_grown(drafting, draft, value, slot, name))
            if not made:
                continue
            shown.add(name)
            if len(shown) > 1:  # only the first has its spans: they are many
                made = [each.as_variation() if isinstance(each, Draft) else each for each in made]
            yield from (*made, *_wide(drafting, draft, beside, name))


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
    added = _nesting(slot.around) - _nesting(core)
    for level in range(1, _MOST):
        slot.put(core)
        try:
            core = copy.deepcopy(slot.around)
        except RecursionError:
            return
        slot.put(core)
        if level > 1 and (level + 1) * added < most:
            continue
        found = _read(drafting, draft, value)
        if found is None:
            return
        if found.error is not None:
            if found.error.code == "too_deep":
                yield found.as_variation().showing((f"{name} in itself: {level} levels",))
                yield from refused(drafting, draft, value, f"{name} in itself: {level} levels")
                yield last.showing((f"{name} in itself: {level - 1} levels",))
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
