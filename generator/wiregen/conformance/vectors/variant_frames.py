"""Each message in the frames of each layout variant: code for a variant reads and writes each message anew."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from dataclasses import replace
from typing import Final

from wiregen.conformance.vectors.drafts import Draft, Drafting, message_of
from wiregen.conformance.vectors.reference_verdicts import Scene
from wiregen.runtime.codec.errors import DecodeError, EncodeError
from wiregen.runtime.codec.options import Options
from wiregen.runtime.reference.tree import FrameValue, Record
from wiregen.runtime.reference.writing.frames import write_frame

__all__ = ["variant_drafts"]

_LONGEST: Final = 300


def variant_drafts(drafting: Drafting, frames: list[Draft]) -> Iterator[Draft]:
    """Yield the first frame of each message, and of each of its headers, in each layout variant."""
    for variant in drafting.schema.variants:
        shown: set[str] = set()
        for draft in frames:
            value = draft.trees[0].value if len(draft.trees) == 1 else None
            if len(draft.data) > _LONGEST:
                continue
            if isinstance(value, FrameValue):
                said = ", ".join(f"{name} {str(part)[:20]}" for name, part in value.header.items() if part)
            elif isinstance(value, Record) and value.name in drafting.schema.variants[variant].preambles:
                said = ""
            else:
                continue
            for name in (f"{variant}: {message_of(draft)}", f"{variant}: {value.name} with {said}"):
                found = None if name in shown else _laid(drafting, draft, variant)
                if found is not None:
                    shown.add(name)
                    yield found.showing((name,))
                    break


def _laid(drafting: Drafting, draft: Draft, variant: str) -> Draft | None:
    """Return a frame, and those before it, in a layout variant, or None if the variant cannot encode them."""
    value = copy.deepcopy(draft.trees[0].value)
    try:
        before = _laid_before(drafting, draft.scene, variant)
        scene = replace(draft.scene, variant=variant, before=before)
        options = Options(scene.role, context=draft.known, variant=variant)
        data = write_frame(drafting.schema, value, options, compression=0)
        found = drafting.draft(scene, data)
    except (DecodeError, EncodeError):
        return None
    return found if found.is_whole and len(found.trees) == 1 else None


def _laid_before(drafting: Drafting, scene: Scene, variant: str) -> tuple[tuple[str | None, bytes], ...]:
    """Return in a layout variant what was sent before the frame of a scene."""
    if scene.variant == variant:
        return scene.before
    laid: list[tuple[str | None, bytes]] = []
    for place, (role, data) in enumerate(scene.before):
        sent = drafting.draft(replace(scene, role=role, before=scene.before[:place]), data)
        options = Options(role, context=sent.known, variant=variant)
        written = (write_frame(drafting.schema, tree.value, options, compression=0) for tree in sent.trees)
        laid.append((role, b"".join(written)))
    return tuple(laid)
