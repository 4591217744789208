"""The linter: named rules on a checked model, one function and one code per rule.

A listing says what a reader wants to know of a file and leaves notes; a finding is something to mend and leaves warnings.
Only what the file itself declares is looked at: what it imports is linted where it is written.
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
    """Hold a checked protocol against the rules of these names; `mentioned` are the declarations that something needs."""
    survey = Survey(protocol=protocol, origins=origins, mentioned=frozenset(mentioned), report=report)
    for name in RULES:
        if name in rules:
            RULES[name].apply(survey)
