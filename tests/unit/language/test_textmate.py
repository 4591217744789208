"""The grammar for editors is the one that is made of the words of the language."""

from __future__ import annotations

import json
import os
import re
from pathlib import Path

from wiregen.language.lexical.textmate import scope_of, textmate_grammar
from wiregen.language.lexical.token_rules import TokenKind

BUILT = Path(__file__).resolve().parents[3] / "editors" / "vscode" / "syntaxes" / "wire.tmLanguage.json"


def test_the_grammar_of_the_extension_is_the_one_that_is_made() -> None:
    made = json.dumps(textmate_grammar(), indent=1) + "\n"
    if os.environ.get("UPDATE_EDITORS"):
        BUILT.write_text(made, encoding="utf-8")
    assert BUILT.read_text(encoding="utf-8") == made, "run `make update-editors`"


def test_what_has_no_colour_is_a_name_or_a_space() -> None:
    assert [kind for kind in TokenKind if scope_of(kind) is None] == [TokenKind.SPACE, TokenKind.NAME]


def test_no_pattern_needs_more_than_a_line() -> None:
    """Text that is cut at its lines has the same matches, except for bytes."""
    patterns = json.loads(BUILT.read_text(encoding="utf-8"))["patterns"]
    for match in (pattern["match"] for pattern in patterns if "match" in pattern):
        assert match == r"\S" or re.fullmatch(match, "x\n") is None
