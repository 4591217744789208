"""The linter: named rules on a checked model, one function and one code per rule.

A listing informs and leaves notes; a finding is something to fix and leaves warnings. Only the declarations
of the file itself are checked: imported ones are linted in their own file.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from types import MappingProxyType
from typing import Final

from wiregen.language.diagnostics import Report, Span
from wiregen.language.linter import findings, listings
from wiregen.language.linter.inventory import Rule, Survey
from wiregen.schema.model import Protocol

__all__ = ["RULES", "Rule", "lint"]

RULES: Final[Mapping[str, Rule]] = MappingProxyType(
    {rule.name: rule for rule in (*listings.RULES, *findings.RULES)}
)
"""Every rule by its name."""


def lint(
    protocol: Protocol,
    origins: Mapping[str, Span],
    mentioned: Collection[str],
    report: Report,
    *,
    rules: Collection[str] = tuple(RULES),
) -> None:
    """Check a checked protocol against the rules of these names; `mentioned`: declarations that another one needs."""
    survey = Survey(protocol=protocol, origins=origins, mentioned=frozenset(mentioned), report=report)
    for name in RULES:
        if name in rules:
            RULES[name].apply(survey)
