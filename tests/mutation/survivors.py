"""Faults that live, and why: by the form of their ids, for the same fault is made in every message."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

__all__ = ["KNOWN", "Survivors", "why"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Survivors:
    """Mutants that live.

    Attributes:
        ids: A pattern that the whole id matches.
        is_equivalent: Nobody could notice them; the others vectors miss.
    """

    ids: str
    reason: str
    is_equivalent: bool = False


KNOWN: Final[tuple[Survivors, ...]] = ()


def why(id_: str) -> Survivors | None:
    """Return why a mutant lives; None: nobody knows."""
    return next((known for known in KNOWN if re.fullmatch(known.ids, id_)), None)
