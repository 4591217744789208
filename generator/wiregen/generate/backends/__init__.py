"""Backends: one serialization or artefact each, found by entry point in the group `wiregen.backends`.

A backend is a class that is created without arguments. It has a `name` and returns pages: each says which
template prints which view into which file of the protocol's package. It reads the model and decides nothing
about the language.
"""

from __future__ import annotations

import os
import traceback
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Protocol

from wiregen.language.diagnostics import Report, Span, did_you_mean

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

    from wiregen.language.proto_options import FileOption
    from wiregen.language.resolver import Workspace
    from wiregen.schema import model as m

__all__ = ["BESIDE", "GROUP", "Backend", "Page", "Subject", "blamed", "is_ours", "load_backends", "pages_of"]

GROUP = "wiregen.backends"
BESIDE = "beside"


@dataclass(frozen=True, slots=True, kw_only=True)
class Subject:
    """The input of a backend: a checked protocol, the places of its nodes, and the name of its file.

    `mentioned`: the declarations that another one in the file needs. `lock`: the text that a backend wrote
    next to the .wire file in a former build, or "". `package`: the Python package of all protocols.
    `has_connections`: the package gets `Connection` and `Session`. `proto_options`: those of the .proto file.
    `workspace`: the names of the file, for questions.
    """

    protocol: m.Protocol
    origins: Mapping[str, Span]
    source: str
    mentioned: frozenset[str] = frozenset()
    lock: str = ""
    package: str = "wireproto"
    has_connections: bool = True
    proto_options: tuple[FileOption, ...] = ()
    workspace: Workspace | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Page:
    """An output file: `path` below the Python package of all protocols, printed by `template` from `view`.

    `place` replaces the package by another folder: one of the tree, or BESIDE the .wire file, for a lock.
    `templates` is the folder of a third-party backend, whose templates may include wiregen's own.
    """

    path: PurePosixPath
    template: str
    view: object
    place: str | None = None
    templates: Path | None = None


class Backend(Protocol):
    """The interface that a third party implements to add a serialization.

    `requires` is the distribution that the printed modules import, for an extra of the backend's name; "" if
    there is none.
    """

    name: str
    requires: str

    def pages(self, subject: Subject, report: Report) -> tuple[Page, ...]:
        """Return the pages of one protocol; constructs that cannot be printed are reported."""


def load_backends(names: tuple[str, ...], report: Report) -> tuple[Backend, ...]:
    """Return the backends of these names; only they are imported."""
    from importlib.metadata import entry_points

    found = {point.name: point for point in entry_points(group=GROUP)}
    backends: list[Backend] = []
    for name in names:
        if name in found:
            backends.extend(_load(found[name], report))
        else:
            known = ", ".join(sorted(found)) or "none"
            report.error(
                "WG5002",
                f"unknown backend `{name}`",
                None,
                help=did_you_mean(name, found) or f"the installed backends are {known}",
            )
    return tuple(backends)


def _load(point: EntryPoint, report: Report) -> Iterator[Backend]:
    """Yield the backend of an entry point; report an error if its code, which may be a third party's, fails."""
    try:
        backend: Backend = point.load()()
        if not (callable(backend.pages) and isinstance(backend.requires, str)):
            raise TypeError("`pages` is not a method, or `requires` is not a text")
        if backend.name != point.name:
            raise TypeError(f"it calls itself `{backend.name}`")
    except Exception as error:  # noqa: BLE001 - importing it can raise anything
        report.error(
            "WG5005",
            f"the backend `{point.name}` cannot be loaded: {type(error).__name__}: {error}",
            None,
            help=f"install a version of it that fits this wiregen; it is `{point.value}`",
        )
    else:
        yield backend


def pages_of(backend: Backend, subject: Subject, report: Report) -> tuple[Page, ...]:
    """Return the pages of one protocol; report an error and return () if a third-party backend fails."""
    pages: tuple[Page, ...] = ()
    with blamed(backend, subject.protocol.name, report):
        pages = tuple(backend.pages(subject, report))
        strange = next((page for page in pages if not isinstance(page, Page)), None)
        if strange is not None:
            pages = ()
            raise TypeError(f"`pages` gave a {type(strange).__name__} that is not a Page")
    return pages


def is_ours(backend: Backend) -> bool:
    """Return whether a backend is part of wiregen, so that its errors are bugs."""
    return type(backend).__module__.startswith("wiregen.")


@contextmanager
def blamed(backend: Backend, work: str, report: Report) -> Iterator[None]:
    """Report exceptions of a third-party backend in the block; those of wiregen's own backends pass through as bugs."""
    try:
        yield
    except (Exception, SystemExit) as error:
        if is_ours(backend) or os.environ.get("WIREGEN_DEBUG") == "1":
            raise
        last = _last_line(error)
        report.error(
            "WG5006",
            f"the backend `{backend.name}` failed at {work}: {last}",
            None,
            help=f"report to its authors that it failed {_place(error)}, or remove it from `backends`",
        )


def _last_line(error: BaseException) -> str:
    """Return class and text of an exception in one line, without its notes, which follow that line."""
    n_behind: int = sum(note.count("\n") + 1 for note in getattr(error, "__notes__", ()))
    return traceback.format_exception_only(error)[-1 - n_behind].strip()[:300]


def _place(error: BaseException) -> str:
    """Return the line of the backend that failed: the innermost one outside wiregen and the template engine."""
    frames = traceback.extract_tb(error.__traceback__)
    ours = Path(__file__).resolve().parents[2]
    paths = {frame.filename: Path(frame.filename) for frame in frames}
    others = {name for name, path in paths.items() if path.is_relative_to(ours) or "jinja2" in path.parts}
    frame = ([frame for frame in frames if frame.filename not in others] or frames)[-1]
    return f"in {Path(frame.filename).name}:{frame.lineno}" + (f", `{frame.line}`" if frame.line else "")
