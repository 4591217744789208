"""Values that were refused for another fault in their frame, put in a frame without another fault."""

from __future__ import annotations

import copy
import re
from collections.abc import Iterator
from typing import Final

from wiregen.conformance.vectors.drafts import Draft
from wiregen.conformance.vectors.valid import Crop
from wiregen.conformance.vectors.value_places import places
from wiregen.runtime.codec.errors import DecodeError, EncodeError
from wiregen.runtime.codec.options import Options
from wiregen.runtime.reference.writing.frames import write_frame

__all__ = ["unmixed_drafts"]

_INDEX: Final = re.compile(r"\[\d+\]")
_PATIENCE: Final = 3
"""Frames in which a value is tried."""


def unmixed_drafts(crop: Crop) -> Iterator[Draft]:
    """Yield frames with such values, if the only fault is the value of another field."""
    for name, (specimen, error, role, variant) in crop.refusals():
        site = name.partition(" ")[0]
        if "." not in site or _field(site) == _field(error.path):
            continue
        values = [holder[key] for place, holder, key in places(specimen.value) if place == site]
        whole = (each for each in crop.drafts if (each.scene.role, each.scene.variant) == (role, variant))
        for draft, value in [pair for each in whole for pair in _with(each, site, values[:1])][:_PATIENCE]:
            found = _written(crop, draft, value, name)
            if found is not None:
                crop.found.covered[name] = None
                yield found.showing((name,))
                break


def _with(draft: Draft, site: str, values: list[object]) -> Iterator[tuple[Draft, object]]:
    """Yield a frame and another value for a place, if the frame has that place."""
    frame = copy.deepcopy(draft.trees[0].value)
    for place, holder, key in places(frame):
        if place == site and holder[key] is not None and values:
            holder[key] = values[0]
            yield draft, frame
            return


def _written(crop: Crop, draft: Draft, value: object, name: str) -> Draft | None:
    scene = draft.scene
    options = Options(scene.role, context=draft.known, variant=scene.variant)
    try:
        data = write_frame(crop.basis.schema, value, options, compression=0)
        found = crop.drafting.draft(scene, data)
    except EncodeError as error:
        crop.refuse(name, scene, value, error)
        return None
    except DecodeError:
        return None
    return found if found.is_whole and len(found.trees) == 1 else None


def _field(path: str) -> str:
    return _INDEX.sub("", path).rpartition(".")[2]
