"""The error of serializations other than the native one about a construct that they have no code for."""

from __future__ import annotations

from wiregen.generate.backends import Subject
from wiregen.generate.steps import UnsupportedError
from wiregen.language.diagnostics import Report

__all__ = ["refuse"]


def refuse(error: UnsupportedError, subject: Subject, report: Report) -> None:
    """Report a construct at the place that needs it."""
    path, construct = error.unsupported.path, error.unsupported.construct
    report.error(
        "WG5013",
        f"only the native serialization can carry {construct}",
        subject.origins.get(path),
        label="needed here",
        help="write its default as a plain value, or remove the backend",
    )
