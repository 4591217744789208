"""Each message with nothing in it that need not be there: empty texts, many of the smallest items, and an empty field at its very end.

What a decoder works out ahead, such as how many items at most there is room for, and what it asks at the end of a body, whether there is
another field, is only wrong where fields are as small as may be.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from wiregen.conformance.samples import Choices, SampleBasis, SampleValue, grow
from wiregen.conformance.samples.basis import every_field, rows_of
from wiregen.conformance.samples.choices import UngrownError
from wiregen.conformance.vectors.drafts import Draft, Drafting, message_of
from wiregen.conformance.vectors.preceding_frames import Known, Scenery
from wiregen.conformance.vectors.reference_verdicts import Scene
from wiregen.runtime.codec.errors import DecodeError, EncodeError
from wiregen.runtime.codec.options import Options
from wiregen.runtime.reference.tree import Record
from wiregen.runtime.reference.writing.frames import write_frame
from wiregen.runtime.schema.declarations import Field, Trailing
from wiregen.runtime.schema.types import Bytes, List, Prefix, Text, Type

__all__ = ["least_drafts"]

_MANY: Final = 40
"""Items, so that one byte too many for each is more than all that may follow them."""
_LONGEST: Final = 2000


def least_drafts(drafting: Drafting, scenery: Scenery) -> Iterator[Draft]:
    """Return each message that has a list or a text that may be absent, as small as it can be."""
    soil = scenery.soil
    plan = soil.plan
    for name, declared in plan.messages.items():
        rows = tuple(every_field(declared.fields))
        has_list = any(isinstance(field.type, List) and _is_prefixed(field.type) for field in rows)
        if not (has_list or _ends(rows)) or declared.code is None:
            continue
        role = declared.role or next(iter(plan.sends), None)
        demands = {**_emptied(soil, name), **dict.fromkeys(soil.code_sites, declared.code)}
        try:
            specimen = grow(soil, Choices(by_site=demands), role=role)
        except UngrownError:
            continue
        before = scenery.before(specimen, role, None)
        if before is None:
            continue
        scene = Scene(role=role, before=before)
        for absent in (0, *_ends(rows)):
            draft = _without(drafting, specimen, scene, absent)
            if draft is not None and message_of(draft) == name and len(draft.data) <= _LONGEST:
                yield draft.showing((f"{name} of the least{_said(absent)}",))


def _said(absent: int) -> str:
    return f" without its last {absent}" if absent else ""


def _emptied(soil: SampleBasis, message: str) -> dict[str, object]:
    """Return what every text is, and how many items the message's own lists have."""
    demands: dict[str, object] = {}
    for owner, fields in rows_of(soil.plan):
        for field in every_field(fields):
            site = f"{owner}.{field.name}"
            match field.type:
                case Text(length=Prefix()):
                    demands[site] = ""
                case Bytes(Prefix()):
                    demands[site] = b""
                case List(length=Prefix()) if owner == message:
                    demands[f"{site}.count"] = _MANY
    return demands


def _is_prefixed(type_: Type) -> bool:
    """Say whether a type says its length itself."""
    return isinstance(type_, Text | Bytes | List) and isinstance(type_.length, Prefix)


def _ends(rows: tuple[Field, ...]) -> tuple[int, ...]:
    """Return how many fields are absent where a message can end with an empty one behind which others need not be there."""
    n_trailing = sum(isinstance(field.value, Trailing) for field in rows)
    return tuple(
        absent for absent in range(1, min(n_trailing + 1, len(rows))) if _is_prefixed(rows[-absent - 1].type)
    )


def _without(drafting: Drafting, specimen: SampleValue, scene: Scene, absent: int) -> Draft | None:
    """Return the specimen without its last fields."""
    message = getattr(specimen.value, "message", None)
    if not isinstance(message, Record):
        return None
    message.absent = absent
    options = Options(scene.role, context=Known(specimen.scene))
    try:
        data = write_frame(drafting.plan, specimen.value, options, compression=0)
        draft = drafting.draft(scene, data)
    except (EncodeError, DecodeError):
        return None
    return draft if draft.is_whole and len(draft.trees) == 1 else None
