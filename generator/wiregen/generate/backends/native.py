"""The native backend: the bytes of the document, as Python classes with straight-line codecs."""

from __future__ import annotations

from pathlib import PurePosixPath

from wiregen.generate.backends import Page, Subject
from wiregen.generate.views.python.module import ModuleBuilder
from wiregen.generate.views.python.sessions import sessions_view
from wiregen.language.diagnostics import Report
from wiregen.schema.copies import replace
from wiregen.schema.lowering import lower
from wiregen.schema.notation import dump

__all__ = ["NativeBackend"]


class NativeBackend:
    """Prints `__init__.py`, `messages.py`, `_plan.py` and, if wanted, `sessions.py` of a protocol's package; `aio.py` where it has sessions."""

    name = "native"
    requires = ""

    def pages(self, subject: Subject, report: Report) -> tuple[Page, ...]:
        """Return the pages; constructs without a straight-line form are left to the reference codec in them."""
        protocol = subject.protocol
        view = ModuleBuilder(protocol, dump(lower(protocol)), subject.source).build()
        view = replace(view, has_connections=subject.has_connections)
        views: dict[str, object] = {"__init__": view, "_plan": view, "messages": view}
        if subject.has_connections:
            sessions = sessions_view(protocol, view)
            views |= {"sessions": sessions} | ({"aio": sessions} if sessions.speaks else {})
        return tuple(
            Page(
                path=PurePosixPath(view.name, f"{module}.py"),
                template=f"python/package/{module}.py.jinja",
                view=each,
            )
            for module, each in views.items()
        )
