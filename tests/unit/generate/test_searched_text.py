"""Views know what they print: a search in generated text stays where it is, with its reason."""

from __future__ import annotations

import ast
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).resolve().parents[3]
VIEWS: Final = ROOT / "generator" / "wiregen" / "generate"
SEARCHING: Final = {
    "views/kaitai/parts.py": "characters of names that Kaitai does not allow",
    "views/msgpack/module.py": "the functions of the runtime that expressions call, for the imports",
    "views/protobuf/module.py": "the functions of the runtime that expressions call, for the imports",
    "views/python/expressions.py": "a Boolean that is held as a byte, and a code that is known in a function",
    "views/python/names.py": "formats of struct: runs of one letter; and parts of a key",
    "views/python/sessions.py": "the names in annotations, for the imports",
    "views/python/writing/step_views.py": "lengths of chunks that no step reads",
}
"""The views with regular expressions, each with what it looks for."""
ELSEWHERE: Final = {"escaping.py", "plugins/process.py", "writer/paths.py", "writer/journal.py"}
"""Texts of files, other programs and paths are searched here."""


def searches(text: str) -> bool:
    """Return whether a module uses regular expressions."""
    return any(
        (isinstance(node, ast.Import) and any(alias.name == "re" for alias in node.names))
        or (isinstance(node, ast.ImportFrom) and node.module == "re")
        for node in ast.walk(ast.parse(text))
    )


def test_generated_text_is_searched_only_where_it_is_meant() -> None:
    found = {path.relative_to(VIEWS).as_posix() for path in VIEWS.rglob("*.py") if searches(path.read_text())}
    assert found == set(SEARCHING) | ELSEWHERE


def test_each_way_to_import_is_found() -> None:
    assert searches("def f():\n    import re\n") and searches("from re import sub\n")
    assert not searches("import reprlib\nfrom . import re\n")
