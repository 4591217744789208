"""The msgpack backend: the same message classes as bare arrays."""

from __future__ import annotations

from pathlib import PurePosixPath

from wiregen.generate.backends import Page, Subject
from wiregen.generate.backends.unsupported import refuse
from wiregen.generate.steps import UnsupportedError
from wiregen.generate.views.msgpack.module import msgpack_view
from wiregen.language.diagnostics import Report
from wiregen.schema.value_shapes import carry

__all__ = ["MsgpackBackend"]


class MsgpackBackend:
    """Prints `msgpack.py` of a protocol's package."""

    name = "msgpack"
    requires = "msgspec>=0.19"

    def pages(self, subject: Subject, report: Report) -> tuple[Page, ...]:
        """Return the page; report an error and return () for a construct that it cannot express."""
        try:
            view = msgpack_view(subject.protocol, carry(subject.protocol), subject.source)
        except UnsupportedError as error:
            refuse(error, subject, report)
            return ()
        path = PurePosixPath(view.api.name, "msgpack.py")
        return (Page(path=path, template="python/msgpack/msgpack.py.jinja", view=view),)
