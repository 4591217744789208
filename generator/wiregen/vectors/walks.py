"""Steps of traces: in a file each stands once, by a name, for conversations begin alike."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

from wiregen.vectors.kinds import AnyVector, Step, Trace, VectorFile
from wiregen.vectors.repetition import VectorsError

__all__ = ["with_own_steps", "with_shared_steps"]


def with_shared_steps(file: VectorFile) -> VectorFile:
    """Return a file whose traces name their steps."""
    names = _Names()
    vectors = tuple(
        replace(each, walk=tuple(map(names.of, each.steps)), steps=()) if isinstance(each, Trace) else each
        for each in file.vectors
    )
    return replace(file, steps=dict(names.steps), vectors=vectors)


def with_own_steps(file: VectorFile) -> VectorFile:
    """Return a file whose traces have their steps themselves.

    Raises:
        VectorsError: One names a step that is not there.
    """
    return replace(file, steps={}, vectors=tuple(_walked(each, file.steps) for each in file.vectors))


def _walked(vector: AnyVector, steps: dict[str, Step]) -> AnyVector:
    if not isinstance(vector, Trace) or not vector.walk:
        return vector
    missing = next((name for name in vector.walk if name not in steps), None)
    if missing is not None:
        raise VectorsError(f"{vector.id[:64]}: the file has no step {missing[:64]!r}")
    return replace(vector, walk=(), steps=(*(steps[name] for name in vector.walk), *vector.steps))


class _Names:
    """Gives each step a name: that of its message, with a number where others carry the same."""

    def __init__(self) -> None:
        self.steps: dict[str, Step] = {}
        self._known: dict[Step, str] = {}
        self._taken: Counter[str] = Counter()

    def of(self, step: Step) -> str:
        """Return the name of a step."""
        if step not in self._known:
            what = step.message or ("end" if step.eof else "bytes" if step.bytes else "time")
            self._taken[what] += 1
            name = what if self._taken[what] == 1 else f"{what} {self._taken[what]}"
            self._known[step] = name
            self.steps[name] = step
        return self._known[step]
