"""Names that nothing has: one diagnostic for all kinds of them, with the nearest known name."""

from collections.abc import Iterable

from wiregen.language import syntax
from wiregen.language.diagnostics import Report, did_you_mean

__all__ = ["report_unknown"]


def report_unknown(
    name: syntax.Name,
    what: str,
    candidates: Iterable[str],
    report: Report,
    *,
    inside: str | None = None,
    help_: str | None = None,
) -> None:
    """Report an unknown name, with the nearest known one; `inside` is where it was looked up."""
    known = () if report.is_full else tuple(candidates)
    report.offer(name.span, known)
    hint = None if report.is_full else did_you_mean(name.text, known) or help_
    message = f"there is no {what} `{name.text}`" + ("" if inside is None else f" in `{inside}`")
    report.error("WG2001", message, name.span, label="unknown", help=hint)
