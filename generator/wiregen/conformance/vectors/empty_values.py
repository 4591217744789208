"""Each message with as little in it as possible: empty texts, many of the smallest items, and an empty field at its end.

Some errors of a decoder show only where fields are as small as possible. One is a wrong bound on the number
of items that the remaining bytes can hold. Another is a wrong test for a further field at the end of a
body.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from wiregen.conformance.samples import Choices, SampleBasis, SampleValue, grow
from wiregen.conformance.samples.basis import rows_of
from wiregen.conformance.samples.choices import UngrownError
from wiregen.conformance.vectors.drafts import Draft, Drafting, message_of
from wiregen.conformance.vectors.preceding_frames import GivenEntries, Scenery
from wiregen.conformance.vectors.reference_verdicts import Scene
from wiregen.runtime.codec.errors import DecodeError, EncodeError
from wiregen.runtime.codec.options import Options
from wiregen.runtime.reference.tree import Record
from wiregen.runtime.reference.writing.frames import write_frame
from wiregen.runtime.schema.declarations import Field, Trailing
from wiregen.runtime.schema.shapes import every_field
from wiregen.runtime.schema.types import Bytes, List, Prefix, Text, Type

__all__ = ["least_drafts"]

_MANY: Final = 40
"""Items, so that one byte too many for each is more than all that may follow them."""
_LONGEST: Final = 2000


def least_drafts(drafting: Drafting, scenery: Scenery) -> Iterator[Draft]:
    """Return each message that has a list or an optional text, as small as possible."""
    basis = scenery.basis
    schema = basis.schema
    for name, declared in schema.messages.items():
        rows = tuple(every_field(declared.fields))
        has_list = any(isinstance(field.type, List) and _is_prefixed(field.type) for field in rows)
        if not (has_list or _ends(rows)) or declared.code is None:
            continue
        role = declared.role or next(iter(schema.sends), None)
        demands = {**_emptied(basis, name), **dict.fromkeys(basis.code_sites, declared.code)}
        try:
            specimen = grow(basis, Choices(by_site=demands), role=role)
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


def _emptied(basis: SampleBasis, message: str) -> dict[str, object]:
    """Return the demands that empty every text and set the number of items of the message's own lists."""
    demands: dict[str, object] = {}
    for owner, fields in rows_of(basis.schema):
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
    """Return whether a type starts with its own length."""
    return isinstance(type_, Text | Bytes | List) and isinstance(type_.length, Prefix)


def _ends(rows: tuple[Field, ...]) -> tuple[int, ...]:
    """Return the numbers of absent fields with which a message ends in an empty field before its optional fields."""
    n_trailing = sum(isinstance(field.value, Trailing) for field in rows)
    return tuple(
        absent for absent in range(1, min(n_trailing + 1, len(rows))) if _is_prefixed(rows[-absent - 1].type)
    )


def _without(drafting: Drafting, specimen: SampleValue, scene: Scene, absent: int) -> Draft | None:
    """Return the sample without its last fields."""
    message = getattr(specimen.value, "message", None)
    if not isinstance(message, Record):
        return None
    message.absent = absent
    options = Options(scene.role, context=GivenEntries(specimen.scene))
    try:
        data = write_frame(drafting.schema, specimen.value, options, compression=0)
        draft = drafting.draft(scene, data)
    except (EncodeError, DecodeError):
        return None
    return draft if draft.is_whole and len(draft.trees) == 1 else None
