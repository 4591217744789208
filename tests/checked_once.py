"""The shipped protocols, which hundreds of tests have a command load: a process checks each of them once."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from wiregen.generate.backends import Subject
from wiregen.language.diagnostics import Report
from wiregen.language.source import Source, Sources

__all__ = ["remembering"]

IDL = Path(__file__).resolve().parents[1] / "idl"


class Check(Protocol):
    """`frontend.check_source`."""

    def __call__(
        self, source: Source, sources: Sources, report: Report, roots: tuple[Path, ...]
    ) -> Subject | None: ...


def remembering(check: Check) -> Check:
    """Return a check of texts that remembers the files of `idl/` without errors, and the notes on them.

    They import nothing, so their text says it all. A report of an editor, which keeps more than findings, is filled anew.
    """
    known: dict[Source, _Checked] = {}

    def checked(source: Source, sources: Sources, report: Report, roots: tuple[Path, ...]) -> Subject | None:
        if type(report) is not Report or source.path.absolute().parent != IDL:
            return check(source, sources, report, roots)
        if source not in known:
            found = Report()
            subject = check(source, sources, found, roots)
            if subject is None:
                report.merge(found)
                return None
            known[source] = _Checked(subject, found)
        report.merge(known[source].found)
        return known[source].subject

    return checked


@dataclass(frozen=True, slots=True)
class _Checked:
    """A protocol, and the notes on it."""

    subject: Subject
    found: Report
