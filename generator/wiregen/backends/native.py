"""The native backend: the bytes of the document, as Python classes with straight-line codecs."""

from __future__ import annotations

from pathlib import PurePosixPath

from wiregen.backends import Page, Subject
from wiregen.diagnostics import Report
from wiregen.plan import UnsupportedError, lower
from wiregen.views.python_module import ModuleBuilder
from wiregen.views.python_sessions import sessions_view

__all__ = ["NativeBackend"]


class NativeBackend:
    """Prints `__init__.py`, `messages.py`, `sessions.py` and `_plan.py` of a protocol's package."""

    name = "native"
    requires = ""

    def pages(self, subject: Subject, report: Report) -> tuple[Page, ...]:
        """Return the four pages, or none and one error for a construct that has no straight-line form."""
        protocol = subject.protocol
        try:
            view = ModuleBuilder(protocol, lower(protocol), subject.source).build()
        except UnsupportedError as error:
            self._refuse(error, subject, report)
            return ()
        views = {"__init__": view, "_plan": view, "messages": view, "sessions": sessions_view(protocol, view)}
        return tuple(
            Page(
                path=PurePosixPath(view.name, f"{module}.py"),
                template=f"python/package/{module}.py.jinja",
                view=each,
            )
            for module, each in views.items()
        )

    @staticmethod
    def _refuse(error: UnsupportedError, subject: Subject, report: Report) -> None:
        path, construct = error.unsupported.path, error.unsupported.construct
        report.error(
            "WG5001",
            f"the native backend has no straight-line code for {construct}",
            subject.origins.get(path),
            label="needed here",
            help=f"`wiregen decode` and `encode` read `{subject.protocol.name}` without a build: give them the .wire file",
        )
