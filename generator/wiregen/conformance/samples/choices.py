"""The choices in a value, and the object that makes them.

A choice has a site, which is a place in the .wire file (`Pair.key`), and a path, which is a place in one value
(`Frame.Data.pairs[1].key`). Sites are what coverage speaks of, paths are what a decision is about.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final, TypeAlias

from wiregen.runtime.schema.types import Type

__all__ = ["CONTEXT", "SHARED", "Choices", "MadeChoice", "Option", "UngrownError", "index_in"]

Option: TypeAlias = tuple[str, Any]
"""The name of an option, and its value."""
SHARED: Final = "every "
"""Prefix of the name of an option that is shown once, at any site."""

CONTEXT: Final = "context "
"""Prefix of the site of an entry of a context."""

_INDEX: Final = re.compile(r"\[(\d+)\]")


class UngrownError(Exception):
    """The choices so far lead to no value."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MadeChoice:
    """A choice that was made.

    Attributes:
        is_structural: The rest of the value depends on it.
        is_goal: Each of its options must be shown by some vector.
    """

    site: str
    path: str
    options: tuple[Option, ...]
    taken: int | None
    is_structural: bool
    is_goal: bool

    @property
    def covers(self) -> str | None:
        """The name of the option that was taken, or None if a demanded value is not an option or the choice
        is not a goal.
        """
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
    """Makes the choices of one value.

    Attributes:
        wave: The index of the option for each choice that does not affect others; the first one if there
            are fewer.
        by_path: Indexes of the options that are demanded, by place in the value.
        by_site: Values that are demanded at each occurrence of a site.
        deep: Levels of a declaration in itself from which it is ended.
        cuts_regions: Regions may be so small that optional fields at their end are absent.
        made: All choices, in the order in which they came up.
        seen: Branches that were taken without being a choice.
        is_in_vain: The demanded options lead to no value, whatever the other choices are.
    """

    wave: int = 0
    by_path: Mapping[str, int] = field(default_factory=dict)
    by_site: Mapping[str, Any] = field(default_factory=dict)
    deep: int = 2
    cuts_regions: bool = False
    made: list[MadeChoice] = field(default_factory=list)
    seen: list[str] = field(default_factory=list)
    is_in_vain: bool = False

    def choose(
        self,
        site: str,
        path: str,
        options: tuple[Option, ...],
        *,
        is_structural: bool = False,
        is_goal: bool = True,
    ) -> Any:
        """Return the value of the option that is taken."""
        if not options:
            raise UngrownError(f"no value is possible at {path}")
        if self._is_demanded(site, options, is_structural=is_structural):
            return self._demanded(site, path, options, is_structural, is_goal)
        index = self._index(path, options, is_structural=is_structural, is_goal=is_goal)
        self._note(site, path, options, index, is_structural, is_goal)
        return options[index][1]

    def preferred_options(self, name: str, type_: Type) -> tuple[Option, ...]:
        """Return options of a field called `name` that come before its boundary values."""
        return ()

    def more_options(self, type_: Type) -> tuple[Option, ...]:
        """Return options of a type besides its boundary values."""
        return ()

    def _is_demanded(self, site: str, options: tuple[Option, ...], *, is_structural: bool) -> bool:
        return site in self.by_site

    def _index(self, path: str, options: tuple[Option, ...], *, is_structural: bool, is_goal: bool) -> int:
        count = len(options)
        if path in self.by_path:
            return min(self.by_path[path], count - 1)
        wave = 0 if is_structural else self.wave
        index = wave + index_in(path) if wave else 0
        return index if index < count else 0

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
        choice = MadeChoice(
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
        """The names of the options that the value shows, each once."""
        names = [choice.covers for choice in self.made]
        return tuple(dict.fromkeys((*(name for name in names if name is not None), *self.seen)))


def index_in(path: str) -> int:
    """Return the sum of the indexes in a path, by which the items of a list differ."""
    return sum(int(index) for index in _INDEX.findall(path))
