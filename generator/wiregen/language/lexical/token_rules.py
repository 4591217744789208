"""The rules that tell tokens apart line by line, in text that may be unfinished.

The patterns of literals, names and comments are those of the grammar. Words are those of the parser and the resolver. A word that is
a name elsewhere is known by its place on the line: after its indentation, or after another word. Names before `:` and `=` stay names.
Invariant: every pattern has the same meaning in Python and in Oniguruma, with `^` at each line.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from enum import Enum, auto
from itertools import product
from typing import Final, get_args

from lark.lexer import PatternStr

from wiregen.language.parser.grammar import grammar
from wiregen.language.parser.keywords import RESERVED_WORDS, WORDS_OF, WordKind
from wiregen.language.resolver.annotations import FORMS
from wiregen.language.resolver.builtin_types import ALGORITHMS, WORDS, sort_of_word
from wiregen.runtime.schema.literals import ChecksumAlgorithm, Function

__all__ = ["TOKEN_RULES", "TokenKind", "TokenRule"]


class TokenKind(Enum):
    """What a piece of text is, as far as colours are concerned."""

    SPACE = auto()
    DOC = auto()
    COMMENT = auto()
    TEXT = auto()
    ESCAPE = auto()
    BYTES = auto()
    CHARACTER = auto()
    NUMBER = auto()
    HEXADECIMAL = auto()
    QUANTITY = auto()
    DECLARATION = auto()
    CLAUSE = auto()
    CONTROL = auto()
    WORD_OPERATOR = auto()
    CONSTANT = auto()
    TYPE = auto()
    FUNCTION = auto()
    ANNOTATION = auto()
    DECLARED = auto()
    """The name that a declaration gives."""
    MEMBER = auto()
    """A name before `:` or `=`: a field, a setting, an argument."""
    NAME = auto()
    OPERATOR = auto()
    PUNCTUATION = auto()
    UNTERMINATED = auto()
    """A text or a character without its end, to the end of its line."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TokenPart:
    """A part of a match that is shown in one way; `pattern` has no groups of its own that capture."""

    kind: TokenKind
    pattern: str


@dataclass(frozen=True, slots=True, kw_only=True)
class TokenRule:
    """Parts that follow each other; `inside` applies to the text that a rule of one piece matches."""

    parts: tuple[TokenPart, ...]
    inside: tuple["TokenRule", ...] = ()

    @property
    def pattern(self) -> str:
        """The regular expression, with a group for each part."""
        return "".join(f"({part.pattern})" for part in self.parts)


def _rule(kind: TokenKind, pattern: str, *more: TokenPart, inside: tuple[TokenRule, ...] = ()) -> TokenRule:
    return TokenRule(parts=(TokenPart(kind=kind, pattern=pattern), *more), inside=inside)


def _terminals(names: str) -> str:
    """Return a pattern of any of these terminals of the grammar."""
    patterns = (grammar().get_terminal(name).pattern for name in names.split())
    return "|".join(
        re.escape(pattern.value) if isinstance(pattern, PatternStr) else pattern.value for pattern in patterns
    )


def _words(words: Iterable[str]) -> str:
    return rf"(?<![\w.`@])(?:{'|'.join(words)})\b"


TYPES: Final = (
    *(
        word + order
        for word, order in product(WORDS, ("", "le", "be"))
        if sort_of_word(word + order) is not None
    ),
    *ALGORITHMS,
)
"""The words that are types by themselves, those with a byte order among them, and those that carry others."""
FUNCTIONS: Final = (*get_args(Function), *get_args(ChecksumAlgorithm))
ANNOTATIONS: Final = tuple(FORMS)

_GAP: Final = r"[ \t]+"
_UNNAMED: Final = ("limits", "ledger", "example")
_NAMED: Final = (
    *(word for word in WORDS_OF[WordKind.DECLARATION] if word not in _UNNAMED),
    *("protocol", "state", "var", "option"),
)
_OPERATIVE: Final = sorted(RESERVED_WORDS.union(WORDS_OF[WordKind.CLAUSE]) - {"error"})
"""What takes or joins operands, so that a name is before it and after it."""
_DECLARATION: Final = rf"(?:open{_GAP})?(?:{'|'.join(_NAMED)})(?={_GAP})"
_LINE: Final = rf"(?:{'|'.join(WORDS_OF[WordKind.OPENING])})\b"
_NAME: Final = _terminals("NAME")
_BEGIN: Final = TokenPart(kind=TokenKind.SPACE, pattern=r"^[ \t]*|(?<=[{}])[ \t]+")
_SPACE: Final = TokenPart(kind=TokenKind.SPACE, pattern=r"[ \t]*")
_IS_WORD: Final = r"(?![ \t]*(?::|=[^=>]))"
"""What is not after a word of the language: the `:` or `=` that make it a name."""
_AFTER_ONE: Final = r"(?<=[\w\"'`)\]] )" + "".join(rf"(?<!\b{word} )" for word in _OPERATIVE)
_AFTER_TWO: Final = r"(?<=[\w\"'`)\]]  )"
"""What is before a line of a block on one line: another line, and two spaces as `fmt` has it, or one and no operator."""
_ARGUMENT: Final = rf"(?={_GAP}(?!(?:{'|'.join(_OPERATIVE)})\b)[A-Za-z_\"`]|(?<=reserved){_GAP}[0-9'-])"
_ESCAPES: Final = (_rule(TokenKind.ESCAPE, r"""\\(?:x[0-9A-Fa-f]{2}|u[0-9A-Fa-f]{4}|["'\\nt])"""),)

