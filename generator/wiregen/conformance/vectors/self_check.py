"""The built vectors compared with the reference codec, as the file gives them: a vector that contradicts
itself is never written.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final

from wiregen.conformance.judge import Finding, ReferenceImplementation
from wiregen.conformance.judge.checks import judge_at_once
from wiregen.conformance.vectors.format import AnyVector, size_of
from wiregen.runtime.schema.protocol import Schema

__all__ = ["unheld"]

_LARGE: Final = 1 << 16
"""Bytes, characters and items of a vector that is not checked again, as that would be slow."""


def unheld(schema: Schema, vectors: Iterable[AnyVector]) -> Iterator[tuple[str, Finding]]:
    """Yield the ids of vectors whose verdict differs from that of the reference codec, and the findings."""
    implementation = ReferenceImplementation(schema)
    for vector in vectors:
        if size_of(vector) <= _LARGE:
            yield from ((vector.id, finding) for finding in judge_at_once(vector, implementation))
