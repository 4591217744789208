"""The grammar in the format of TextMate, by which Visual Studio Code and others colour text.

Such a grammar sees one line at a time: of the tokens only bytes go over several lines, and they have a rule with a begin and an end.
"""

from typing import Final, assert_never

from .token_rules import TOKEN_RULES, TokenKind, TokenRule

__all__ = ["SCOPE", "scope_of", "textmate_grammar"]

SCOPE: Final = "source.wire"
"""The scope of a whole text; those of tokens end with its last part."""


def scope_of(kind: TokenKind) -> str | None:
    """Return the scope of a kind of token, by TextMate's conventions; None where a text needs no colour."""
    match kind:
        case TokenKind.SPACE | TokenKind.NAME:
            return None
        case TokenKind.DOC:
            return "comment.line.documentation.wire"
        case TokenKind.COMMENT:
            return "comment.line.double-slash.wire"
        case TokenKind.TEXT:
            return "string.quoted.double.wire"
        case TokenKind.ESCAPE:
            return "constant.character.escape.wire"
        case TokenKind.BYTES:
            return "string.quoted.other.wire"
        case TokenKind.CHARACTER:
            return "string.quoted.single.wire"
        case TokenKind.NUMBER | TokenKind.QUANTITY:
            return "constant.numeric.decimal.wire"
        case TokenKind.HEXADECIMAL:
            return "constant.numeric.hex.wire"
        case TokenKind.DECLARATION:
            return "storage.type.wire"
        case TokenKind.CLAUSE | TokenKind.CONTROL:
            return "keyword.control.wire"
        case TokenKind.WORD_OPERATOR:
            return "keyword.operator.word.wire"
        case TokenKind.CONSTANT:
            return "constant.language.wire"
        case TokenKind.TYPE:
            return "support.type.wire"
        case TokenKind.FUNCTION:
            return "support.function.wire"
        case TokenKind.ANNOTATION:
            return "entity.name.function.decorator.wire"
        case TokenKind.DECLARED:
            return "entity.name.type.wire"
        case TokenKind.MEMBER:
            return "variable.other.member.wire"
        case TokenKind.OPERATOR:
            return "keyword.operator.wire"
        case TokenKind.PUNCTUATION:
            return "punctuation.wire"
        case TokenKind.UNTERMINATED:
            return "invalid.illegal.wire"
        case _:
            assert_never(kind)


def textmate_grammar() -> dict[str, object]:
    """Return the grammar, as JSON has it; the order of its patterns is that of the rules."""
    no_token = {"match": r"\S", "name": scope_of(TokenKind.UNTERMINATED)}
    patterns = [*map(_step, TOKEN_RULES), no_token]
    return {"name": "wire", "scopeName": SCOPE, "fileTypes": ["wire"], "patterns": patterns}


def _step(rule: TokenRule) -> dict[str, object]:
    first = rule.parts[0].kind
    if first is TokenKind.BYTES:
        return {
            "begin": r'x"(?=[\w \t]*"|[0-9A-Fa-f \t]*$)',
            "end": r'"|(?=[^\w\s"])',
            "name": scope_of(first),
        }
    captures: dict[str, dict[str, object]] = {
        str(number): {"name": scope_of(part.kind)}
        for number, part in enumerate(rule.parts, 1)
        if scope_of(part.kind) is not None
    }
    if rule.inside:
        captures["1"]["patterns"] = list(map(_step, rule.inside))
    return {"match": rule.pattern, "captures": captures}
