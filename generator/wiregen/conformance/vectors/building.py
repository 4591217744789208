"""The vectors of a protocol, and how much of it they show."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

from wiregen.conformance.judge import Finding
from wiregen.conformance.samples import SampleBasis
from wiregen.conformance.traces import Traces
from wiregen.conformance.vectors.chunked_regions import pieced_drafts
from wiregen.conformance.vectors.coverage import (
    Coverage,
    Measure,
    Unshown,
    fields_of,
    fields_shown,
    limits_shown,
    measure,
    messages_unshown,
)
from wiregen.conformance.vectors.depth import deep_drafts
from wiregen.conformance.vectors.drafts import Carry, Draft, Drafting, without_repetition
from wiregen.conformance.vectors.empty_values import least_drafts
from wiregen.conformance.vectors.example_vectors import ExampleBytes, illustrated
from wiregen.conformance.vectors.format import Invalid, Trace, Unwritable, Valid, VectorFile
from wiregen.conformance.vectors.header_fields import headed_drafts
from wiregen.conformance.vectors.invalid import Faults
from wiregen.conformance.vectors.last_alternatives import moved_drafts
from wiregen.conformance.vectors.reassembly_vectors import joined_drafts
from wiregen.conformance.vectors.refused_values import once_each
from wiregen.conformance.vectors.self_check import unheld
from wiregen.conformance.vectors.single_faults import unmixed_drafts
from wiregen.conformance.vectors.size_limits import extreme_drafts
from wiregen.conformance.vectors.trace_vectors import measured_traces, trace_vectors
from wiregen.conformance.vectors.unencodable import refused_values
from wiregen.conformance.vectors.valid import Crop, valid_drafts
from wiregen.conformance.vectors.variant_frames import variant_drafts
from wiregen.runtime.schema.protocol import Schema

__all__ = ["Built", "build_vectors"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Built:
    """A file of vectors, its coverage, and the messages without a valid vector."""

    file: VectorFile
    coverage: Coverage
    schema: Schema
    unshown: tuple[Unshown, ...] = ()

    def unheld(self) -> tuple[tuple[str, Finding], ...]:
        """Return the vectors that do not hold as they are written, and why; it must be empty."""
        return tuple(unheld(self.schema, self.file.vectors))

    @property
    def kinds(self) -> Counter[str]:
        return Counter(vector.kind for vector in self.file.vectors)


def build_vectors(
    schema: Schema,
    *,
    limits: tuple[str, ...] = (),
    examples: tuple[ExampleBytes, ...] = (),
    carry: Carry | None = None,
    traces: Traces | None = None,
) -> Built:
    """Return the vectors of a protocol: the same whenever they are made.

    `limits`: the names of those of its limits that codecs know. `examples`: its file's own. `traces`: conversations, where it
    has sessions.
    """
    basis, drafting = SampleBasis(schema=schema), Drafting(schema)
    crop = Crop(basis, drafting)
    valid_drafts(crop)
    crop.drafts += tuple(unmixed_drafts(crop))
    least = tuple(least_drafts(drafting, crop.scenery))
    crop.drafts += least
    crop.drafts += tuple(moved_drafts(drafting, crop.drafts))
    deep = tuple(deep_drafts(drafting, crop.drafts))
    crop.drafts += tuple(variant_drafts(drafting, crop.drafts))
    frames = [*crop.drafts, *(each for each in deep if isinstance(each, Draft))]
    faults = Faults(drafting)
    for draft in least:
        faults.put_at_end(draft)
    for draft in frames:
        if draft.is_whole:
            faults.put_into(draft)
    frames += headed_drafts(drafting, crop.drafts)
    extreme, fields = _without_bytes(drafting, extreme_drafts(drafting, basis, crop.drafts))
    drafts = [*frames, *joined_drafts(drafting, crop.scenery, crop.drafts), *faults.drafts]
    drafts += (each for each in extreme if isinstance(each, Draft))
    drafts += pieced_drafts(drafting, crop.drafts)
    own, illustrations = illustrated(drafting, crop.scenery, examples, drafts)
    drafts = without_repetition([*drafts, *own])
    broken = tuple(crop.refused())
    vectors: list[Valid | Invalid | Unwritable | Trace] = []
    drafts.sort(key=lambda draft: not draft.is_whole)
    vectors += (drafting.of(draft, carry) for draft in drafts)
    refused = (*broken, *refused_values(drafting, basis, sorted(crop.drafts, key=_size)))
    vectors += once_each((*refused, *(each for each in (*deep, *extreme) if isinstance(each, Unwritable))))
    vectors += () if traces is None else trace_vectors(traces)
    file = VectorFile(protocol=schema.name, vectors=tuple(vectors))
    measures = _measures(crop, broken, drafts, limits, fields)
    measures += (illustrations,) if examples else ()
    measures += () if traces is None else measured_traces(traces)
    unshown = tuple(messages_unshown(schema, drafts, crop.errors))
    return Built(file=file, coverage=Coverage(measures=measures), schema=schema, unshown=unshown)


def _without_bytes(
    drafting: Drafting, extreme: Iterable[Draft | Unwritable]
) -> tuple[list[Draft | Unwritable], set[str]]:
    """Return drafts of which the large ones keep no bytes, and the fields that they show."""
    kept: list[Draft | Unwritable] = []
    fields: set[str] = set()
    for each in extreme:
        if isinstance(each, Draft):
            fields |= fields_shown((each,))
        kept.append(drafting.without_bytes(each) if isinstance(each, Draft) else each)
    return kept, fields


def _size(draft: Draft) -> int:
    """Return the size of a draft and the bytes before it: faults are shown in small drafts."""
    return len(draft.data) + sum(len(said) for _, said in draft.scene.before)


def _measures(
    crop: Crop, broken: tuple[Unwritable, ...], drafts: list[Draft], limits: tuple[str, ...], fields: set[str]
) -> tuple[Measure, ...]:
    """Return the coverage; an option that is refused is covered by the vector that refuses it."""
    refused = (name for vector in broken for name in vector.covers)
    told = (name for draft in drafts for name in draft.covers)
    shown = {**crop.found.covered, **dict.fromkeys(refused), **dict.fromkeys(told)}
    return (
        measure("fields", fields_of(crop.basis.schema), fields | fields_shown(drafts)),
        measure("choices", crop.found.goals, shown),
        measure("limits", limits, limits_shown(drafts)),
    )
