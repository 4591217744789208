"""Changes between two states of a protocol: a code and a level each, and the declaration that they concern."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass
from typing import Final, Literal, TypeAlias, get_args

from wiregen.language.diagnostics import Report, Span

__all__ = ["LEVELS", "Change", "Level", "level_of", "report_changes"]

Level: TypeAlias = Literal["wire", "api", "session", "defaults"]
LEVELS: Final[tuple[Level, ...]] = get_args(Level)
_HUNDREDS: Final[Mapping[str, Level]] = {"WG80": "wire", "WG81": "api", "WG82": "session", "WG83": "defaults"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """A change that others may notice.

    `path`: the node in the new model, or the nearest one that contains what was removed. `effect`: on bytes or callers.
    """

    code: str
    path: str
    message: str
    effect: str = ""


def level_of(code: str) -> Level:
    """Return the level of a code, which its third digit is."""
    return _HUNDREDS[code[:4]]


def report_changes(
    changes: Iterable[Change],
    origins: Mapping[str, Span],
    report: Report,
    *,
    levels: Collection[Level],
    proof: Callable[[Change], str | None],
) -> None:
    """Add an error for each change of the levels, and a note for each other one; `proof` gives the help of changes of the wire."""
    for change in changes:
        add = report.error if level_of(change.code) in levels else report.note
        help_ = proof(change) if level_of(change.code) == "wire" else None
        add(change.code, change.message, _place(change.path, origins), label=change.effect, help=help_)


def _place(path: str, origins: Mapping[str, Span]) -> Span | None:
    """Return the place of a node, or of the nearest one around it that has one."""
    while path:
        found = origins.get(f"{path}#name") or origins.get(path)
        if found is not None:
            return found
        path = path.rpartition(".")[0]
    return None
