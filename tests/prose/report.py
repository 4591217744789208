"""Findings and counts by kind and rule, and the limits that they must stay below."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Final, NamedTuple

from .exceptions import Exceptions
from .paragraph import Kind, Paragraph
from .rules import LONG, RULES, broken

__all__ = ["MIN_WORDS", "Finding", "Report", "check", "limit"]

MIN_WORDS: Final = 3
"""A shorter text is a name or a label; it does not count as a paragraph."""


class Finding(NamedTuple):
    """A sentence that breaks a rule."""

    path: str
    line: int
    rule: str
    text: str
    kind: Kind

    def __str__(self) -> str:
        return f"{self.path}:{self.line}: {self.rule}: {' '.join(self.text.split())}"


@dataclass(slots=True, kw_only=True)
class Report:
    """The result of a check.

    Attributes:
        n_paragraphs: The paragraphs that were read, by kind.
    """

    n_paragraphs: Counter[Kind] = field(default_factory=Counter)
    findings: list[Finding] = field(default_factory=list)

    def count(self, kind: Kind, rule: str) -> int:
        return sum((finding.kind, finding.rule) == (kind, rule) for finding in self.findings)

    def exceeds(self, kind: Kind, rule: str) -> bool:
        """Return whether so many paragraphs of a kind break a rule that the check fails."""
        n_found = self.count(kind, rule)
        return n_found > 0 and n_found >= limit(rule) * self.n_paragraphs[kind]

    @property
    def failures(self) -> Iterator[tuple[Kind, str]]:
        """Kinds and rules for which the check fails."""
        for kind in Kind:
            for rule in RULES:
                if self.exceeds(kind, rule):
                    yield kind, rule

    def table(self, *, shows_all: bool) -> Iterator[str]:
        """Yield the counts as lines: those of each kind, and below it those of the rules, all or above the limit."""
        for kind in Kind:
            if not self.n_paragraphs[kind]:
                continue
            counts = Counter({rule: self.count(kind, rule) for rule in RULES})
            yield f"{kind.value}: {self.n_paragraphs[kind]} paragraphs, {counts.total()} findings"
            for rule, count in counts.most_common():
                if self.exceeds(kind, rule) or (count and shows_all):
                    mark = f", must be below {limit(rule):.1%}" if self.exceeds(kind, rule) else ""
                    yield f"{count:6}  {count / self.n_paragraphs[kind]:6.2%}  {rule}{mark}"


def limit(rule: str) -> float:
    """Return the share of paragraphs at which a rule fails."""
    return 0.005 if rule == LONG else 0.01


def check(paragraphs: Iterable[Paragraph], exceptions: Exceptions) -> Report:
    """Return the counts and findings of texts, without the sentences that are on the list of exceptions."""
    report = Report()
    for paragraph in paragraphs:
        if paragraph.n_words < MIN_WORDS and not paragraph.is_reason:
            continue
        report.n_paragraphs[paragraph.kind] += 1
        for rule, sentence in broken(paragraph):
            if not exceptions.excuse(paragraph.path, rule, sentence):
                report.findings.append(
                    Finding(paragraph.path, sentence.line, rule, sentence.text, paragraph.kind)
                )
    return report
