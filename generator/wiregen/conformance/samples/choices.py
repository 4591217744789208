"""What can be one way or another in a value, and who decides it.

A choice has a site, which is a place in the .wire file (`Pair.key`), and a path, which is a place in one value
(`Frame.Data.pairs[1].key`). Sites are what coverage speaks of, paths are what a decision is about.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final, TypeAlias

__all__ = ["CONTEXT", "SHARED", "Choice", "Choices", "Option", "UngrownError", "index_in"]

Option: TypeAlias = tuple[str, Any]
"""What the choice is called, and the value that it stands for."""
SHARED: Final = "every "
"""What the name of an option begins with that is shown once, at whichever site."""

CONTEXT: Final = "context "
"""What the site of an entry of a context begins with."""

_INDEX: Final = re.compile(r"\[(\d+)\]")


class UngrownError(Exception):
    """The choices so far lead to no value."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Choice:
    """A choice that was made.

    Attributes:
        is_structural: What follows depends on it.
        is_goal: That each of its options is taken once belongs to what vectors must show.
    """

    site: str
    path: str
    options: tuple[Option, ...]
    taken: int | None
    is_structural: bool
    is_goal: bool

    @property
    def covers(self) -> str | None:
        """The name of what was taken; None: it was demanded and is none of the options, or no goal."""
        if self.taken is None or not self.is_goal:
            return None
        return self._named(self.options[self.taken][0])

    @property
    def goals(self) -> tuple[str, ...]:
        return tuple(self._named(label) for label, _ in self.options) if self.is_goal else ()

    def _named(self, label: str) -> str:
        return label if label.startswith(SHARED) else f"{self.site} {label}"


@dataclass(slots=True, kw_only=True)
class Choices:
    """Decides what one value is like.

    Attributes:
        wave: Which option every choice that nothing else depends on takes; the first one where it has not so many.
        by_path: Options that are demanded at a place in the value, by their index.
        by_site: Values that are demanded wherever a site is met.
        made: All choices, in the order in which they came up.
        seen: Branches that were taken without being a choice.
    """

    wave: int = 0
    by_path: Mapping[str, int] = field(default_factory=dict)
    by_site: Mapping[str, Any] = field(default_factory=dict)
    made: list[Choice] = field(default_factory=list)
    seen: list[str] = field(default_factory=list)

    def choose(
        self,
        site: str,
        path: str,
        options: tuple[Option, ...],
        *,
        is_structural: bool = False,
        is_goal: bool = True,
        turn: int = 0,
    ) -> Any:
        """Return the value of the option that is taken; `turn`: which one to begin with where nothing else says so."""
        if not options:
            raise UngrownError(f"nothing can stand at {path}")
        if site in self.by_site:
            return self._demanded(site, path, options, is_structural, is_goal)
        index = self._index(path, len(options), is_structural, turn)
        self._note(site, path, options, index, is_structural, is_goal)
        return options[index][1]

    def _index(self, path: str, count: int, is_structural: bool, turn: int) -> int:
        if path in self.by_path:
            return min(self.by_path[path], count - 1)
        wave = 0 if is_structural else self.wave
        index = wave + (turn or (index_in(path) if wave else 0))
        if index < count:
            return index
        return index % count if turn else 0

    def _demanded(
        self, site: str, path: str, options: tuple[Option, ...], is_structural: bool, is_goal: bool
    ) -> Any:
        value = self.by_site[site]
        index = next((at for at, (_, other) in enumerate(options) if other == value), None)
        self._note(site, path, options, index, is_structural, is_goal)
        return value

    def _note(
        self,
        site: str,
        path: str,
        options: tuple[Option, ...],
        index: int | None,
        is_structural: bool,
        is_goal: bool,
    ) -> None:
        choice = Choice(
            site=site,
            path=path,
            options=options,
            taken=index,
            is_structural=is_structural,
            is_goal=is_goal,
        )
        self.made.append(choice)

    @property
    def covers(self) -> tuple[str, ...]:
        """What a value shows that was made so, each once."""
        names = [choice.covers for choice in self.made]
        return tuple(dict.fromkeys((*(name for name in names if name is not None), *self.seen)))


def index_in(path: str) -> int:
    """Return how far along its lists a place is: items of a list differ by it."""
    return sum(int(index) for index in _INDEX.findall(path))
