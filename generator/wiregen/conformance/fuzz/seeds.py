"""The first inputs of a search: the bytes of valid and invalid vectors."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final

from wiregen.conformance.fuzz.comparison import Trial
from wiregen.conformance.judge.checks import setting_of
from wiregen.conformance.vectors.format import Invalid, Trace, Unwritable, Valid, octets

__all__ = ["seeds_of"]

_LONGEST: Final = 4096
"""Most bytes of a seed: longer ones are slow to mutate and add little."""


def seeds_of(vectors: Iterable[Valid | Invalid | Unwritable | Trace]) -> tuple[Trial, ...]:
    """Return the distinct trials that vectors give."""
    seeds: dict[object, Trial] = {}
    for vector in vectors:
        for trial in _trials(vector):
            setting = trial.setting
            limits = tuple(sorted(setting.limits.items()))
            key = (trial.data, setting.role, setting.before, setting.variant, limits, setting.is_strict)
            if 0 < len(trial.data) <= _LONGEST:
                seeds.setdefault(key, trial)
    return tuple(seeds.values())


def _trials(vector: Valid | Invalid | Unwritable | Trace) -> Iterator[Trial]:
    if isinstance(vector, Valid | Invalid):
        yield Trial(setting=setting_of(vector), data=octets(vector.bytes))
