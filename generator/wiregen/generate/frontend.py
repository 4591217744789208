"""Text to checked model: source, syntax tree, model, rules; each stage adds to one report."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from wiregen.generate.backends import Subject
from wiregen.language.checker import check
from wiregen.language.diagnostics import Report
from wiregen.language.examples.checking import check_examples
from wiregen.language.locks import read_lock
from wiregen.language.parser import parse
from wiregen.language.resolver import Resolved, resolve
from wiregen.language.source import Source, Sources, as_shown, load

__all__ = ["as_shown", "check_resolved", "check_source", "load_protocol"]

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
