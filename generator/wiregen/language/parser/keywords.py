"""The words of the language, and the names of its tokens in messages about expected ones."""

from dataclasses import dataclass
from enum import Enum, auto
from typing import Final


class WordKind(Enum):
    """How a word is used, and with it where it is a word of the language and not a name."""

    DECLARATION = auto()
    """It begins a declaration, which the parser finds again after an error."""
    OPENING = auto()
    """It begins a setting, a line of a block, or the head of a file."""
    CLAUSE = auto()
    """It goes on with a line that something else began."""
    CONTROL = auto()
    """Reserved: never a name without backticks, as the words of the next two kinds."""
    OPERATOR = auto()
    CONSTANT = auto()


WORDS_OF: Final[dict[WordKind, tuple[str, ...]]] = {
    WordKind.DECLARATION: (
        "import",
        "const",
        "limits",
        "type",
        "enum",
        "struct",
        "frame",
        "message",
        "preamble",
        "union",
        "coding",
        "variant",
        "context",
        "join",
        "session",
        "rule",
        "ledger",
        "example",
    ),
    WordKind.OPENING: (
        *("wire", "protocol", "open"),
        *("source", "endian", "bits", "roles", "port", "on", "reserved"),
        *("document", "peers", "decision", "reason", "about", "with"),
        *("set", "clear", "part", "last", "var", "option", "state"),
    ),
    WordKind.CLAUSE: ("from", "per", "when", "violates", "error"),
    WordKind.CONTROL: ("after", "any", "as", "if", "lenient", "match", "only", "until", "where"),
    WordKind.OPERATOR: ("and", "in", "not", "or"),
    WordKind.CONSTANT: ("false", "null", "true"),
}
"""Each word once."""

DECLARATION_WORDS: Final = WORDS_OF[WordKind.DECLARATION]
RESERVED_WORDS: Final = frozenset(
    (*WORDS_OF[WordKind.CONTROL], *WORDS_OF[WordKind.OPERATOR], *WORDS_OF[WordKind.CONSTANT])
)

CLAUSES = frozenset("ONLY IN LENIENT AS ASSIGN DERIVE EQUAL TRAIL IF WHERE".split())
"""The tokens of the clauses that may follow a field's type."""

CONTINUATIONS = CLAUSES | frozenset(
    "PLUS MINUS TIMES POWER COMPARE AND OR NOT DOT LSQUARE LPAREN AT COMMA DOTS WHEN".split()
)
"""Tokens that may continue a line that could end as well: named only if no other token is expected."""

NAMES = frozenset(("NAME", "FIELD", "SET"))
"""The tokens that begin with a name."""

UNITS = ("KiB", "MiB", "GiB", "ms", "s", "min")


@dataclass(frozen=True, slots=True, kw_only=True)
class TokenGroup:
    """Tokens that have one name together; the name is used where all of `signs` are expected."""

    name: str
    signs: frozenset[str]
    members: frozenset[str]


def _group(name: str, signs: str, members: str) -> TokenGroup:
    return TokenGroup(
        name=name, signs=frozenset(signs.split()), members=frozenset(f"{signs} {members}".split())
    )


GROUPS = (
    _group(
        "a declaration",
        "MESSAGE STRUCT CONST",
        "IMPORT LIMITS TYPE ENUM OPEN FRAME PREAMBLE UNION CODING VARIANT CONTEXT JOIN SESSION RULE LEDGER EXAMPLE",
    ),
    _group("a setting", "ENDIAN PORT", "SOURCE BITS ROLES RESERVED ON"),
    _group("`state`, `var`, `option`, `roles`", "STATE VAR", "OPTION ROLES"),
    _group("`document`, `peers`, `decision`, `reason`, `about`", "DECISION PEERS", "DOCUMENT REASON ABOUT"),
    _group("an expression", "LPAREN INT STRING NAME", "CHAR BYTES TRUE FALSE NULL LSQUARE MINUS NOT SET"),
    _group("a type", "NAME MATCH LBRACE", ""),
    TokenGroup(name="a field", signs=frozenset(("FIELD", "RBRACE")), members=frozenset(("FIELD",))),
)

TOKENS: dict[str, str] = {
    "NAME": "a name",
    "FIELD": "a name and `:`",
    "SET": "a name and `=`",
    "INT": "a number",
    "QUANTITY": "a quantity",
    "CHAR": "a character",
    "STRING": "a text in quotes",
    "BYTES": "bytes",
    "SET_WORD": "`set`",
    "LBRACE": "`{`",
    "RBRACE": "`}`",
    "LSQUARE": "`[`",
    "RSQUARE": "`]`",
    "LPAREN": "`(`",
    "RPAREN": "`)`",
    "COMMA": "`,`",
    "DOT": "`.`",
    "COLON": "`:`",
    "AT": "an annotation",
    "ASSIGN": "`=`",
    "DERIVE": "`:=`",
    "EQUAL": "`==`",
    "TRAIL": "`?=`",
    "ARROW": "`=>`",
    "DOTS": "`..`",
    "COMPARE": "a comparison",
    "PLUS": "`+`",
    "MINUS": "`-`",
    "TIMES": "`*`",
    "POWER": "`**`",
    "$END": "the end of the file",
}

WORDS: Final[dict[str, str]] = {
    "SET_WORD" if word == "set" else word.upper(): word for words in WORDS_OF.values() for word in words
}
"""The word of every token that is a fixed word."""
