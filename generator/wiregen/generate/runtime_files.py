"""The modules of the runtime that a generated tree holds.

They are the modules that its packages import, those that the features of its protocols need, and those that these
import. Imports for type checkers and imports inside functions count: a user's tree type-checks by itself.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path, PurePosixPath
from typing import Final

from wiregen.generate.runtime_features import MODULES, Feature

__all__ = ["FOLDER", "runtime_files", "whole_runtime"]

FOLDER: Final = "_runtime"
_HERE: Final = Path(__file__).resolve().parents[1] / "runtime"
_IMPORT: Final = f"from ..{FOLDER}."
_TABLES: Final = (
    "codec.options", "codec.text", "codec.unknown", "records.arms", "records.frames", "records.types", "records.values", "reference.explain", "reference.layout", "reference.objects", "reference.writing.cells", "schema.shapes", "sessions.engine", "sessions.events", "sessions.table",
)  # fmt: skip
"""The modules that the data pipeline looks up by name in a tree with columns."""


def runtime_files(
    texts: Iterable[str], features: Iterable[Feature], *, has_columns: bool
) -> tuple[tuple[PurePosixPath, bytes], ...]:
    """Return path and content of each module that generated code needs.

    `texts`: that code; `features`: those of its protocols; `has_columns`: the pipeline reads the tree.
    """
    modules = _modules()
    waiting = {"", "schema", *(_TABLES if has_columns else ())}
    waiting.update(module for feature in features for module in MODULES[feature])
    for text in texts:
        waiting.update(_imported(text))
    needed: set[str] = set()
    while waiting:
        name = waiting.pop()
        needed.add(name)
        waiting |= _imports_of(name) - needed
    return _contents(modules[name] for name in needed)


def whole_runtime() -> tuple[tuple[PurePosixPath, bytes], ...]:
    """Return path and content of every module of the runtime."""
    return _contents(_modules().values())


def _contents(paths: Iterable[Path]) -> tuple[tuple[PurePosixPath, bytes], ...]:
    return tuple(
        (PurePosixPath(path.relative_to(_HERE).as_posix()), path.read_bytes()) for path in sorted(paths)
    )


def _imported(text: str) -> Iterator[str]:
    """Yield the modules of the runtime that generated code imports; each of its imports begins a line."""
    for line in text.splitlines():
        if _IMPORT in line and line.lstrip().startswith(_IMPORT):
            yield line.lstrip().removeprefix(_IMPORT).partition(" ")[0]


@cache
def _modules() -> dict[str, Path]:
    """Return the runtime's modules by their dotted names; its own name is ""."""
    found = {}
    for path in _HERE.rglob("*.py"):
        parts = path.relative_to(_HERE).with_suffix("").parts
        found[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
    return found


@cache
def _imports_of(name: str) -> frozenset[str]:
    """Return the modules of the runtime that a module imports, and the packages that contain them."""
    modules = _modules()
    path = modules[name]
    package = path.relative_to(_HERE).parent.parts
    found = set()
    for node in ast.walk(ast.parse(path.read_bytes())):
        if isinstance(node, ast.ImportFrom) and node.level:
            above = package[: len(package) - node.level + 1]
            base = ".".join((*above, *filter(None, [node.module])))
            found.add(base)
            found.update(f"{base}.{alias.name}".lstrip(".") for alias in node.names)
    parents = {parent for each in found for parent in _packages_around(each)}
    return frozenset((found | parents) & modules.keys())


def _packages_around(name: str) -> Iterator[str]:
    while "." in name:
        name = name.rpartition(".")[0]
        yield name
