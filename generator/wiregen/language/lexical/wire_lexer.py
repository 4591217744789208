"""The lexer of Pygments, which finds it by an entry point; nothing else of wiregen imports this module."""

import re
from collections.abc import Iterator
from typing import ClassVar, Final, assert_never

from pygments.lexer import RegexLexer, bygroups, this, using
from pygments.token import (
    Comment,
    Error,
    Keyword,
    Name,
    Number,
    Operator,
    Punctuation,
    String,
    Whitespace,
    _TokenType,
)

from .token_rules import TOKEN_RULES, TokenKind, TokenRule

__all__ = ["WireLexer", "token_type"]


def token_type(kind: TokenKind) -> _TokenType:
    """Return the type of Pygments in which a kind of token is shown."""
    match kind:
        case TokenKind.SPACE:
            return Whitespace
        case TokenKind.DOC:
            return String.Doc
        case TokenKind.COMMENT:
            return Comment.Single
        case TokenKind.TEXT:
            return String.Double
        case TokenKind.ESCAPE:
            return String.Escape
        case TokenKind.BYTES:
            return String.Other
        case TokenKind.CHARACTER:
            return String.Char
        case TokenKind.NUMBER | TokenKind.QUANTITY:
            return Number.Integer
        case TokenKind.HEXADECIMAL:
            return Number.Hex
        case TokenKind.DECLARATION:
            return Keyword.Declaration
        case TokenKind.CLAUSE | TokenKind.CONTROL:
            return Keyword
        case TokenKind.WORD_OPERATOR:
            return Operator.Word
        case TokenKind.CONSTANT:
            return Keyword.Constant
        case TokenKind.TYPE:
            return Keyword.Type
        case TokenKind.FUNCTION:
            return Name.Builtin
        case TokenKind.ANNOTATION:
            return Name.Decorator
        case TokenKind.DECLARED:
            return Name.Class
        case TokenKind.MEMBER:
            return Name.Attribute
        case TokenKind.NAME:
            return Name
        case TokenKind.OPERATOR:
            return Operator
        case TokenKind.PUNCTUATION:
            return Punctuation
        case TokenKind.UNTERMINATED:
            return Error
        case _:
            assert_never(kind)


def _steps(rules: tuple[TokenRule, ...]) -> Iterator[tuple[str, object]]:
    for rule in rules:
        inside = using(this, state=rule.parts[0].kind.name) if rule.inside else None  # type: ignore[no-untyped-call]
        yield rule.pattern, inside or bygroups(*(token_type(part.kind) for part in rule.parts))  # type: ignore[no-untyped-call]


_INSIDE: Final[dict[str, list[tuple[str, object]]]] = {
    rule.parts[0].kind.name: [*_steps(rule.inside), (r"[^\\]+|\\", token_type(rule.parts[0].kind))]
    for rule in TOKEN_RULES
    if rule.inside
}


class WireLexer(RegexLexer):
    """The tokens of `.wire` text; what is none of the language's is `Error`."""

    name = "wire"
    aliases: ClassVar = ["wire"]
    filenames: ClassVar = ["*.wire"]
    mimetypes: ClassVar = ["text/x-wire"]
    flags = re.MULTILINE
    tokens: ClassVar = {"root": [*_steps(TOKEN_RULES)], **_INSIDE}
