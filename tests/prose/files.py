"""The files of the repository, and the reader for the texts of each."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator, Sequence
from itertools import chain
from pathlib import Path, PurePosixPath
from typing import Final

from .markdown_text import pages
from .paragraph import Kind, Paragraph
from .python_text import comments, docstrings, messages
from .template_text import template_texts
from .wire_text import wire_texts

__all__ = ["has_prose", "texts_of", "tracked"]

_MADE: Final = ("generated/", "tests/cases/")
"""Folders of files that the compiler writes, or that hold its input on purpose."""
_SPEAKING: Final = ("generator/", "pipeline/", "examples/")
"""Folders whose literals are shown to users; in tests and benchmarks they are data."""
_DIAGNOSTICS: Final = ("generator/wiregen/language/", "generator/wiregen/tools/")
"""Folders whose literals are diagnostics of `.wire` files, and messages and help of the command."""


def tracked(root: Path, named: Sequence[str] = ()) -> tuple[str, ...]:
    """Return the files with prose that git knows, those below the named files and folders only.

    Raises:
        subprocess.CalledProcessError: A named file is not tracked.
    """
    command = ["git", "ls-files", "-z", "--error-unmatch", "--", *(named or ["."])]
    listed = subprocess.run(command, cwd=root, capture_output=True, text=True, check=True)
    return tuple(
        path for path in listed.stdout.split("\0") if path and has_prose(path) and (root / path).is_file()
    )


def has_prose(path: str) -> bool:
    """Return whether people wrote the sentences of a file of this name."""
    if path.startswith(_MADE):
        return False
    return path.startswith("templates/") or PurePosixPath(path).suffix in {
        ".py",
        ".md",
        ".wire",
        ".jinja",
        ".j2",
    }


def texts_of(path: str, text: str) -> Iterator[Paragraph]:
    """Yield the paragraphs of a file by its name."""
    suffix = PurePosixPath(path).suffix
    if path.startswith("templates/") or suffix in {".jinja", ".j2"}:
        return template_texts(path, text)
    match suffix:
        case ".md":
            return pages(path, text)
        case ".wire":
            return wire_texts(path, text)
        case _:
            return chain(docstrings(path, text), comments(path, text), _literals(path, text))


def _literals(path: str, text: str) -> Iterator[Paragraph]:
    if not path.startswith(_SPEAKING):
        return iter(())
    return messages(path, text, Kind.DIAGNOSTIC if path.startswith(_DIAGNOSTICS) else Kind.MESSAGE)
