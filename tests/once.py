"""Values that take long to make: the first worker that needs one makes it, and the others read it from a file of this run."""

from __future__ import annotations

import os
import pickle
import tempfile
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import TypeVar

import pytest

from wiregen.generate.writer.exclusive import exclusive

__all__ = ["common_folder", "made_once", "mypy_cache", "share"]

Value = TypeVar("Value")
_LONGEST = 7200.0  # seconds
_folders: list[Path] = []
"""The one that all workers have in common, and that of this worker alone."""


def share(factory: pytest.TempPathFactory) -> None:
    """Keep the values in a folder that all workers of this run have in common."""
    own = factory.getbasetemp()
    common = (own.parent if "PYTEST_XDIST_WORKER" in os.environ else own) / "made_once"
    common.mkdir(exist_ok=True)
    _folders[:] = [common, own]


def common_folder(name: str) -> Path:
    """Return a folder of this run that all workers have in common."""
    folder = _folders[0] / name
    folder.mkdir(exist_ok=True)
    return folder


def mypy_cache() -> str:
    """Return the folder in which mypy keeps what it read of the standard library, which takes longer than a package that was built."""
    return str((_folders[1] if _folders else _own_folder()) / "mypy")


@cache
def _own_folder() -> Path:
    """Return a folder of this process, for those that run checks without pytest."""
    return Path(tempfile.mkdtemp(prefix="wiregen-"))


def made_once(name: str, make: Callable[[], Value]) -> Value:
    """Return a value of this run by its name; a worker that asks while another makes it waits for it."""
    path = _folders[0] / f"{name}.pickle"
    with exclusive(path, seconds=_LONGEST):
        if path.exists():
            known: Value = pickle.loads(path.read_bytes())
            return known
        made = make()
        partial = path.with_suffix(".partial")
        partial.write_bytes(pickle.dumps(made))
        partial.replace(path)
    return made
