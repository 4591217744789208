"""Diagnostics: messages with their places, which every stage adds to one Report."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Literal

Severity = Literal["error", "warning", "note"]

MAX_OF_A_SEVERITY = 1000
"""Diagnostics kept of each severity: a hostile file may be wrong on every character."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Span:
    """A stretch of a source's text, in characters; `end` is exclusive."""

    source: str
    start: int
    end: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Label:
    """A second place that a diagnostic refers to."""

    span: Span
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Diagnostic:
    """One finding; without `span` it does not belong to a place in a file."""

    code: str
    message: str
    span: Span | None
    label: str = ""
    others: tuple[Label, ...] = ()
    help: str | None = None
    severity: Severity = "error"


class Report:
    """The findings of one run; never printed by the stage that adds to it."""

    __slots__ = ("_has_errors", "_kept", "_n_dropped", "_n_kept")

    def __init__(self) -> None:
        self._kept: dict[Diagnostic, None] = {}
        self._n_kept: dict[Severity, int] = {"error": 0, "warning": 0, "note": 0}
        self._n_dropped = 0
        self._has_errors = False

    def error(
        self,
        code: str,
        message: str,
        span: Span | None,
        *,
        label: str = "",
        others: Iterable[Label] = (),
        help: str | None = None,
    ) -> None:
        """Add a finding that stops the build."""
        self._add_as("error", code, message, span, label, others, help)

    def warning(
        self,
        code: str,
        message: str,
        span: Span | None,
        *,
        label: str = "",
        others: Iterable[Label] = (),
        help: str | None = None,
    ) -> None:
        """Add a finding that does not stop the build."""
        self._add_as("warning", code, message, span, label, others, help)

    def note(
        self,
        code: str,
        message: str,
        span: Span | None,
        *,
        label: str = "",
        others: Iterable[Label] = (),
        help: str | None = None,
    ) -> None:
        """Add something worth knowing that asks for no change."""
        self._add_as("note", code, message, span, label, others, help)

    def add(self, diagnostic: Diagnostic) -> None:
        """Add one finding; an exact duplicate is kept once, and those above the bound are only counted."""
        severity = diagnostic.severity
        self._has_errors |= severity == "error"
        if diagnostic in self._kept:
            return
        if self._n_kept[severity] >= MAX_OF_A_SEVERITY:
            self._n_dropped += 1
            return
        self._n_kept[severity] += 1
        self._kept[diagnostic] = None

    def offer(self, span: Span, words: Iterable[str]) -> None:
        """Take the names that are known at the place of an unknown one. Only editors keep them."""

    def merge(self, other: "Report") -> None:
        """Add all findings of another report."""
        for diagnostic in tuple(other._kept):
            self.add(diagnostic)
        self._n_dropped += other._n_dropped

    def only(self, is_wanted: Callable[[Diagnostic], bool]) -> "Report":
        """Return the wanted ones of the findings that were kept, with the number of those that were not kept."""
        wanted = Report()
        for diagnostic in filter(is_wanted, self._kept):
            wanted.add(diagnostic)
        wanted._n_dropped += self._n_dropped
        return wanted

    @property
    def diagnostics(self) -> tuple[Diagnostic, ...]:
        """The findings by place, then code; those without a place come first.

        A warning about the very place of an error is left out: it may be gone with the error.
        """
        wrong = {each.span for each in self._kept if each.severity == "error" and each.span is not None}
        shown = (each for each in self._kept if each.severity != "warning" or each.span not in wrong)
        return tuple(sorted(shown, key=_place))

    @property
    def has_errors(self) -> bool:
        return self._has_errors

    @property
    def is_full(self) -> bool:
        """True when a further error would only be counted: a loop over findings may stop."""
        return self._n_kept["error"] >= MAX_OF_A_SEVERITY

    @property
    def n_dropped(self) -> int:
        """How many findings came after the bound and were not kept."""
        return self._n_dropped

    def _add_as(
        self,
        severity: Severity,
        code: str,
        message: str,
        span: Span | None,
        label: str,
        others: Iterable[Label],
        help_: str | None,
    ) -> None:
        self.add(
            Diagnostic(
                code=code,
                message=message,
                span=span,
                label=label,
                others=tuple(others),
                help=help_,
                severity=severity,
            )
        )


def _place(diagnostic: Diagnostic) -> tuple[str, int, str]:
    span = diagnostic.span
    return ("", -1, diagnostic.code) if span is None else (span.source, span.start, diagnostic.code)
