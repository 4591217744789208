"""The vectors of a protocol, and how much of it they show."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

from wiregen.runtime.options import Plan
from wiregen.specimens import Soil
from wiregen.vectors.carrying import Carry
from wiregen.vectors.drafts import Drafting
from wiregen.vectors.format import Trace, Unwritable, VectorFile
from wiregen.vectors.invalid import Faults
from wiregen.vectors.joins import joined_drafts
from wiregen.vectors.valid import Crop, valid_drafts

__all__ = ["Built", "build_vectors"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Built:
    """A file, and what it shows.

    Attributes:
        goals: What values of the protocol can be, by name.
        missing: Those that no vector shows.
    """

    file: VectorFile
    goals: tuple[str, ...]
    missing: tuple[str, ...]

    @property
    def kinds(self) -> Counter[str]:
        return Counter(vector.kind for vector in self.file.vectors)


def build_vectors(plan: Plan, *, carry: Carry | None = None, traces: tuple[Trace, ...] = ()) -> Built:
    """Return the vectors of a protocol: the same whenever they are made."""
    soil, drafting = Soil(plan=plan), Drafting(plan)
    crop = Crop(soil, drafting)
    valid_drafts(crop)
    faults = Faults(drafting)
    for draft in crop.drafts:
        faults.put_into(draft)
    joined = joined_drafts(drafting, crop.scenery, crop.drafts)
    drafts = [*crop.drafts, *joined, *faults.drafts]
    valid = (drafting.valid(draft, carry) for draft in drafts if draft.is_whole)
    invalid = (drafting.invalid(draft) for draft in drafts if not draft.is_whole)
    file = VectorFile(protocol=plan["name"], vectors=(*valid, *invalid, *crop.refused, *traces))
    return Built(file=file, goals=tuple(crop.found.goals), missing=_missing(crop.found.missing, crop.refused))


def _missing(names: tuple[str, ...], refused: list[Unwritable]) -> tuple[str, ...]:
    """Return the goals that nothing shows: what is refused is shown by what refuses it."""
    shown = {name for vector in refused for name in vector.covers}
    return tuple(name for name in names if name not in shown)


