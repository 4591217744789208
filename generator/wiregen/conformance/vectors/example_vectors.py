"""The examples of a `.wire` file as vectors, unless another vector has the same bytes in the same scene."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import TypeAlias

from wiregen.conformance.vectors.coverage import Measure, measure
from wiregen.conformance.vectors.drafts import Draft, Drafting
from wiregen.conformance.vectors.preceding_frames import Scenery
from wiregen.conformance.vectors.reference_verdicts import Scene
from wiregen.runtime.codec.errors import DecodeError

__all__ = ["ExampleBytes", "Illustrated", "illustrated"]


@dataclass(frozen=True, slots=True, kw_only=True)
class ExampleBytes:
    """An example as bytes.

    Attributes:
        before: Roles and the bytes that they sent before, without preambles.
        role: The role that sends it, or None to try every role.
        violation: The code or rule that the bytes violate, or None if they are valid.
        is_opening: The bytes are a preamble.
    """

    name: str
    data: bytes
    role: str | None = None
    variant: str | None = None
    before: tuple[tuple[str | None, bytes], ...] = ()
    violation: str | None = None
    is_opening: bool = False


Illustrated: TypeAlias = "tuple[list[Draft], Measure]"


def illustrated(
    drafting: Drafting, scenery: Scenery, given: Iterable[ExampleBytes], drafts: Iterable[Draft]
) -> Illustrated:
    """Return the drafts of the examples whose bytes are not in `drafts`, and the number of examples that
    some vector shows.
    """
    known = {_key(draft) for draft in drafts}
    found: list[Draft] = []
    names, shown = [], []
    for example in given:
        names.append(example.name)
        held = sorted(_held(drafting, scenery, example), key=lambda each: not _is_own(drafting, each))
        draft = next(iter(held), None)
        if draft is None:
            continue
        shown.append(example.name)
        if _key(draft) not in known:
            known.add(_key(draft))
            found.append(replace(draft, covers=(f"example {example.name}",), source="example"))
    return found, measure("examples", names, shown)


def _key(draft: Draft) -> tuple[Scene, bytes]:
    return replace(draft.scene, limits=tuple(draft.scene.limits.items())), draft.identity  # type: ignore[arg-type]


def _held(drafting: Drafting, scenery: Scenery, example: ExampleBytes) -> Iterator[Draft]:
    """Yield the draft if it holds as the example says. The frame was checked already; here it is read in a stream."""
    roles = tuple(drafting.schema.sends) if example.role is None else (example.role,)
    for role in roles or (None,):
        scene = Scene(role=role, variant=example.variant, before=_before(scenery, example, role))
        try:
            draft = drafting.draft(scene, example.data)
        except DecodeError:
            continue
        if _holds(example, draft):
            yield draft


def _holds(example: ExampleBytes, draft: Draft) -> bool:
    if draft.error is None:
        return example.violation is None and len(draft.trees) == 1
    return example.violation in (draft.error.code, draft.error.rule)


def _is_own(drafting: Drafting, draft: Draft) -> bool:
    """Return whether the refused message is one that this role sends."""
    message = "" if draft.error is None else draft.error.path.partition(".")[0]
    declared = drafting.schema.messages.get(message)
    return declared is None or declared.role in (draft.scene.role, None)


def _before(
    scenery: Scenery, example: ExampleBytes, role: str | None
) -> tuple[tuple[str | None, bytes], ...]:
    speakers = dict.fromkeys([*(who for who, _ in example.before), *(() if example.is_opening else (role,))])
    openings = (each for who in speakers for each in scenery.opening(who))
    return (*openings, *example.before)
