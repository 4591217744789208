"""The LALR(1) grammar, once per process: from tables made when wiregen was installed, else computed.

Tables of another grammar, or of another version of lark, are ignored: tables may be missing, but never wrong.
They are JSON next to this module, so that reading them executes nothing. This module imports no other one of
wiregen, because the build hook runs it by path.
"""

import json
from dataclasses import dataclass
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import Final

import lark
from lark import Lark, ParseTree, UnexpectedInput
from lark.grammar import Rule
from lark.lexer import PatternRE, TerminalDef
from lark.utils import TextSlice

TABLES: Final = Path(__file__).resolve().with_name("tables.json")
QUESTION: Final = "question"
"""The start rule of expressions about decoded frames, separated by commas."""

_GRAMMAR: Final = Path(__file__).resolve().parent.parent / "wire.lark"
_OPTIONS: Final[dict[str, object]] = {
    "parser": "lalr",
    "lexer": "contextual",
    "start": ["file", "declarations"],
    "keep_all_tokens": True,
    "maybe_placeholders": False,
}


@cache
def grammar() -> Lark:
    """Return the parser of whole files (`file`) and of the declarations after an error (`declarations`)."""
    return ready(TABLES) or computed()


def computed() -> Lark:
    """Return the parser, its tables computed from the grammar's text."""
    return Lark(_GRAMMAR.read_text(encoding="utf-8"), **_OPTIONS)


@cache
def question_grammar() -> Lark:
    """Return the parser of questions: expressions of the language, in which `@` begins the name of a place."""
    text = f"{_GRAMMAR.read_text(encoding='utf-8')}\n{QUESTION} : expression (COMMA expression)*\n"
    return Lark(text, **{**_OPTIONS, "start": [QUESTION]}, edit_terminals=_name_places)


def _name_places(terminal: TerminalDef) -> None:
    if terminal.name == "NAME":
        terminal.pattern = PatternRE(rf"@[A-Za-z_]+|{terminal.pattern.value}")


def grammar_of(rule: str) -> Lark:
    """Return the parser that has a start rule."""
    return question_grammar() if rule == QUESTION else grammar()


def ready(path: Path) -> Lark | None:
    """Return the parser from the tables of a file, or None if they are missing or made from another grammar."""
    try:
        seal, _, tables = path.read_bytes().partition(b"\n")
    except OSError:
        return None
    return Lark.load(json.loads(tables, object_pairs_hook=_numbered)) if seal == _seal(tables) else None


def write_tables(path: Path) -> None:
    """Write the tables that `ready` reads."""
    data, memo = computed().memo_serialize([TerminalDef, Rule])
    tables = json.dumps({"data": data, "memo": memo}, separators=(",", ":")).encode()
    path.write_bytes(_seal(tables) + b"\n" + tables)


def _seal(tables: bytes) -> bytes:
    """Return a hash of the tables and of everything that they are made from."""
    made_from = f"{lark.__version__}\n{_OPTIONS}\n".encode() + _GRAMMAR.read_bytes()
    return sha256(sha256(made_from).digest() + tables).hexdigest().encode()


def _numbered(pairs: list[tuple[str, object]]) -> dict[str | int, object]:
    """Return an object of JSON with its keys as numbers again, as in lark's tables, which have no numeric names."""
    return {int(key) if key.isdecimal() else key: value for key, value in pairs}


@dataclass(frozen=True, slots=True, kw_only=True)
class Attempt:
    """A start rule and the part of a text that it has to match."""

    text: str
    begin: int
    end: int
    rule: str

    def parse(self) -> ParseTree:
        """Return the tree; positions are those in the whole text.

        Raises:
            UnexpectedInput: The text does not match the rule.
        """
        return grammar_of(self.rule).parse(TextSlice(self.text, self.begin, self.end), start=self.rule)

    def accepted(self) -> frozenset[str]:
        """Return the tokens that the grammar accepts behind the part, or none if the part does not match so far."""
        part = TextSlice(self.text, self.begin, self.end)
        parser = grammar_of(self.rule).parse_interactive(part, start=self.rule)
        try:
            parser.exhaust_lexer()
        except UnexpectedInput:
            return frozenset()
        return frozenset(parser.accepts())  # type: ignore[no-untyped-call]
