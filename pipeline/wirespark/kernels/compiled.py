"""The kernels as machine code, from a folder of the user in which they are compiled once.

Workers run code from an archive that differs in each session; numba keeps compiled code next to the source.
So the source is copied to a permanent folder, under the name of its content.
"""

from __future__ import annotations

import importlib
import importlib.util
import os
import sys
from hashlib import sha256
from pathlib import Path
from types import ModuleType

import wirespark.kernels
from wirespark.untyped import Compiled

__all__ = ["N_STATE", "TAPE", "fill", "measure", "scan"]

_NAMES = ("memory", "ops", "peeking", "scanning", "filling")


def _source(name: str) -> bytes:
    spec = wirespark.kernels.__spec__
    loader: Compiled = None if spec is None else spec.loader
    data: bytes = loader.get_data(os.path.join(wirespark.kernels.__path__[0], f"{name}.py"))
    return data


def _folder(sources: dict[str, bytes]) -> Path:
    facts = (sys.version, *(name.encode() + data for name, data in sources.items()))
    digest = sha256(repr(facts).encode()).hexdigest()[:32]
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    return cache / "wirespark" / "kernels" / digest


def _laid(folder: Path, name: str, data: bytes) -> Path:
    """Return the path of a source, written atomically; other users may not write there."""
    path = folder / f"{name}.py"
    if not path.is_file() or path.read_bytes() != data:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        temporary = folder / f"{name}.{os.getpid()}.tmp"
        temporary.write_bytes(data)
        os.replace(temporary, path)
    return path


def _is_ours(folder: Path) -> bool:
    """Return whether other users cannot write to the folder: code that numba keeps there is executed."""
    status = folder.stat()
    return status.st_uid == os.getuid() and not status.st_mode & 0o022


def _loaded(sources: dict[str, bytes], name: str) -> ModuleType:
    module = f"wirespark.kernels.{name}"
    try:
        folder = _folder(sources)
        path = _laid(folder, name, sources[name])
        if not _is_ours(folder):
            raise PermissionError(folder)
    except OSError:
        return importlib.import_module(module)
    spec = importlib.util.spec_from_file_location(module, path)
    assert spec is not None and spec.loader is not None
    found = sys.modules[module] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(found)
    return found


_sources = {name: _source(name) for name in _NAMES}
_scanning: Compiled = _loaded(_sources, "scanning")
_filling: Compiled = _loaded(_sources, "filling")
scan: Compiled = _scanning.scan
measure: Compiled = _filling.measure
fill: Compiled = _filling.fill
N_STATE: int = _scanning.N_STATE
TAPE: int = _scanning.TAPE
