"""A frame that pages show and reproduce."""

from __future__ import annotations

from dataclasses import dataclass

from wiregen.conformance.vectors.reference_verdicts import Scene
from wiregen.runtime.reference.tree import Node
from wiregen.runtime.stream.context import Context

__all__ = ["Sample"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Sample:
    """A frame in its scene, as the reference codec decoded it.

    `known`: the context that it was decoded in; `origin`: where it is from.
    """

    scene: Scene
    data: bytes
    tree: Node
    origin: str
    known: Context | None
