"""The record of what a build wrote, by path and hash; the next build trusts it no further than its hashes."""

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path, PurePosixPath
from typing import Final

from wiregen import __version__
from wiregen.generate.writer.paths import MANIFEST, path_fault
from wiregen.language.regular_files import read_regular

MAX_MANIFEST_SIZE: Final = 64 * 2**20
MAX_FILE_SIZE: Final = 256 * 2**20
"""Bytes; a larger file is none that a build wrote."""


def manifest(hashes: Mapping[str, str]) -> bytes:
    """Return the manifest's text."""
    data = {"wiregen": __version__, "files": dict(sorted(hashes.items()))}
    return (json.dumps(data, indent=1) + "\n").encode()


def read_manifest(folder: Path) -> dict[str, str]:
    """Return hashes by path; empty where there is no manifest, or none that can be read."""
    try:
        return files_of(read_regular(folder / MANIFEST, MAX_MANIFEST_SIZE, follow_links=False))
    except OSError:
        return {}


def files_of(content: bytes) -> dict[str, str]:
    """Return hashes by path of a manifest's text; empty where it is not one. Paths that no build writes are left out."""
    try:
        files = json.loads(content)["files"].items()
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return {}
    paths = ((PurePosixPath(name), hash_) for name, hash_ in files)
    return {str(path): hash_ for path, hash_ in paths if isinstance(hash_, str) and path_fault(path) is None}


def hash_of(content: bytes) -> str:
    """Return the hash by which the manifest knows a content."""
    return hashlib.sha256(content).hexdigest()


def hash_of_file(path: Path) -> str | None:
    """Return the hash of a file's content; None where it is not regular, a link, or larger than any generated file."""
    try:
        return hash_of(read_regular(path, MAX_FILE_SIZE, follow_links=False))
    except OSError:
        return None
