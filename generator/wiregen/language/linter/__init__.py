"""The linter: named rules on a checked model, one function and one code per rule.

A listing informs and leaves notes; a finding is something to fix and leaves warnings. Only the declarations
of the file itself are checked: imported ones are linted in their own file. A comment `// wiregen: allow(RULE) reason`
suppresses the findings of a line.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import replace
from types import MappingProxyType
from typing import Final

from wiregen.language.diagnostics import Report, SourceTexts, Span
from wiregen.language.linter import allowance_rules
from wiregen.language.linter.allowance_rules import SUPPRESSIBLE
from wiregen.language.linter.allowances import NO_ALLOWANCES, Allowances, read_allowances
from wiregen.language.linter.fixes import FIXABLE, fixed
from wiregen.language.linter.inventory import LintRule, Survey
from wiregen.schema.model import Protocol

__all__ = ["FIXABLE", "RULES", "Rule", "fixed", "lint"]

RULES: Final[Mapping[str, LintRule]] = MappingProxyType(
    {rule.name: rule for rule in (*SUPPRESSIBLE, *allowance_rules.RULES)}
)
"""Every rule by its name."""
_NAMES: Final[Mapping[str, str]] = {rule.code: rule.name for rule in SUPPRESSIBLE}


def lint(
    protocol: Protocol,
    origins: Mapping[str, Span],
    mentioned: Collection[str],
    sources: SourceTexts,
    report: Report,
    *,
    rules: Collection[str] = tuple(RULES),
) -> None:
    """Check a checked protocol against the rules of these names.

    Args:
        mentioned: Declarations that another one needs.
        sources: The texts of the run: that of the protocol has comments that suppress findings.
    """
    survey = Survey(
        protocol=protocol,
        origins=origins,
        mentioned=frozenset(mentioned),
        sources=sources,
        allowances=_allowances(protocol, origins, sources),
        report=Report(),
    )
    for rule in SUPPRESSIBLE:
        if rule.name in rules or ("unused-allow" in rules and survey.allowances.listed):
            rule.apply(survey)
    allowed = {
        diagnostic: survey.allowances.of(diagnostic, _NAMES[diagnostic.code])
        for diagnostic in survey.report.diagnostics
    }
    used = frozenset(allowance for allowance in allowed.values() if allowance is not None)
    report.merge(survey.report.only(lambda each: allowed[each] is None and _NAMES[each.code] in rules))
    for rule in allowance_rules.RULES:
        if rule.name in rules:
            rule.apply(replace(survey, used=used, report=report))


def _allowances(protocol: Protocol, origins: Mapping[str, Span], sources: SourceTexts) -> Allowances:
    file = origins.get(protocol.path)
    source = None if file is None else sources.get(file.source)
    return NO_ALLOWANCES if file is None or source is None else read_allowances(file.source, source)
