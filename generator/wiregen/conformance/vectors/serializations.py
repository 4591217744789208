"""The same frames in the other serializations, by the generated modules."""

from __future__ import annotations

from wiregen.conformance.vectors.drafts import Carry, Draft
from wiregen.conformance.vectors.format import compact
from wiregen.generate.packages import Package
from wiregen.generate.serialization import Serialization
from wiregen.runtime.codec.errors import EncodeError
from wiregen.runtime.codec.options import Options

__all__ = ["carrier"]


def carrier(package: Package) -> Carry:
    """Return the function that gives a draft's bytes in each serialization, and in `note` the reason for
    those without.
    """
    ways = package.carriers()

    def carry(draft: Draft, lines: list[dict[str, object]]) -> dict[str, object]:
        carried: dict[str, object] = {}
        refusals: dict[str, None] = {}
        for way in ways:
            try:
                carried[way.name] = compact(_stream(way, draft))
            except EncodeError as error:
                refusals[f"not carried: {error.code}"] = None
        return {**carried, "note": "; ".join(refusals)}

    return carry


def _stream(way: Serialization, draft: Draft) -> bytes:
    scene = draft.scene
    known = draft.known if len(draft.trees) == 1 else draft.after
    options = Options(scene.role, context=known, variant=scene.variant)
    return b"".join(way.write(tree.value, options) for tree in draft.trees)
