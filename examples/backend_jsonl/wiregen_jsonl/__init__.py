"""The jsonl backend: the same message classes as lines of JSON, for logs and for people.

A line is the array that msgpack has, so views and conversions are wiregen's; bytes, which JSON has not, are {"base64": "…"}.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path, PurePosixPath

from wiregen.backends import Page, Subject
from wiregen.generate.views.msgpack.module import msgpack_view
from wiregen.language.diagnostics import Report
from wiregen.schema.value_shapes import carry

__all__ = ["JsonlBackend"]


class JsonlBackend:
    """Prints `jsonl.py` of a protocol's package."""

    name = "jsonl"
    requires = "msgspec>=0.19"

    def pages(self, subject: Subject, report: Report) -> tuple[Page, ...]:
        """Return the page."""
        view = msgpack_view(subject.protocol, carry(subject.protocol), subject.source)
        return (
            Page(
                path=PurePosixPath(view.api.name, "jsonl.py"),
                template="jsonl.py.jinja",
                view=replace(view, api=replace(view.api, title="JSON")),
                templates=Path(__file__).parent / "templates",
            ),
        )