TOKEN_RULES: Final = (
    _rule(TokenKind.DOC, _terminals("DOC")),
    _rule(TokenKind.COMMENT, _terminals("COMMENT")),
    _rule(TokenKind.BYTES, _terminals("BYTES")),
    _rule(TokenKind.TEXT, _terminals("STRING"), inside=_ESCAPES),
    _rule(TokenKind.CHARACTER, _terminals("CHAR"), inside=_ESCAPES),
    _rule(TokenKind.UNTERMINATED, r""""[^"\\\n]*(?:\\[^\n][^"\\\n]*)*\\?|'(?:[^'\\\n]|\\[^\n])*\\?"""),
    TokenRule(
        parts=(
            _BEGIN,
            TokenPart(kind=TokenKind.DECLARATION, pattern=_DECLARATION),
            _SPACE,
            TokenPart(kind=TokenKind.DECLARED, pattern=rf"(?:{_NAME})(?!\.)"),
        )
    ),
    TokenRule(
        parts=(
            _BEGIN,
            TokenPart(
                kind=TokenKind.DECLARATION,
                pattern=rf"(?:(?:{'|'.join(_UNNAMED)})\b|{_LINE}){_IS_WORD}(?={_GAP}[\w\"'`{{@-])",
            ),
        )
    ),
    _rule(
        TokenKind.DECLARATION,
        rf"\b(?={_LINE})(?:{_AFTER_ONE}|{_AFTER_TWO}){_LINE}{_IS_WORD}{_ARGUMENT}",
    ),
    _rule(
        TokenKind.PUNCTUATION,
        ":",
        _SPACE,
        TokenPart(kind=TokenKind.TYPE, pattern=rf"(?:{'|'.join(TYPES)})\b"),
    ),
    _rule(TokenKind.PUNCTUATION, ":", _SPACE, TokenPart(kind=TokenKind.NAME, pattern=_NAME)),
    _rule(TokenKind.MEMBER, _terminals("FIELD SET")),
    _rule(TokenKind.CONTROL, _words(WORDS_OF[WordKind.CONTROL])),
    _rule(TokenKind.WORD_OPERATOR, _words(WORDS_OF[WordKind.OPERATOR])),
    _rule(TokenKind.CONSTANT, _words(WORDS_OF[WordKind.CONSTANT])),
    _rule(
        TokenKind.CLAUSE,
        rf"{_words(WORDS_OF[WordKind.CLAUSE])}{_IS_WORD}(?={_GAP}[\w\"'`{{(\[@-])",
    ),
    _rule(TokenKind.ANNOTATION, rf"@(?:{'|'.join(ANNOTATIONS)})\b"),
    _rule(TokenKind.FUNCTION, rf"{_words(FUNCTIONS)}(?=[ \t]*\()"),
    _rule(TokenKind.TYPE, _words(TYPES)),
    _rule(TokenKind.QUANTITY, rf"(?:{_terminals('QUANTITY')}){_IS_WORD}"),
    _rule(TokenKind.HEXADECIMAL, rf"(?=0x)(?:{_terminals('INT')})"),
    _rule(TokenKind.NUMBER, _terminals("INT")),
    _rule(TokenKind.NAME, _NAME),
    _rule(
        TokenKind.OPERATOR,
        _terminals("DERIVE EQUAL TRAIL ARROW DOTS POWER COMPARE ASSIGN PLUS MINUS TIMES"),
    ),
    _rule(
        TokenKind.PUNCTUATION, _terminals("LBRACE RBRACE LSQUARE RSQUARE LPAREN RPAREN COMMA DOT COLON AT")
    ),
    _rule(TokenKind.SPACE, r"[ \t]+|\r?\n|\ufeff"),
)
"""In the order in which they are tried at each place of a text."""


def pattern_of(*kinds: TokenKind) -> str:
    """Return a pattern without groups that capture, of the tokens of some kinds that are shown in one way."""
    return "|".join(f"(?:{rule.parts[0].pattern})" for rule in TOKEN_RULES if rule.parts[0].kind in kinds)
