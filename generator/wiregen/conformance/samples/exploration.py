"""All alternatives of a protocol's values, shown by as few values as possible: choices are followed until none is new.

Structural choices are followed one at a time, as a tree. Below each of its branches all other choices
change together, wave by wave; if a wave is refused, they change one at a time.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import combinations, product
from typing import Final, TypeAlias

from wiregen.conformance.samples.basis import SampleBasis
from wiregen.conformance.samples.choices import CONTEXT, Choices, MadeChoice, UngrownError
from wiregen.conformance.samples.generation import SampleValue, grow, grow_opening

__all__ = ["Exploration", "Planted", "explore", "try_frames", "try_openings"]

Planted: TypeAlias = Callable[[SampleValue], bool]
"""Return whether a sample can be written, and keep it if so."""

_MOST_ATTEMPTS: Final = 80
"""Values tried where the plain one is refused."""
_MOST_BRANCHES: Final = 4000
_FEW: Final = 3
"""Options of a context that are tried with each message; a context with more options selects the message."""
_PATIENCE: Final = 12
"""Branches in which an option is tried alone before it is given up."""


@dataclass(slots=True, kw_only=True)
class Exploration:
    """The options that were found.

    Attributes:
        covered, goals: Names of options, in the order in which they were found.
    """

    covered: dict[str, None] = field(default_factory=dict)
    goals: dict[str, None] = field(default_factory=dict)

    @property
    def missing(self) -> tuple[str, ...]:
        return tuple(goal for goal in self.goals if goal not in self.covered)


def explore(
    basis: SampleBasis,
    take: Planted,
    found: Exploration,
    *,
    role: str | None,
    variant: str | None = None,
    is_opening: bool = False,
) -> None:
    """Give `take` every sample of the frames (or the preamble) of `role` that shows something new.

    `found` holds the options that are already known.
    """

    def plant(choices: Choices) -> SampleValue:
        if is_opening:
            return grow_opening(basis, choices, role=role or "")
        return grow(basis, choices, role=role, variant=variant)

    _Walk(plant, take, found, variant).run()


def try_openings(basis: SampleBasis, take: Planted, *, role: str) -> None:
    """Give `take` preambles of `role`, the plainest first, until it takes one."""
    _Walk(lambda choices: grow_opening(basis, choices, role=role), take, Exploration(), None).begin()


def try_frames(basis: SampleBasis, take: Planted, *, role: str, code: int | None) -> None:
    """Give `take` frames of `role` with the message of a code (None: the only one), the plainest first, until
    it takes one.
    """
    sites = {} if code is None else dict.fromkeys(basis.code_sites, code)

    def plant(choices: Choices) -> SampleValue:
        choices.by_site = sites
        return grow(basis, choices, role=role)

    _Walk(plant, take, Exploration(), None).begin()


class _Walk:
    def __init__(
        self,
        plant: Callable[[Choices], SampleValue],
        take: Planted,
        found: Exploration,
        variant: str | None,
    ) -> None:
        self._plant = plant
        self._take = take
        self._found = found
        self._variant = variant
        self._branches: deque[dict[str, int]] = deque([{}])
        self._queued: set[str] = set()
        self._known: set[tuple[str, int]] = set()
        self._given_up: dict[str, int] = {}
        self._demanded: frozenset[str] = frozenset()

    def run(self) -> None:
        for _ in range(_MOST_BRANCHES):
            if not self._branches:
                return
            self._branch(self._branches.popleft())

    def begin(self) -> None:
        self._plain({})

    def _branch(self, demands: dict[str, int]) -> None:
        plain, fixed = self._plain(demands)
        if plain is None:
            return
        self._demanded = frozenset(demands)
        self._queue(plain, fixed)
        n_waves = max((len(choice.options) for choice in plain.made if _is_free(choice)), default=1)
        for wave in range(1, n_waves):
            if any(self._is_wanted(choice, wave) for choice in plain.made if _is_free(choice)):
                self._queue_of(self._tried(fixed, wave), fixed)
        for choice in plain.made:
            if _is_free(choice):
                self._single(choice, fixed)

    def _plain(self, demands: dict[str, int]) -> tuple[SampleValue | None, dict[str, int]]:
        """Return the plainest sample of a branch, and the demands that were needed for it."""
        specimen = self._grown(demands)
        if specimen is not None and self._accepted(specimen):
            return specimen, demands
        if self._last.is_in_vain:
            return None, demands
        made = specimen.made if specimen is not None else tuple(self._last.made)
        for more in _ways(made, demands):
            solved = {**demands, **more}
            specimen = self._grown(solved)
            if specimen is not None and self._accepted(specimen):
                self._queue_lost(made, specimen, demands)
                return specimen, solved
        return None, demands

    def _queue_lost(self, made: tuple[MadeChoice, ...], plain: SampleValue, demands: dict[str, int]) -> None:
        """Queue the other branches below a part that the plainest sample lacks, since its first branch was refused."""
        paths = {choice.path for choice in plain.made}
        for number, choice in enumerate(made):
            if choice.is_structural and choice.path not in paths:
                way = _way(made[:number])
                for index, (name, _) in enumerate(choice.options):
                    lost = f"{choice.site} {name} where another one is refused"
                    if index != choice.taken and lost not in self._queued:
                        self._queued.add(lost)
                        self._branches.append({**demands, **way, choice.path: index})

    def _single(self, choice: MadeChoice, fixed: dict[str, int]) -> None:
        """Try the options of one choice that no sample has shown yet."""
        for index, goal in enumerate(choice.goals):
            if index != choice.taken and self._is_wanted(choice, index):
                self._given_up[goal] = self._given_up.get(goal, 0) + 1
                self._queue_of(self._tried({**fixed, choice.path: index}, 0), fixed)

    def _is_wanted(self, choice: MadeChoice, index: int) -> bool:
        """Return whether no sample shows an option yet and it was not tried too often in vain."""
        if index >= len(choice.goals):
            return False
        goal = choice.goals[index]
        return goal not in self._found.covered and self._given_up.get(goal, 0) < _PATIENCE

    def _tried(self, demands: Mapping[str, int], wave: int) -> SampleValue | None:
        specimen = self._grown(demands, wave)
        return specimen if specimen is not None and self._accepted(specimen) else None

    def _grown(self, demands: Mapping[str, int], wave: int = 0) -> SampleValue | None:
        self._last = Choices(wave=wave, by_path=demands)
        try:
            return self._plant(self._last)
        except UngrownError:
            return None
        finally:
            self._note_goals()

    def _note_goals(self) -> None:
        for choice in self._last.made:
            known = (choice.site, len(choice.options))
            if choice.is_goal and known not in self._known:
                self._known.add(known)
                self._found.goals.update(dict.fromkeys(choice.goals))

    def _accepted(self, specimen: SampleValue) -> bool:
        """Offer a sample that shows something new; another sample only needs to be writable."""
        if not self._take(specimen):
            return False
        self._found.covered.update(dict.fromkeys(specimen.covers))
        return True

    # ---- the tree

    def _queue_of(self, specimen: SampleValue | None, fixed: dict[str, int]) -> None:
        if specimen is not None:
            self._queue(specimen, fixed)

    def _queue(self, specimen: SampleValue, fixed: dict[str, int]) -> None:
        """Queue the branches that begin at the choices of a sample."""
        for number, choice in enumerate(specimen.made):
            # A choice that only makes the plainest sample writable has other options to follow.
            if not choice.is_structural or choice.path in self._demanded:
                continue
            way = _way(specimen.made[:number])
            for index in range(len(choice.options)):
                name = f"{self._named(specimen, choice)} {choice.options[index][0]}"
                if index != choice.taken and name not in self._queued:
                    self._queued.add(name)
                    branch = {**fixed, **way, choice.path: index}
                    # Entries of contexts come first: many options are possible only after some of them.
                    (self._branches.appendleft if choice.site.startswith(CONTEXT) else self._branches.append)(
                        branch
                    )
            if choice.taken is not None:
                self._queued.add(f"{self._named(specimen, choice)} {choice.options[choice.taken][0]}")

    def _named(self, specimen: SampleValue, choice: MadeChoice) -> str:
        """Return the key that distinguishes a choice: earlier frames may affect each message differently.

        So may the arms that are taken in the same declaration: in another arm another field may depend on
        the choice.
        """
        message = getattr(getattr(specimen.value, "message", None), "name", "")
        is_small = choice.site.startswith(CONTEXT) and len(choice.options) <= _FEW
        owner = choice.site.rpartition(".")[0]
        arms = [each for each in specimen.covers if " arm " in each and each.rpartition(".")[0] == owner]
        # Several arms of one choice belong to several items of a list; each arm is tried in an item of its own.
        n_arms = Counter(each.partition(" arm ")[0] for each in arms)
        taken = [each for each in arms if n_arms[each.partition(" arm ")[0]] == 1]
        return f"{self._variant} {message if is_small else ''} {choice.site} {' '.join(taken)}"


def _is_free(choice: MadeChoice) -> bool:
    return not choice.is_structural and len(choice.options) > 1


def _way(made: tuple[MadeChoice, ...]) -> dict[str, int]:
    """Return the structural choices that were taken."""
    return {choice.path: choice.taken for choice in made if choice.is_structural and choice.taken is not None}


def _ways(made: tuple[MadeChoice, ...], demands: Mapping[str, int]) -> Iterator[dict[str, int]]:
    """Return other options to try: of one choice, the last first, then of two at once."""
    free = [choice for choice in reversed(made) if choice.path not in demands and len(choice.options) > 1]
    tried = 0
    for size in (1, 2):
        for group in combinations(free[:12], size):
            for indexes in product(*(range(len(choice.options)) for choice in group)):
                if tried == _MOST_ATTEMPTS:
                    return
                tried += 1
                yield {choice.path: index for choice, index in zip(group, indexes, strict=True)}
