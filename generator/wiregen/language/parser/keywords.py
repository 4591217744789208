"""The words of the language, and the names of its tokens in messages about expected ones."""

from dataclasses import dataclass

DECLARATION_WORDS = (
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
)
RESERVED_WORDS = frozenset(
    "after and any as false if in lenient match not null only or true until where".split()
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

WORDS: dict[str, str] = {
    "AFTER": "after",
    "AND": "and",
    "ANY": "any",
    "AS": "as",
    "FALSE": "false",
    "IF": "if",
    "IN": "in",
    "LENIENT": "lenient",
    "MATCH": "match",
    "NOT": "not",
    "NULL": "null",
    "ONLY": "only",
    "OR": "or",
    "TRUE": "true",
    "UNTIL": "until",
    "WHERE": "where",
    "ABOUT": "about",
    "BITS": "bits",
    "CLEAR": "clear",
    "CODING": "coding",
    "CONST": "const",
    "CONTEXT": "context",
    "DECISION": "decision",
    "DOCUMENT": "document",
    "ENDIAN": "endian",
    "ENUM": "enum",
    "ERROR": "error",
    "EXAMPLE": "example",
    "FRAME": "frame",
    "FROM": "from",
    "IMPORT": "import",
    "JOIN": "join",
    "LAST": "last",
    "LEDGER": "ledger",
    "LIMITS": "limits",
    "MESSAGE": "message",
    "ON": "on",
    "OPEN": "open",
    "OPTION": "option",
    "PART": "part",
    "PEERS": "peers",
    "PER": "per",
    "PORT": "port",
    "PREAMBLE": "preamble",
    "PROTOCOL": "protocol",
    "REASON": "reason",
    "RESERVED": "reserved",
    "ROLES": "roles",
    "RULE": "rule",
    "SESSION": "session",
    "SET_WORD": "set",
    "SOURCE": "source",
    "STATE": "state",
    "STRUCT": "struct",
    "TYPE": "type",
    "UNION": "union",
    "VAR": "var",
    "VARIANT": "variant",
    "VIOLATES": "violates",
    "WHEN": "when",
    "WIRE": "wire",
    "WITH": "with",
}
"""The word of every token that is a fixed word."""
