"""The rules of prose: patterns that make a sentence hard to read, and old terms that the glossary replaced."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from .paragraph import Paragraph, Sentence

__all__ = ["LONG", "MAX_WORDS", "PATTERNS", "RULES", "SHORT_REASON", "broken"]

MAX_WORDS: Final = 35
MIN_WORDS_OF_A_REASON: Final = 4
LONG: Final = f"sentence over {MAX_WORDS} words"
SHORT_REASON: Final = f"reason under {MIN_WORDS_OF_A_REASON} words"

_BEFORE_WHAT = "of|by|with|to|and|as|for|from|is|says|holds|return|tell|know|knows|give|gives"
PATTERNS: Final[dict[str, re.Pattern[str]]] = {
    "'what' as a noun": re.compile(
        rf"(?i)(^|[:;,(] |\b(?:{_BEFORE_WHAT}) )what (?!if\b|is\b[^.]*\?)\w+(?!.*\?$)"
    ),
    "'tell whether'": re.compile(r"(?i)\btells? whether\b"),
    "'behind', 'beside'": re.compile(r"(?i)\b(behind|beside)\b"),
    "'stand(s)'": re.compile(r"(?i)\b(stands?|stood)\b(?! alone)"),
    "'nobody', 'nothing', 'nowhere', 'none' as subject": re.compile(
        r"(?i)(^|[:;] )(nobody|nowhere|nothing)\b|(^|[:;] )none (of|is|are|has|have|may|can)\b"
        r"|\b(is|are|has|have|says?|of) (?-i:none|nobody|nowhere)\b"
    ),
    "'is no X'": re.compile(
        r"(?i)(?<!\bthere )\b(is|are|was|be) no (?!longer|more|less|reason|need|way|doubt|limit)\w+"
    ),
    "'mend', 'whoever', 'thereby'": re.compile(r"(?i)\b(mend(ed|s|ing)?|whoever|thereby|whence|therein)\b"),
    "metaphor": re.compile(r"(?i)\b(roads?|doors?|rooms?|shel(f|ves)|soil|house)\b"),
    "old term": re.compile(
        r"(?i)\b(careful(ly)? (codec|reader|road|read)|fast (codec|road)|testees?|specimens?|crops?|outlooks?|nearness|variet(y|ies)|scenes?|hears?|heard)\b"
    ),
}
RULES: Final = (*PATTERNS, LONG, SHORT_REASON)


def broken(paragraph: Paragraph) -> Iterator[tuple[str, Sentence]]:
    """Yield the rules that a paragraph breaks, each with its first sentence that does."""
    sentences = tuple(paragraph.sentences)
    for rule, pattern in PATTERNS.items():
        if found := next((each for each in sentences if pattern.search(each.masked)), None):
            yield rule, found
    if found := next((each for each in sentences if each.n_words > MAX_WORDS), None):
        yield LONG, found
    if paragraph.is_reason and sentences and sum(each.n_words for each in sentences) < MIN_WORDS_OF_A_REASON:
        yield SHORT_REASON, sentences[0]
