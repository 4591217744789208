"""The record of what a build wrote, by path and hash; the next build trusts it no further than its hashes."""

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path, PurePosixPath

from wiregen import __version__
from wiregen.writer.paths import MANIFEST, is_regular, path_fault

_MAX_MANIFEST_SIZE = 64 * 2**20


def manifest(hashes: Mapping[str, str]) -> bytes:
    """Return the manifest's text."""
    data = {"wiregen": __version__, "files": dict(sorted(hashes.items()))}
    return (json.dumps(data, indent=1) + "\n").encode()


def read_manifest(folder: Path) -> dict[str, str]:
    """Return hashes by path; empty where there is no manifest, or none that can be read."""
    path = folder / MANIFEST
    if not is_regular(path) or path.stat().st_size > _MAX_MANIFEST_SIZE:
        return {}
    try:
        files = json.loads(path.read_bytes())["files"].items()
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return {}
    paths = ((PurePosixPath(name), hash_) for name, hash_ in files)
    return {str(path): hash_ for path, hash_ in paths if isinstance(hash_, str) and path_fault(path) is None}


def hash_of(content: bytes) -> str:
    """Return the hash by which the manifest knows a content."""
    return hashlib.sha256(content).hexdigest()
