"""The vector of a value that an encoder refuses, encoded from its line."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace

from wiregen.conformance.vectors.drafts import Draft, Drafting
from wiregen.conformance.vectors.format import Unwritable
from wiregen.runtime.codec.errors import EncodeError
from wiregen.runtime.codec.options import Options
from wiregen.runtime.records.frames import frame_from_record, frame_record
from wiregen.runtime.reference.writing.frames import write_frame

__all__ = ["once_each", "refused"]


def refused(drafting: Drafting, draft: Draft, value: object, covers: str) -> Iterator[Unwritable]:
    """Yield the vector of a value in the scene of a draft if the reference codec refuses its line.

    Skip a value that lacks a field which its other fields now require: it then also has a field that they
    forbid, and either may be reported.
    """
    scene = draft.scene
    try:
        record = frame_record(drafting.schema, value, variant=scene.variant)
    except EncodeError:
        return
    options = Options(scene.role, context=draft.known, variant=scene.variant)
    try:
        again = frame_from_record(drafting.schema, record, role=scene.role, variant=scene.variant)
        write_frame(drafting.schema, again, options, compression=0)
    except EncodeError as error:
        if error.found != "nothing":
            yield drafting.unwritable(scene, record, error, (covers,))


def once_each(vectors: Iterable[Unwritable]) -> tuple[Unwritable, ...]:
    """Return vectors without duplicates: of those with equal frames in equal scenes the first, which shows
    the goals of all.
    """
    first: dict[str, Unwritable] = {}
    for vector in vectors:
        key = repr((vector.from_role, vector.variant, vector.before, vector.frames))
        known = first.get(key)
        first[key] = vector if known is None else replace(known, covers=(*known.covers, *vector.covers))
    return tuple(first.values())
