"""Text to checked model: source, syntax tree, model, rules; each stage adds to one report."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from wiregen.generate.backends import Subject
from wiregen.language.checker import check
from wiregen.language.config import Config
from wiregen.language.diagnostics import Report, did_you_mean
from wiregen.language.examples.checking import check_examples
from wiregen.language.locks import read_lock
from wiregen.language.parser import parse
from wiregen.language.resolver import Resolved, resolve
from wiregen.language.source import (
    MAX_NAMED,
    SUFFIX,
    Source,
    Sources,
    as_shown,
    available,
    load,
    shipped_protocols,
)

__all__ = [
    "as_shown",
    "check_resolved",
    "check_source",
    "find_protocol",
    "load_protocol",
    "protocol_files",
    "source_files",
]

_BETWEEN_COLLECTIONS: Final = 50_000
"""New objects between two collections of cycles during compilation.

Python's own 700 costs 40 % of the time of large files.
"""


@contextmanager
def _rare_collections() -> Iterator[None]:
    """Collect cycles less often: trees and models have no cycles, and live until the end."""
    before = gc.get_threshold()
    if 0 < before[0] < _BETWEEN_COLLECTIONS:
        gc.set_threshold(_BETWEEN_COLLECTIONS, *before[1:])
    try:
        yield
    finally:
        gc.set_threshold(*before)


@_rare_collections()
def load_protocol(path: Path, sources: Sources, report: Report, roots: tuple[Path, ...]) -> Subject | None:
    """Return the checked protocol of a file; otherwise report at least one error and return None.

    `roots` are the folders that imports may lead into, in addition to the file's own folder. If the file is
    below a root, it must also be below one after links are followed; a file elsewhere was named by the user.
    """
    of_project = roots if any(path.absolute().is_relative_to(root) for root in roots) else None
    source = load(path, sources, report, roots=of_project)
    return None if source is None else check_source(source, sources, report, roots)


def check_source(source: Source, sources: Sources, report: Report, roots: tuple[Path, ...]) -> Subject | None:
    """Return the checked protocol of a text, or report at least one error and return None; see `load_protocol`."""
    file = parse(source, report)
    roots = (source.path.parent, *roots)
    resolved = resolve(file, sources, report, roots=roots) if file is not None else None
    return None if resolved is None else check_resolved(resolved, source.path, report)


def check_resolved(resolved: Resolved, path: Path, report: Report) -> Subject | None:
    """Return the checked protocol of a model without errors, or report at least one error and return None."""
    findings = Report()
    check(resolved.protocol, resolved.origins, findings)
    if not findings.has_errors:
        check_examples(resolved.protocol, resolved.origins, findings)
        _check_conversations(resolved, findings)
    report.merge(findings)
    if findings.has_errors:
        return None
    name = f"{path.absolute().parent.name}/{path.name}"
    return Subject(
        protocol=resolved.protocol,
        origins=resolved.origins,
        source=name,
        mentioned=resolved.mentioned,
        lock=read_lock(path, report),
        workspace=resolved.workspace,
    )


def _check_conversations(resolved: Resolved, report: Report) -> None:
    """Report wrong conversations; the code that runs sessions is imported only if the file has conversations."""
    if resolved.protocol.conversations:
        from wiregen.language.examples.conversations import check_conversations

        check_conversations(resolved.protocol, resolved.origins, report)


def source_files(config: Config) -> tuple[Path, ...]:
    """Return the .wire files of the configuration's sources by name; of equal names, that of the first source."""
    files = {path.stem: path for folder in reversed(config.sources) for path in folder.glob(f"*{SUFFIX}")}
    return tuple(files[name] for name in sorted(files))


def protocol_files(config: Config) -> tuple[Path, ...]:
    """Return the files of the protocols that the configuration selects for a build, or all of its sources by default.

    A name that the sources lack is that of a protocol shipped with wiregen.
    """
    files = {path.stem: path for path in source_files(config)}
    names = tuple(files) if config.protocols is None else config.protocols
    shipped = shipped_protocols()
    chosen = (files.get(name, shipped / f"{name}{SUFFIX}") for name in names)
    found = files.values()  # an unreadable file is an error, and never left out
    return tuple(path for path in chosen if path in found or path.is_file())


def find_protocol(name: str, config: Config, report: Report) -> Path | None:
    """Return the file of a name: a path to a .wire file, a protocol of the sources, or one shipped with wiregen."""
    if name.endswith(SUFFIX):
        return Path(name)
    folders = (*config.sources, shipped_protocols())
    for folder in folders:
        path = folder / f"{name}{SUFFIX}"
        if path.is_file():
            return path
    if Path(name).is_dir():
        help_ = "give files or names: " + (", ".join(available((Path(name),))[:MAX_NAMED]) or "it has none")
        report.error("WG5003", f"`{name}` is a folder, not a protocol", None, help=help_)
        return None
    known = sorted({path.stem for folder in folders for path in folder.glob(f"*{SUFFIX}")})
    help_ = did_you_mean(name, known) or f"known here: {', '.join(known)}; or give a path to a .wire file"
    report.error("WG5003", f"there is no protocol `{name}`", None, help=help_)
    return None
