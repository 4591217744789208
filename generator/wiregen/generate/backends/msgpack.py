"""The msgpack backend: the same message classes as bare arrays."""

from __future__ import annotations

from pathlib import PurePosixPath

from wiregen.generate.backends import Page, Subject
from wiregen.generate.views.msgpack.module import msgpack_view
from wiregen.language.diagnostics import Report
from wiregen.schema.value_shapes import carry

__all__ = ["MsgpackBackend"]


class MsgpackBackend:
    """Prints `msgpack.py` of a protocol's package."""

    name = "msgpack"
    requires = "msgspec>=0.19"

    def pages(self, subject: Subject, report: Report) -> tuple[Page, ...]:
        """Return the page."""
        view = msgpack_view(subject.protocol, carry(subject.protocol), subject.source)
        path = PurePosixPath(view.api.name, "msgpack.py")
        return (Page(path=path, template="python/msgpack/msgpack.py.jinja", view=view),)
