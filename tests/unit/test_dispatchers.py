"""Functions that tell the kinds of a closed union apart: few, and total, so that mypy names them for a new kind."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any, Final, get_args

import pytest

from wiregen.runtime.schema import expressions, types
from wiregen.schema import model

ROOT = Path(__file__).resolve().parents[2]
SOURCES = ROOT / "generator" / "wiregen", ROOT / "pipeline"


def kinds_of(union: Any) -> frozenset[str]:
    return frozenset(each.__name__ for each in get_args(union))


GROUPS: Final = frozenset(
    name for name, value in vars(model).items() if set() < set(get_args(value)) < set(get_args(types.Type))
)
"""Types that share a fact: a test for a group counts as one kind."""
UNIONS: Final = {
    "type": kinds_of(types.Type) | GROUPS,
    "length": kinds_of(types.Length),
    "carrier": kinds_of(types.Carrier) - kinds_of(types.Length),
    "expression": kinds_of(expressions.Expression),
}
LEAST: Final = {"type": 5, "length": 3, "carrier": 2, "expression": 5}
"""The number of kinds from which on a function is a dispatcher; fewer are a question about these kinds."""
MOST: Final = {"type": 40, "length": 16, "carrier": 6, "expression": 19}
"""How many dispatchers there may be: a lower figure is put here as soon as it is reached."""
MOST_WALKERS: Final = 10
"""How many functions go into blocks by themselves, each with an answer of its own kind: a lower figure is put here
as soon as it is reached."""
FROM_A_PACKAGE: Final = "pipeline"
"""Its classes of nodes are found at run time, so that mypy cannot see whether a match is total."""


def named(part: ast.AST) -> Iterator[str]:
    """Yield the classes that a part of a tree tests for."""
    for node in ast.walk(part):
        match node:
            case ast.MatchClass(cls=ast.Name(id=name) | ast.Attribute(attr=name)):
                yield name
            case ast.Call(func=ast.Name(id="isinstance"), args=[_, kinds]):
                for each in ast.walk(kinds):
                    match each:
                        case ast.Name(id=name) | ast.Attribute(attr=name):
                            yield name


@cache
def nodes_of(text: str) -> tuple[ast.AST, ...]:
    return tuple(ast.walk(ast.parse(text)))


def dispatchers(text: str, union: str) -> Iterator[str]:
    """Yield the names of the functions that tell at least `LEAST` kinds of a union apart."""
    for node in nodes_of(text):
        if isinstance(node, ast.FunctionDef) and len(UNIONS[union].intersection(named(node))) >= LEAST[union]:
            yield node.name


def walkers(text: str) -> Iterator[str]:
    """Yield the functions that call themselves for what is in blocks, and ask for little else: those are dispatchers."""
    for node in nodes_of(text):
        if not isinstance(node, ast.FunctionDef):
            continue
        called = {ast.unparse(each.func) for each in ast.walk(node) if isinstance(each, ast.Call)}
        names, kinds = {name.rpartition(".")[2] for name in called}, set(named(node))
        is_walker = "Block" in kinds or not names.isdisjoint(("blocks", "leaves"))
        if "syntax.Block" in ast.unparse(node):  # the resolver's, which makes the blocks of types
            continue
        if node.name in names and is_walker and len(kinds) < LEAST["type"]:
            yield node.name


def forgetful(text: str) -> Iterator[int]:
    """Yield the line of each match that names half of the kinds of a union or more, and not the others.

    A last case for all others is right where it asserts that there are none, or hands the value on: its function
    has the type of the others.
    """
    for node in nodes_of(text):
        if not isinstance(node, ast.Match):
            continue
        kinds = {name for case in node.cases for name in named(case.pattern)}
        is_over = any(
            len(known & kinds) >= max(LEAST[union], len(known) / 2) for union, known in UNIONS.items()
        )
        last = node.cases[-1]
        match last.pattern:
            case ast.MatchAs(pattern=None, name=name) if is_over:
                if not _hands_on(last, name or ast.unparse(node.subject)):
                    yield node.lineno


def _hands_on(case: ast.match_case, value: str) -> bool:
    calls = (each for part in case.body for each in ast.walk(part) if isinstance(each, ast.Call))
    return any(ast.unparse(argument) == value for call in calls for argument in call.args)


def files() -> list[Path]:
    return sorted(path for source in SOURCES for path in source.rglob("*.py"))


@pytest.mark.parametrize("union", UNIONS)
def test_dispatchers_over_a_union_do_not_grow(union: str) -> None:
    found = [f"{path.stem}.{name}" for path in files() for name in dispatchers(path.read_text(), union)]
    assert len(found) == MOST[union], f"MOST[{union!r}] is not {len(found)}: {', '.join(found)}"


def test_walkers_over_blocks_do_not_grow() -> None:
    """`schema.shapes.blocks` yields the blocks of a type, `every_field` and `fields_below` the fields of a declaration."""
    found = [f"{path.stem}.{name}" for path in files() for name in walkers(path.read_text())]
    assert {"shapes.leaves", "shapes.fields_below"} <= set(found)
    assert len(found) == MOST_WALKERS, f"MOST_WALKERS is not {len(found)}: {', '.join(found)}"


def test_a_match_over_most_kinds_names_them_all() -> None:
    found = [
        f"{path.relative_to(ROOT)}:{line}"
        for path in files()
        if FROM_A_PACKAGE not in path.relative_to(ROOT).parts
        for line in forgetful(path.read_text())
    ]
    assert not found


PARTIAL = """
match length:
    case Prefix(type_):
        return 1
    case Computed() | m.Delimited():
        return 2
    case _:
        {}
"""


@pytest.mark.parametrize(
    ("last", "lines"),
    [("return 3", [2]), ("assert_never(length)", []), ("yield from self._others(length, 1)", [])],
)
def test_a_default_that_hides_kinds_is_found(last: str, lines: list[int]) -> None:
    assert list(forgetful(PARTIAL.format(last))) == lines


def test_a_question_about_one_kind_is_not_a_dispatcher() -> None:
    asked = "def f(x):\n    return isinstance(x, Prefix)\ndef g(x):\n    return isinstance(x, Prefix | m.Until | Computed)\n"
    assert list(dispatchers(asked, "length")) == ["g"]
