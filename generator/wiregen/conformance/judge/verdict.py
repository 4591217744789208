"""The verdict about a vector and an implementation."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

__all__ = ["Finding", "Outcome", "Verdict"]

Outcome: TypeAlias = Literal["passed", "failed", "skipped"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """A check that failed: its name, the expected answer and the found one."""

    check: str
    expected: str
    found: str

    def __str__(self) -> str:
        return f"{self.check}: expected {self.expected}, found {self.found}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """The outcome of one vector.

    Attributes:
        findings: The failed checks, at most one per kind of check.
        reason: Why the vector was skipped.
    """

    id: str
    outcome: Outcome
    findings: tuple[Finding, ...] = ()
    reason: str = ""
