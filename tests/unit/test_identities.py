"""Values are found by what they are: `id()` as a key stays where it is, with its reason."""

from __future__ import annotations

import ast
from pathlib import Path
from typing import Final

ROOT = Path(__file__).resolve().parents[2]
SOURCES = ROOT / "generator" / "wiregen", ROOT / "pipeline"
ALLOWED: Final = {
    "generator/wiregen/language/examples/connection_state.py": "the memo of `deepcopy`, which is by identity",
    "generator/wiregen/language/parser/tree.py": "subtrees of lark: a hash of one reads all below it",
    "generator/wiregen/runtime/reference/writing/rows.py": "blocks of two arms may be equal, with cells of their own",
    "generator/wiregen/runtime/reference/writing/writer.py": "given values may lie about equality, and have no hash",
    "generator/wiregen/runtime/stream/whole_blocks.py": "a hash of the schema would read all of it for each frame",
    "generator/wiregen/schema/sizes.py": "a hash of a type reads all in it, at each depth again",
    "generator/wiregen/schema/walk.py": "equal types at two places are both yielded, and a shared one once",
}
"""The files that use identities, each with the reason; there the objects live as long as the keys."""


def identities(text: str) -> list[int]:
    """Return the lines that ask for the identity of an object."""
    return [
        node.lineno
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.Name) and node.id == "id" and isinstance(node.ctx, ast.Load)
    ]


def test_identities_are_used_only_where_they_are_meant() -> None:
    paths = (path for source in SOURCES for path in source.rglob("*.py"))
    found = {path.relative_to(ROOT).as_posix() for path in paths if identities(path.read_text())}
    assert found == set(ALLOWED)


def test_calls_and_passed_functions_are_found() -> None:
    assert identities("a = {id(x): x}\nb = set(map(id, a))\nnode.id = 1\n") == [1, 2]
