"""Other Pythons of this machine that generated packages promise to run on."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from packaging.specifiers import SpecifierSet

__all__ = ["GENERATED", "other_pythons"]

GENERATED = Path(__file__).resolve().parents[3] / "generated"
_ASK = "import json, sys; print(json.dumps([*sys.version_info[:3], sys.executable]))"


@cache
def other_pythons() -> dict[str, Path]:
    """Return for each other minor version, such as `3.12`, the program of its newest release here."""
    project = tomllib.loads((GENERATED / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    promised = SpecifierSet(project["requires-python"])
    newest: dict[tuple[int, int], tuple[int, str]] = {}
    for program in _candidates():
        told = _told(program)
        if told is None:
            continue
        major, minor, micro, path = told
        if (major, minor) != sys.version_info[:2] and f"{major}.{minor}.{micro}" in promised:
            newest[major, minor] = max(newest.get((major, minor), (-1, "")), (micro, path))
    return {f"{major}.{minor}": Path(path) for (major, minor), (_, path) in sorted(newest.items())}


def _candidates() -> Iterator[Path]:
    for folder in os.get_exec_path():
        if os.path.isdir(folder):
            names = (name for name in os.listdir(folder) if re.fullmatch(r"python3\.\d+", name))
            yield from (Path(folder, name) for name in sorted(names))
    pyenv = Path(os.environ.get("PYENV_ROOT") or Path.home() / ".pyenv")
    yield from sorted(pyenv.glob("versions/3.*/bin/python3"))


def _told(program: Path) -> tuple[int, int, int, str] | None:
    """Return the version and the path of a Python, or None if it does not start, as a shim without its version."""
    command = [str(program), "-I", "-c", _ASK]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=True)
    except (OSError, subprocess.SubprocessError):
        return None
    major, minor, micro, path = json.loads(done.stdout)
    return major, minor, micro, path
