"""The files of Pyodide, Python for browsers, that the playground of a site consists of.

Invariant: only the pinned bytes are copied into a site. Another version is a change of this module, and of the tests with it.
"""

from __future__ import annotations

import json
from hashlib import sha256
from pathlib import Path, PurePosixPath
from typing import Final

from wiregen.generate.writer import Output

__all__ = ["VERSION", "PackageError", "package_files", "pyodide_files"]

VERSION: Final = "314.0.7"
"""The version on npm. It has Python 3.14."""
_SHA256: Final = {
    "pyodide.mjs": "6f1d60f7bf529beb300f0f47983c921d3982363640ba20af0e38efdddbc66109",
    "pyodide.asm.mjs": "f7cdc8ece80678ceb712f8e65ebe6d3a83203a180c399865f49612a051693635",
    "pyodide.asm.wasm": "cc36e3cab04fdfc9a63ff13eb52eae2b911bf46c025cc7b281f394bd3de1d5e6",
    "python_stdlib.zip": "fa1957e5777068fc4f7437f96d860ae2fbe9c19732ba06c84e004ec16dd7dd7a",
    "pyodide-lock.json": "5dc2fc119108bc148c7457dc86e7675b5c87e1cafd420b9c34c1eaef7b36c010",
}
"""The hash of each file that is copied: loader, interpreter, standard library, and the lock file that the loader reads."""


class PackageError(Exception):
    """A folder that does not hold the pinned package."""


def package_files(package: Path) -> tuple[Path, ...]:
    """Return the files of an unpacked package that a site depends on."""
    return tuple(package / name for name in ("package.json", *_SHA256))


def pyodide_files(package: Path, folder: PurePosixPath) -> tuple[Output, ...]:
    """Return the files of an unpacked package as files of the site's `folder`.

    Raises:
        PackageError: A file is missing, or has other bytes than those of the pinned version.
    """
    found = _version(package)
    if found != VERSION:
        raise PackageError(f"expected pyodide {VERSION} in {package}, found {found}")
    return tuple(
        Output(path=folder / name, content=_content(package / name, known)) for name, known in _SHA256.items()
    )


def _version(package: Path) -> str:
    try:
        about = json.loads((package / "package.json").read_bytes())
    except (OSError, ValueError):
        return "no package of npm"
    is_pyodide = isinstance(about, dict) and about.get("name") == "pyodide"
    return str(about.get("version")) if is_pyodide else "another package"


def _content(path: Path, known: str) -> bytes:
    try:
        content = path.read_bytes()
    except OSError as error:
        raise PackageError(f"{path}: {error.strerror}") from None
    if sha256(content).hexdigest() != known:
        raise PackageError(f"{path} is not the file of pyodide {VERSION}: its SHA-256 differs")
    return content
