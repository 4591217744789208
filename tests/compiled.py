"""The runtime of many built trees, compiled once: each tree has a copy of it, which takes longer than its own code."""

from __future__ import annotations

import py_compile
from collections.abc import Iterable
from importlib.util import cache_from_source
from pathlib import Path

from wiregen.generate.runtime_files import FOLDER
from wiregen.generate.writer import Output

__all__ = ["compile_runtime"]

_COMPILED: dict[bytes, bytes] = {}
"""The compiled form of the sources of this process. It names no file: Python sets the name as it reads it."""


def compile_runtime(outputs: Iterable[Output], folder: Path) -> None:
    """Write the compiled form of the runtime's modules below a folder, where `import` looks for it."""
    for output in outputs:
        if FOLDER in output.path.parts and output.path.suffix == ".py":
            _compile(output.content, folder / output.path)


def _compile(source: bytes, path: Path) -> None:
    target = Path(cache_from_source(str(path)))
    if source in _COMPILED:
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(_COMPILED[source])
        return
    # The hash of the source is checked at each import; its time would be that of another file.
    mode = py_compile.PycInvalidationMode.CHECKED_HASH
    py_compile.compile(str(path), str(target), doraise=True, invalidation_mode=mode)
    _COMPILED[source] = target.read_bytes()
