"""The Kaitai backend: a `.ksy` file for each role of a protocol."""

from __future__ import annotations

from pathlib import PurePosixPath

from wiregen.generate.backends import Page, Subject
from wiregen.generate.views.kaitai.module import kaitai_views
from wiregen.language.diagnostics import Report

__all__ = ["KaitaiBackend"]


class KaitaiBackend:
    """Prints `kaitai/<protocol>/<protocol>_<role>.ksy`: the bytes of one direction of a connection for Kaitai Struct."""

    name = "kaitai"
    requires = ""

    def pages(self, subject: Subject, report: Report) -> tuple[Page, ...]:
        """Return the pages; the head of each file lists the constructs that Kaitai cannot say."""
        return tuple(
            Page(
                path=PurePosixPath(view.protocol, f"{view.id}.ksy"),
                template="kaitai/protocol.ksy.jinja",
                view=view,
                place="kaitai",
            )
            for view in kaitai_views(subject.protocol, subject.source)
        )
