"""The lexer of editors and pages agrees with the parser about every token of every `.wire` file of the repository."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pygments.lexers import get_lexer_by_name, get_lexer_for_filename
from pygments.token import Comment, Error, Keyword, Name, Number, Operator, Punctuation, String, _TokenType

from wiregen.language.diagnostics import Report
from wiregen.language.formatter.pieces import TokenPiece, pieces_of
from wiregen.language.lexical.token_rules import ANNOTATIONS, FUNCTIONS, TYPES
from wiregen.language.lexical.wire_lexer import WireLexer
from wiregen.language.parser import parse_tokens
from wiregen.language.parser.grammar import grammar
from wiregen.language.parser.keywords import UNITS, WORDS, WORDS_OF, WordKind
from wiregen.language.source import Source

ROOT = Path(__file__).resolve().parents[3]
FILES = sorted(path for folder in ("idl", "docs", "tests") for path in (ROOT / folder).rglob("*.wire"))
SHOWN: dict[str, set[_TokenType]] = {
    "NAME": {Name, Name.Attribute, Name.Class, Name.Builtin, Name.Decorator, Keyword.Type},
    "FIELD": {Name.Attribute, Name.Class},
    "SET": {Name.Attribute, Name.Class},
    "INT": {Number.Integer, Number.Hex},
    "QUANTITY": {Number.Integer},
    "CHAR": {String.Char},
    "STRING": {String.Double},
    "BYTES": {String.Other},
    "DOC": {String.Doc},
    "AT": {Name.Decorator, Punctuation},
    **{kind: {Punctuation} for kind in "LBRACE RBRACE LSQUARE RSQUARE LPAREN RPAREN COMMA DOT COLON".split()},
    **{
        kind: {Operator}
        for kind in "ASSIGN DERIVE EQUAL TRAIL ARROW DOTS COMPARE PLUS MINUS TIMES POWER".split()
    },
}
"""The types of Pygments in which a token of the parser may be shown; those of words are below."""
SHOWN_WORDS = {
    WordKind.DECLARATION: {Keyword.Declaration},
    WordKind.OPENING: {Keyword.Declaration},
    WordKind.CLAUSE: {Keyword},
    WordKind.CONTROL: {Keyword},
    WordKind.OPERATOR: {Operator.Word},
    WordKind.CONSTANT: {Keyword.Constant},
}
WITHOUT_TOKENS = {
    "comma_between", "conversation", "invisible_character", "malformed_number", "quantity_outside_limits", "stray_character",
    "unterminated", "unterminated_bytes",
}  # fmt: skip
"""The cases of texts with characters that begin no token."""


@cache
def shown(text: str) -> tuple[_TokenType, ...]:
    """Return the type of each character; all characters are in a token, in their order."""
    types: list[_TokenType] = []
    for start, kind, value in WireLexer().get_tokens_unprocessed(text):
        assert start == len(types) and text.startswith(value, start)
        types += [kind] * len(value)
    assert len(types) == len(text)
    return tuple(types)


@cache
def parsed(path: Path) -> tuple[TokenPiece, ...]:
    text = path.read_text(encoding="utf-8")
    tree = parse_tokens(Source(name=path.name, path=path, text=text), Report())
    return () if tree is None else tuple(pieces_of(tree, text)[0])


def expected(piece: TokenPiece) -> set[_TokenType]:
    word = WORDS.get(piece.kind)
    if word is None:
        return SHOWN[piece.kind]
    return next(SHOWN_WORDS[kind] for kind, words in WORDS_OF.items() if word in words)


def test_words_are_those_of_the_grammar() -> None:
    terminals = {each.name: each.pattern.value for each in grammar().terminals}
    words = {name: pattern[:-2] for name, pattern in terminals.items() if pattern.endswith(r"\b")}
    assert words == WORDS
    assert sorted(word for words_ in WORDS_OF.values() for word in words_) == sorted(words.values())
    assert f" (?:{'|'.join(UNITS)})" in terminals["QUANTITY"]


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_tokens_are_those_of_the_parser(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    types = shown(text)
    assert (Error in types) == (path.stem in WITHOUT_TOKENS)
    for piece in parsed(path):
        assert types[piece.start] in expected(piece), f"{piece.text!r} at {piece.start}"
        last = piece.start + len(piece.text) - 1
        assert piece.kind in ("STRING", "CHAR") or types[last] == types[piece.start]
        for comment in piece.comments:
            assert types[comment.start] == Comment.Single


def test_files_have_every_token_of_the_parser() -> None:
    """So that the comparison of files leaves nothing out."""
    found = {piece.kind for path in FILES for piece in parsed(path)}
    silent = {"COMMENT", "MARK", "IMPORT"}  # no file imports another one; a text below does
    assert found == {each.name for each in grammar().terminals if not each.name.startswith("__")} - silent


def test_types_functions_and_annotations_are_told_from_names() -> None:
    seen: dict[str, set[_TokenType]] = {"type": set(), "function": set(), "annotation": set(), "name": set()}
    for path in FILES:
        text, pieces = path.read_text(encoding="utf-8"), parsed(path)
        for before, piece, after in zip(pieces, pieces[1:], pieces[2:], strict=False):
            if piece.kind != "NAME":
                continue
            use = "name"
            if before.kind == "COLON" and piece.text in TYPES:
                use = "type"
            elif after.kind == "LPAREN" and before.kind not in ("AT", "DOT") and piece.text in FUNCTIONS:
                use = "function"
            elif before.kind == "AT" and piece.text in ANNOTATIONS:
                use = "annotation"
            elif piece.text in TYPES:
                continue  # a type in an expression, or a name: the resolver knows
            seen[use].add(shown(text)[piece.start])
    assert seen == {
        "type": {Keyword.Type},
        "function": {Name.Builtin},
        "annotation": {Name.Decorator},
        "name": {Name, Name.Class, Name.Attribute},
    }


def tokens(text: str) -> list[tuple[_TokenType, str]]:
    return [
        (kind, value) for _, kind, value in WireLexer().get_tokens_unprocessed(text) if not value.isspace()
    ]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ('"a\\n\\x00\\q"', [(String.Double, '"a'), (String.Escape, "\\n"), (String.Escape, "\\x00"), (String.Double, "\\"), (String.Double, 'q"')]),
        ("'\\u0041'", [(String.Char, "'"), (String.Escape, "\\u0041"), (String.Char, "'")]),
        ('x"00\n 0a"', [(String.Other, 'x"00\n 0a"')]),
        ("0xFF_00 65_536 16 MiB", [(Number.Hex, "0xFF_00"), (Number.Integer, "65_536"), (Number.Integer, "16 MiB")]),
        ("u16le f64be u24 utf16 zlib", [(Keyword.Type, "u16le"), (Keyword.Type, "f64be"), (Keyword.Type, "u24"), (Keyword.Type, "utf16"), (Keyword.Type, "zlib")]),
        ("u8le u12 utf16le", [(Name, "u8le"), (Name, "u12"), (Name, "utf16le")]),
        ("`match` x.type", [(Name, "`match`"), (Name, "x"), (Punctuation, "."), (Name, "type")]),
        ("  frame : Frame\n  size : u8 = 3", [(Name.Attribute, "frame"), (Punctuation, ":"), (Name, "Frame"), (Name.Attribute, "size"), (Punctuation, ":"), (Keyword.Type, "u8"), (Operator, "="), (Number.Integer, "3")]),
        ("import talk : A", [(Keyword.Declaration, "import"), (Name.Class, "talk"), (Punctuation, ":"), (Name, "A")]),
        ("a @typo(count)", [(Name, "a"), (Punctuation, "@"), (Name, "typo"), (Punctuation, "("), (Name, "count"), (Punctuation, ")")]),
        ("§", [(Error, "§")]),
        ('"no end\nframe F', [(Error, '"no end'), (Keyword.Declaration, "frame"), (Name.Class, "F")]),
    ],
)  # fmt: skip
def test_tokens_of_a_text(text: str, found: list[tuple[_TokenType, str]]) -> None:
    assert tokens(text) == found


@given(st.text(alphabet="ax0 \n\"'`\\/@.:={}[]§\t", max_size=60))
def test_any_text_is_covered(text: str) -> None:
    shown(text)


@pytest.mark.parametrize("part", ['"\\"', "'\\'", 'x"0\n', "{ ", "a ", "\\", ": ", "`a"])
def test_hostile_text_takes_linear_work(part: str) -> None:
    """A quadratic lexer would take hours."""
    assert len(shown(part * 200_000)) == len(part) * 200_000


def test_pygments_finds_the_lexer() -> None:
    assert isinstance(get_lexer_by_name("wire"), WireLexer)
    assert isinstance(get_lexer_for_filename("talk.wire"), WireLexer)
