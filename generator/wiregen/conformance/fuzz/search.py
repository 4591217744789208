"""Search: run trials until a bound is reached, report each difference once, shrunk."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from random import Random
from typing import Final

from wiregen.conformance.fuzz.comparison import Differing, Trial, asked, differing
from wiregen.conformance.fuzz.mutations import Mutator
from wiregen.conformance.fuzz.shrinking import shrunk
from wiregen.conformance.judge import (
    DecodedFrames,
    Implementation,
    ImplementationError,
    ReferenceImplementation,
)
from wiregen.runtime.reference.tree import Node

__all__ = ["FuzzFinding", "FuzzSearch", "SearchBounds"]

_MOST_SEEDS: Final = 5000
_TRIES: Final = 1500
_TRIES_IN_TROUBLE: Final = 40
"""Fewer, because an implementation that hangs costs seconds each time."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchBounds:
    """When a search ends; None means unbounded. With the same count and seed, the trials are the same."""

    seconds: float | None = None
    count: int | None = None
    most_findings: int = 50


@dataclass(frozen=True, slots=True, kw_only=True)
class FuzzFinding:
    """A difference, and the smallest trial that shows it."""

    trial: Trial
    differing: Differing
    first_size: int


class FuzzSearch:
    """Compares a codec with the reference codec.

    Attributes:
        n_trials: The number of trials so far.
    """

    def __init__(
        self,
        reference: ReferenceImplementation,
        implementation: Implementation,
        seeds: Sequence[Trial],
        seed: int,
    ) -> None:
        self._reference = reference
        self._implementation = implementation
        self._random = Random(seed)
        self._mutator = Mutator(reference.schema, self._random)
        self._seeds = list(seeds)
        self._trees: dict[int, tuple[Node, ...]] = {}
        self._known: set[tuple[str, ...]] = set()
        self._outcomes: set[tuple[object, ...]] = set()
        self.n_trials = 0

    def findings(
        self, bounds: SearchBounds, advance: Callable[[int], None] = lambda n_trials: None
    ) -> Iterator[FuzzFinding]:
        """Yield each difference once; the seeds themselves come first."""
        deadline = None if bounds.seconds is None else time.monotonic() + bounds.seconds
        for trial in self._trials():
            is_late = deadline is not None and time.monotonic() > deadline
            if is_late or self.n_trials == bounds.count or len(self._known) >= bounds.most_findings:
                return
            self.n_trials += 1
            advance(self.n_trials)
            found = self._looked_at(trial)
            if found is not None and found.key not in self._known:
                self._known.add(found.key)
                yield self._made_small(trial, found)

    def _trials(self) -> Iterator[Trial]:
        yield from tuple(self._seeds)
        while True:
            other = self._random.choice(self._seeds)
            yield self._mutator.mutated(*self._chosen(), other)

    def _looked_at(self, trial: Trial) -> Differing | None:
        """Return the difference of a trial; keep the trial as a seed if the reference codec's answer is new."""
        try:
            expected = asked(lambda: self._reference.decode(trial.setting, [trial.data]))
        except ImplementationError:
            return self._difference(trial)
        if self._is_new(trial, expected):
            self._seeds.append(trial)
        return self._difference(trial, expected)

    def _chosen(self) -> tuple[Trial, tuple[Node, ...]]:
        """Return a seed and its trees, which are built once."""
        number = self._random.randrange(len(self._seeds))
        if number not in self._trees:
            self._trees[number] = self._nodes(self._seeds[number])
        return self._seeds[number], self._trees[number]

    def _is_new(self, trial: Trial, decoded: DecodedFrames) -> bool:
        """Return whether the answer to a trial is new, so that the trial is worth mutating."""
        if len(self._seeds) >= _MOST_SEEDS or len(trial.data) > 4096:
            return False
        fault = decoded.fault
        names = tuple(str(line.get("message")) for line in decoded.frames[:3])
        outcome = (names, decoded.is_incomplete, fault and (fault.code, fault.rule, fault.path))
        if outcome in self._outcomes:
            return False
        self._outcomes.add(outcome)
        return True

    def _difference(self, trial: Trial, expected: DecodedFrames | None = None) -> Differing | None:
        try:
            return differing(trial, self._reference, self._implementation, expected)
        except ImplementationError as error:
            return Differing(
                key=("reference", error.text), expected="the reference codec's answer", found=error.text
            )

    def _made_small(self, trial: Trial, found: Differing) -> FuzzFinding:
        def is_same(smaller: Trial) -> bool:
            other = self._difference(smaller)
            return other is not None and other.key == found.key

        tries = _TRIES_IN_TROUBLE if found.key[0] == "trouble" else _TRIES
        small = shrunk(trial, is_same, self._nodes, tries)
        return FuzzFinding(
            trial=small, differing=self._difference(small) or found, first_size=len(trial.data)
        )

    def _nodes(self, trial: Trial) -> tuple[Node, ...]:
        try:
            return asked(lambda: self._reference.nodes(trial.setting, trial.data))
        except ImplementationError:
            return ()
