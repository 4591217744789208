"""The columns backend: the table columns of a protocol's messages, for Arrow and its readers."""

from __future__ import annotations

from pathlib import PurePosixPath

from wiregen.generate.backends import Page, Subject
from wiregen.generate.views.arrow.module import columns_view
from wiregen.language.diagnostics import Report

__all__ = ["ColumnsBackend"]


class ColumnsBackend:
    """Prints `columns.py` of a protocol's package."""

    name = "columns"
    requires = "pyarrow>=15"

    def pages(self, subject: Subject, report: Report) -> tuple[Page, ...]:
        """Return the page; every construct has columns."""
        view = columns_view(subject.protocol, subject.source)
        path = PurePosixPath(view.name, "columns.py")
        return (Page(path=path, template="python/columns/columns.py.jinja", view=view),)
