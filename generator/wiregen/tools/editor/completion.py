"""Words that may come at a place: those of the language that the grammar accepts, and names that would be known there."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Final

from lsprotocol.types import CompletionItem, CompletionItemKind

from wiregen.language import syntax
from wiregen.language.lexical.token_rules import TokenKind, pattern_of
from wiregen.language.parser import accepted_at
from wiregen.language.resolver.functions import FUNCTIONS
from wiregen.language.resolver.settings import MEASURED_LIMITS
from wiregen.language.source import Source
from wiregen.tools.editor.analysis import Analysis
from wiregen.tools.editor.kinds import KINDS

__all__ = ["complete"]

_WORD: Final = re.compile(r"[A-Za-z0-9_]+")
_PROSE: Final = re.compile(
    f"(?P<closed>{pattern_of(TokenKind.TEXT, TokenKind.BYTES, TokenKind.CHARACTER)})"
    f"|(?P<open>{pattern_of(TokenKind.DOC, TokenKind.COMMENT, TokenKind.UNTERMINATED)})"
)
"""What no word of the language is in; `open`: to the end of the line."""
_UNKNOWN: Final = "unknown__name"
"""A name that no file has: the resolver says which names it would know in its place."""
_ENDS: Final = ("", " any => {}", " => {}", " : u8", " = 1", '() = x"00"', " x()", "()")
"""What may have to follow a name until its line can be read."""
_VALUES: Final = frozenset(
    "carrier condition duration expression high items left length low operand right until value when where".split()
)
"""The slots of syntax nodes that hold expressions over fields."""


def complete(analysis: Analysis, offset: int, again: Callable[[str], Analysis]) -> list[CompletionItem]:
    """Return the words that are possible at an offset. `again`: analyses a changed text."""
    text = analysis.source.text
    if _is_prose(analysis.source, offset):
        return []
    word = _word_at(text, offset)
    accepted = accepted_at(analysis.source, word.start)
    items = [CompletionItem(label=each, kind=CompletionItemKind.Keyword) for each in accepted.words]
    for more in _ENDS if accepted.is_name else ():
        changed = again(f"{text[: word.start]}{_UNKNOWN}{more}{text[word.stop :]}")
        offered = _offered(changed, word.start)
        if offered is not None:
            return [*items, *(_named(changed, each) for each in offered), *_functions(changed, word.start)]
    return items


def _offered(changed: Analysis, start: int) -> tuple[str, ...] | None:
    """Return the names that would be known in the place of the unknown one, or None if it may have any name there."""
    found = next((words for span, words in changed.offered.items() if span.start == start), None)
    placed = changed.name_at(start)
    if found is not None or placed is None:
        return found
    match placed.holder:
        case syntax.Limit():
            return tuple(MEASURED_LIMITS)
        case syntax.Violates():
            declared = changed.names.declared.values()
            return tuple(each.name.text for each in declared if isinstance(each.node, syntax.Rule))
    return None


def _is_prose(source: Source, offset: int) -> bool:
    """Return whether an offset is inside a comment, a text or a character."""
    number, column = source.line_and_column(offset)
    for found in _PROSE.finditer(source.line_text(number)):
        if found.start() < column - 1 < found.end() + (found["open"] is not None):
            return True
    return False


def _word_at(text: str, offset: int) -> range:
    """Return the offsets of the word that an offset lies in or at the end of; empty without one."""
    line = text.rfind("\n", 0, offset) + 1
    words = (range(found.start(), found.end()) for found in _WORD.finditer(text, line))
    near = next((each for each in words if each.stop >= offset), None)
    return near if near is not None and near.start <= offset else range(offset, offset)


def _named(changed: Analysis, word: str) -> CompletionItem:
    declared = next((each for each in changed.names.declared.values() if each.name.text == word), None)
    if declared is None:
        return CompletionItem(label=word, kind=CompletionItemKind.Keyword)
    kind = KINDS[type(declared.node)]
    return CompletionItem(label=word, kind=kind.item, detail=kind.word)


def _functions(changed: Analysis, start: int) -> list[CompletionItem]:
    """Return the functions of the language, where the word is a value."""
    placed = changed.name_at(start)
    if placed is None or placed.slot not in _VALUES or isinstance(placed.holder, syntax.ConversationStep):
        return []
    return [
        CompletionItem(label=name, kind=CompletionItemKind.Function, detail="function") for name in FUNCTIONS
    ]
