"""Listings: assumptions of a file, departures from its document, deprecated parts, rules that are not checked."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from wiregen.language.diagnostics import error_codes
from wiregen.language.linter.inventory import LintRule, Survey
from wiregen.schema.model import Violates

__all__ = ["RULES"]

_QUOTED: Final = re.compile(r"`([a-z_]+)`")


def _assumed(survey: Survey) -> None:
    for node in survey.nodes:
        if node.notes.assumed is not None:
            survey.note("WG7001", f"{node.shown} is assumed: {node.notes.assumed}", node)


def _errata(survey: Survey) -> None:
    for node in survey.nodes:
        if node.notes.errata is not None:
            survey.note("WG7002", f"{node.shown} departs from the document: {node.notes.errata}", node)


def _deprecated(survey: Survey) -> None:
    for node in survey.nodes:
        if node.notes.deprecated is not None:
            survey.note("WG7003", f"{node.shown} is deprecated: {node.notes.deprecated}", node)


def _untied_rule(survey: Survey) -> None:
    codes = frozenset(error_codes())
    tied = codes.union(_tied(survey))
    texts = {rule.path: rule for rule in survey.protocol.rules}
    for node in survey.nodes:
        rule = texts.get(node.path)
        if rule is None or rule.name in tied or codes.intersection(_QUOTED.findall(rule.text)):
            continue
        help_ = "name it in a `@rule` or `violates`, or mention the code of its error in its text"
        survey.note("WG7004", f"{node.shown} is not tied to a check", node, help_=help_)


def _tied(survey: Survey) -> Iterator[str]:
    """Yield the rules whose names errors carry: those of annotations, and those that sessions name as violated."""
    if survey.protocol.role_rule is not None:
        yield survey.protocol.role_rule
    for node in survey.all_nodes:
        if node.notes.rule is not None:
            yield node.notes.rule
    for session in survey.protocol.sessions:
        effects = (*(row.effect for row in session.rows), *(timer.effect for timer in session.timers))
        yield from (effect.name for effect in effects if isinstance(effect, Violates))


RULES = (
    LintRule(name="assumed", code="WG7001", is_listing=True, apply=_assumed),
    LintRule(name="errata", code="WG7002", is_listing=True, apply=_errata),
    LintRule(name="deprecated", code="WG7003", is_listing=True, apply=_deprecated),
    LintRule(name="untied-rule", code="WG7004", is_listing=True, apply=_untied_rule),
)
