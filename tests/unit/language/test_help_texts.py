"""Help texts of diagnostics show code between backticks, as messages do."""

from __future__ import annotations

import re
from pathlib import Path

CASES = Path(__file__).resolve().parents[2] / "cases"
_HELP = re.compile(r"^ *= help: (.*)$", re.MULTILINE)
_BETWEEN_BACKTICKS = re.compile(r"`[^`]*`")
_CODE = re.compile(r" :?[=:] |[{}\[\]]|\b(?:x\"|0x|[ui](?:8|16|32|64)\b)|\d_\d")
_SHOWN_VALUES = re.compile(r"(?:written|read): ")
"""The bytes or the record of a wrong example, which fill the rest of the line."""


def test_code_in_a_help_text_is_between_backticks() -> None:
    helps = {text for path in CASES.rglob("*.diag") for text in _HELP.findall(path.read_text("utf-8"))}
    assert len(helps) > 200
    bare = {text for text in helps if _CODE.search(_BETWEEN_BACKTICKS.sub("…", text))}
    assert not {text for text in bare if not _SHOWN_VALUES.match(text)}
