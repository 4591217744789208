"""Findings about allowances: one that suppresses nothing, that names no rule, or that has no reason. They cannot be suppressed."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from wiregen.language.diagnostics import did_you_mean
from wiregen.language.linter import findings, listings
from wiregen.language.linter.allowances import Allowance
from wiregen.language.linter.inventory import LintRule, Survey

__all__ = ["RULES", "SUPPRESSIBLE"]

SUPPRESSIBLE: Final = (*listings.RULES, *findings.RULES)
_WORDS: Final = frozenset(word for rule in SUPPRESSIBLE for word in (rule.name, rule.code.lower()))
_FORM: Final = "write `// wiregen: allow(RULE) reason`"


def _unused(survey: Survey) -> None:
    for each in survey.allowances.listed:
        if each.name in _WORDS and each not in survey.used:
            name = each.name.upper() if each.name.startswith("wg") else each.name
            message = f"`allow({name})` suppresses nothing"
            survey.report.warning("WG7015", message, each.span, help="remove it")


def _unknown(survey: Survey) -> None:
    names = tuple(rule.name for rule in SUPPRESSIBLE)
    for each in _strangers(survey):
        help_ = did_you_mean(each.name, names) or f"the rules are {', '.join(names)}"
        message = f"there is no rule `{each.name}` to suppress"
        survey.report.warning("WG7016", message, each.span, help=help_)


def _bare(survey: Survey) -> None:
    for each in survey.allowances.bare:
        message = "the suppression has no reason" if each.is_read else "this comment suppresses nothing"
        survey.report.warning("WG7017", message, each.span, help=_FORM)


def _strangers(survey: Survey) -> Iterator[Allowance]:
    return (each for each in survey.allowances.listed if each.name not in _WORDS)


RULES = (
    LintRule(name="unused-allow", code="WG7015", is_listing=False, apply=_unused),
    LintRule(name="unknown-allow", code="WG7016", is_listing=False, apply=_unknown),
    LintRule(name="bare-allow", code="WG7017", is_listing=False, apply=_bare),
)
