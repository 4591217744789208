"""The record of a build's files, by path and hash; the next build trusts only its hashes."""

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
"""The size in bytes of the largest file that a build writes; larger ones come from elsewhere."""


def manifest(hashes: Mapping[str, str]) -> bytes:
    """Return the manifest's text."""
    data = {"wiregen": __version__, "files": dict(sorted(hashes.items()))}
    return (json.dumps(data, indent=1) + "\n").encode()


def read_manifest(folder: Path) -> dict[str, str]:
    """Return hashes by path; {} if the manifest is missing or unreadable."""
    try:
        return files_of(read_regular(folder / MANIFEST, MAX_MANIFEST_SIZE, follow_links=False))
    except OSError:
        return {}


def files_of(content: bytes) -> dict[str, str]:
    """Return hashes by path of a manifest's text; {} if it is not one. Paths that builds never write are left out."""
    try:
        files = json.loads(content)["files"].items()
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return {}
    paths = ((PurePosixPath(name), hash_) for name, hash_ in files)
    return {str(path): hash_ for path, hash_ in paths if isinstance(hash_, str) and path_fault(path) is None}


def hash_of(content: bytes) -> str:
    """Return the hash by which the manifest identifies a content."""
    return hashlib.sha256(content).hexdigest()


def hash_of_file(path: Path) -> str | None:
    """Return the hash of a regular file's content, or None for other kinds and sizes that builds never write."""
    try:
        return hash_of(read_regular(path, MAX_FILE_SIZE, follow_links=False))
    except OSError:
        return None
