"""The number of `Any` in the sources, counted by syntax tree: it never grows."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
SOURCES = (ROOT / "generator" / "wiregen", ROOT / "pipeline")
MOST = {
    "conformance": 122,
    "formats": 8,
    "generate": 2,
    "language": 29,
    "pipeline": 3,
    "runtime": 243,
    "schema": 6,
    "site": 33,
    "tools": 21,
}
"""How often each package may name `Any`, imports included: a lower figure is put here as soon as it is reached."""


def uses_of_any(text: str) -> Iterator[int]:
    """Yield the line of each name, import and quoted annotation that is `Any`."""
    for node in ast.walk(ast.parse(text)):
        match node:
            case ast.Name(id="Any") | ast.Attribute(attr="Any"):
                yield node.lineno
            case ast.ImportFrom(names=names):
                yield from (node.lineno for alias in names if alias.name == "Any")
            case (
                ast.AnnAssign(annotation=quoted)
                | ast.arg(annotation=quoted)
                | ast.FunctionDef(returns=quoted)
            ):
                if isinstance(quoted, ast.Constant) and isinstance(quoted.value, str):
                    yield from (node.lineno for _ in uses_of_any(quoted.value))


def package_of(path: Path) -> str:
    generator, pipeline = SOURCES
    return path.relative_to(generator).parts[0] if path.is_relative_to(generator) else pipeline.name


@cache
def found() -> dict[str, int]:
    counts = dict.fromkeys(MOST, 0)
    for path in (path for folder in SOURCES for path in sorted(folder.rglob("*.py"))):
        n_uses = len(list(uses_of_any(path.read_text(encoding="utf-8"))))
        if n_uses:
            counts[package_of(path)] += n_uses
    return counts


def test_uses_of_any_are_counted_wherever_they_stand() -> None:
    text = 'from typing import Any\nX: dict[str, Any] = {}\ndef f(a: "list[Any]", *b: Any) -> "Any": ...\nAnything = 1\n'
    assert sorted(uses_of_any(text)) == [1, 2, 3, 3, 3]


@pytest.mark.parametrize("package", MOST)
def test_a_package_names_any_no_more_often_than_before(package: str) -> None:
    """A value has a type; values from a library without types have an alias that says so."""
    assert found()[package] <= MOST[package]


def test_any_is_rare_in_all() -> None:
    assert sum(found().values()) < 500
