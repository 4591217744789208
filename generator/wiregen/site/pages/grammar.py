"""The notation of the language for readers, made from the grammar of the parser."""

from __future__ import annotations

import re
from functools import cache
from importlib.resources import files
from typing import Final

__all__ = ["notation_of_rules", "rule_names"]

_RULE: Final = re.compile(r"^[?]?([a-z_]+)\s*:\s?(.*)$")
_TERMINAL: Final = re.compile(r"^([A-Z_]+)(?:\.\d+)?\s*:\s*(.+)$")
_WORD: Final = re.compile(r"^/([a-z]+)\\b/$")
_ALIAS: Final = re.compile(r"\s*->\s*[a-z_]+\s*$")
_SYMBOL: Final = re.compile(r'"[^"]*"|[A-Za-z_]+')
_NAMES: Final = ("NAME", "FIELD", "SET")
_SILENT: Final = ("docs", "name_docs")
_ARMS: Final = ("(_shut | _ajar)", "arm*")
"""The grammar has several rules for arms, to avoid conflicts: where an arm ends in a sum, `-` continues the sum."""
_ARM: Final = 'pattern ("," pattern)* "=>" shape'
_WIDTH: Final = 14


def rule_names() -> tuple[str, ...]:
    """Return the rules that a reader may look for, without those that only avoid conflicts."""
    rules, _ = _read()
    hidden = ("shut_", "ajar_", "next_", "unsigned", "_")
    return tuple(name for name in rules if not name.startswith(hidden) and name not in _SILENT)


def notation_of_rules(names: tuple[str, ...]) -> str:
    """Return rules of the grammar, one alternative on each line, with words and signs as they are written.

    Raises:
        KeyError: There is no such rule.
    """
    rules, words = _read()
    lines = []
    for name in names:
        for number, alternative in enumerate(rules[name]):
            lead = f"{name:<{_WIDTH}}: " if number == 0 else f"{'':<{_WIDTH}}| "
            lines.append((lead + _shown(alternative, words)).rstrip())
    return "\n".join(lines)


def _shown(alternative: str, words: dict[str, str]) -> str:
    def symbol(found: re.Match[str]) -> str:
        text = found[0]
        if text in _SILENT:
            return ""
        return "NAME" if text in _NAMES else words.get(text, text)

    return " ".join(_SYMBOL.sub(symbol, alternative).split())


@cache
def _read() -> tuple[dict[str, list[str]], dict[str, str]]:
    """Return the alternatives of each rule, and the text of each terminal that is a word or a sign."""
    rules: dict[str, list[str]] = {}
    words: dict[str, str] = {}
    current: list[str] = []
    for line in files("wiregen.language").joinpath("wire.lark").read_text(encoding="utf-8").splitlines():
        if line.lstrip().startswith("//") or not line.strip():
            continue
        terminal, rule = _TERMINAL.match(line), _RULE.match(line)
        if terminal:
            word, text = _WORD.match(terminal[2]), terminal[2]
            signs = f"({text})" if " | " in text else text
            words[terminal[1]] = f'"{word[1]}"' if word else signs if text[0] == '"' else terminal[1]
        elif rule:
            current = rules.setdefault(rule[1], [])
            current.append(_ALIAS.sub("", rule[2]))
        elif line.lstrip().startswith("|"):
            current.append(_ALIAS.sub("", line.lstrip()[1:].strip()))
    rules["match"] = [each.replace(*_ARMS) for each in rules["match"]]
    rules["arm"] = [_ARM]
    return rules, words
