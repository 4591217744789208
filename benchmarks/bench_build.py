"""The CPU time of a build and of the command's starts, against black over the same tree and against Python's own start.

PYTHONPATH=generated/python python benchmarks/bench_build.py

`wiregen` is measured as a process, as users call it; compiled modules exist already, as they do from the
second call on.
"""

from __future__ import annotations

import os
import resource
import shutil
import subprocess
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

from harness import compare, table

ROOT = Path(__file__).resolve().parents[1]
_HEX = "3257" + "00000800"


def main() -> None:
    with TemporaryDirectory() as name:
        project = _project(Path(name))
        process = partial(_process, project)
        builds = {
            "black alone, same tree": lambda: process("black", "--check", "--no-cache", "-W1", "-l110", "."),
            "build, from nothing": lambda: _build_from_nothing(project, process),
            "build --check": lambda: process("wiregen", "build", "--check"),
            "build, nothing changed": lambda: process("wiregen", "build"),
        }
        _build_from_nothing(project, process)
        print(table("build of all protocols", compare(builds, rounds=3, clock=_children)), "\n")
        process("wiregen", "docs", "build")
        starts = {
            "python -c pass": lambda: _run(project, sys.executable, "-c", "pass"),
            "wiregen --version": lambda: process("wiregen", "--version"),
            "wiregen decode lumberjack": lambda: process("wiregen", "decode", "lumberjack", "--hex", _HEX),
            "wiregen check, all files": lambda: process("wiregen", "check"),
            "docs build, nothing changed": lambda: process("wiregen", "docs", "build"),
        }
        print(table("starts", compare(starts, rounds=7, clock=_children)))


def _project(folder: Path) -> Path:
    """Return a project with the protocols of this repository, whose notes of builds are its own."""
    shutil.copytree(ROOT / "idl", folder / "idl")
    return folder


def _build_from_nothing(project: Path, process: Callable[..., None]) -> None:
    shutil.rmtree(project / "generated", ignore_errors=True)
    process("wiregen", "build")


def _process(project: Path, module: str, *arguments: str) -> None:
    _run(project, sys.executable, "-m", module, *arguments)


def _run(project: Path, *command: str) -> None:
    own = {"PYTHONPATH": str(ROOT / "generator"), "XDG_CACHE_HOME": str(project / "caches")}
    environment = {**os.environ, **own, "PYTHONDONTWRITEBYTECODE": ""}
    subprocess.run(command, cwd=project, env=environment, check=True, capture_output=True)


def _children() -> int:
    """Return the CPU that ended children took, in nanoseconds."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return int((used.ru_utime + used.ru_stime) * 1e9)


if __name__ == "__main__":
    main()
