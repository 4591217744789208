"""Explanations of an unexpected word or sign, from the most specific to the one that always applies."""

import re
from typing import Final

from wiregen.language.diagnostics import did_you_mean, suggest

from .keywords import (
    CLAUSES,
    CONTINUATIONS,
    DECLARATION_WORDS,
    GROUPS,
    NAMES,
    RESERVED_WORDS,
    TOKENS,
    WORDS,
)
from .syntax_error import MisplacedToken

_MAX_NAMED = 5


def reserved(fault: MisplacedToken) -> bool:
    """A word of the language where a name is expected."""
    is_word = fault.kind in WORDS
    if not is_word or not fault.accepts & NAMES or "LPAREN" in fault.accepts:
        return False
    is_named = fault.rest_of_line[:1] in (":", "=") and not fault.rest_of_line.startswith("==")
    if not is_named and not fault.accepts <= NAMES:
        return False
    what = "a reserved word" if fault.token in RESERVED_WORDS else "a word of the language here"
    return fault.error(
        "WG1110",
        f"`{fault.token}` is {what}",
        way_out=f"to use it as a name, write it in backticks: `{fault.token}`",
    )


_AFTER_A_NAME: Final = re.compile(r"\s*(?://[^\n]*\n\s*)*(:(?!=)|=(?![=>]))")
_NAME_BEFORE: Final = re.compile(r"([A-Za-z_]\w*|`\w+`)[ \t]*(?://[^\n]*)?\n\s*\Z")
_LONGEST: Final = 300
"""Characters in which a name and what follows it are searched."""


def torn_name(fault: MisplacedToken) -> bool:
    """A name whose `:` or `=` is on a later line: only on the same line they make a name of a word."""
    name, sign = "", None
    if fault.is_word and fault.accepts & {"FIELD", "SET"}:
        name, sign = fault.token, _AFTER_A_NAME.match(fault.text[: fault.end + _LONGEST], fault.end)
    elif fault.kind == "ASSIGN" and {"COMMA", "RPAREN"} <= fault.accepts:  # that of an argument
        found = _NAME_BEFORE.search(fault.text[max(fault.start - _LONGEST, 0) : fault.start])
        name, sign = (found[1], re.match("(=)", fault.token)) if found else ("", None)
    if sign is None or fault.kind != "ASSIGN" and "\n" not in sign[0]:
        return False
    message = f"`{sign[1]}` is not on the line of the name `{name}`"
    return fault.error("WG1112", message, way_out=f"write it there: `{name} {sign[1]} …`")


def confused_equals(fault: MisplacedToken) -> bool:
    """One of `=`, `:=`, `==`, `=>`, `:` where another is meant."""
    if fault.kind == "ASSIGN" and "EQUAL" in fault.accepts:
        return fault.error("WG1118", "`=` is not a comparison", way_out="write `==` to compare")
    if fault.kind in ("DERIVE", "EQUAL", "TRAIL", "COLON") and "ASSIGN" in fault.accepts:
        return fault.error("WG1118", f"expected `=`, found {fault.found}", way_out="write `=` here")
    wrong = re.match(r":=|==|\?=|:", fault.rest_of_line)
    if fault.is_word and wrong and "SET" in fault.accepts and not fault.accepts & {"FIELD", "LPAREN"}:
        start = fault.text.index(wrong[0], fault.end)
        return fault.error(
            "WG1118",
            f"expected `=`, found `{wrong[0]}`",
            span=fault.span(start, start + len(wrong[0])),
            way_out="write `=` here",
        )
    if "ARROW" in fault.accepts and fault.text.startswith(("->", ">="), fault.start):
        sign = fault.text[fault.start : fault.start + 2]
        span = fault.span(end=fault.start + 2)
        return fault.error("WG1118", f"expected `=>`, found `{sign}`", span=span, way_out="write `=>`")
    return False


def misspelled(fault: MisplacedToken) -> bool:
    """A word that is nearly one that is allowed here, or where only certain words are."""
    if fault.kind != "NAME":
        return False
    words = sorted({WORDS[kind] for kind in fault.accepts if kind in WORDS})
    nearest = suggest(fault.token, words)
    if nearest is not None and not _looks_like_field(fault):
        way_out = did_you_mean(fault.token, words)
        return fault.error("WG1111", f"the word `{fault.token}` is not known here", way_out=way_out)
    if "MESSAGE" in fault.accepts and "FIELD" not in fault.accepts:
        known = ", ".join(DECLARATION_WORDS)
        return fault.error(
            "WG1111",
            f"`{fault.token}` does not begin a declaration",
            way_out=f"begin a declaration with one of {known}",
        )
    return False


def _looks_like_field(fault: MisplacedToken) -> bool:
    """A word and a type after it: a colon is missing, however near the word is to a keyword."""
    first, _, rest = fault.rest_of_line.partition(" ")
    return "FIELD" in fault.accepts and first[:1].isalpha() and rest == ""


def missing_colon(fault: MisplacedToken) -> bool:
    """A name without the `:` or `=` that belongs after it."""
    if not fault.is_word or fault.token in RESERVED_WORDS:
        return False
    if "FIELD" in fault.accepts and fault.kind != "FIELD":
        return _missing_type(fault)
    if "SET" in fault.accepts and fault.kind != "SET" and "LPAREN" not in fault.accepts:
        value = re.match(r"[^{}]*", fault.rest_of_line)
        shown = value[0].strip() if value and value[0].strip() else "VALUE"
        message = f"expected `=` after the name `{fault.token}`"
        return fault.error("WG1112", message, way_out=f"write `{fault.token} = {shown}`")
    return False


_LIKE_A_TYPE: Final = re.compile(r"[uif][0-9]+(?:[lb]e)?|bool|bytes|uuid|varint|utf8|ascii")
"""Words that are more probably a type than the name of a field."""


def _missing_type(fault: MisplacedToken) -> bool:
    rest = fault.rest_of_line
    if rest.startswith((":=", "=", "?=")):
        message = f"the field `{fault.token}` has no type"
        way_out = f"write the type before the value: `{fault.token} : u32 {rest}`"
    else:
        type_ = rest.split(" ", 1)[0] if rest[:1].isalpha() else "u32"
        message = f"expected `:` after the field name `{fault.token}`"
        way_out = f"write `{fault.token} : {type_}`"
        if _LIKE_A_TYPE.fullmatch(fault.token) and not _LIKE_A_TYPE.fullmatch(type_):  # the order of C
            message = f"the type `{fault.token}` is written before the name of its field"
            way_out = f"write `{type_} : {fault.token}`"
    return fault.error("WG1112", message, way_out=way_out)


def late_clause(fault: MisplacedToken) -> bool:
    """A clause of a field after one that should follow it, or a second time."""
    if fault.kind not in CLAUSES or not {"FIELD", "RBRACE"} <= fault.accepts:
        return False
    return fault.error(
        "WG1114",
        f"{fault.found} is in the wrong place, or occurs twice",
        way_out="write the clauses of a field in this order, each at most once: "
        "`only`, `in`, `lenient`, `as`, a value (`=`, `:=`, `==` or `?=`), `if`, `where`, annotations",
    )


def region_before_arms(fault: MisplacedToken) -> bool:
    """Arms after the region of a `match`, whose place is after the arms."""
    line = fault.text[fault.text.rfind("\n", 0, fault.start) + 1 : fault.start]
    found = re.search(r"\bmatch\s+([\w.`]+)\s+in\s+([^{}:]+?)\s*$", line)
    if fault.kind != "LBRACE" or found is None:
        return False
    return fault.error(
        "WG1100",
        "the arms of `match` must come before `in`",
        way_out=f"write `in` after the arms: `match {found[1]} {{ … }} in {found[2]}`",
    )


def unexpected(fault: MisplacedToken) -> bool:
    expected = _expected(fault.accepts)
    message = (
        f"expected {expected}, found {fault.found}" if expected else f"{fault.found} is not allowed here"
    )
    return fault.error("WG1100", message)


def _expected(accepts: frozenset[str]) -> str:
    """Return the expected tokens in words. Tokens that only continue the line are named as a last resort."""
    kinds = accepts - {"DOC"}
    phrases = []
    for group in GROUPS:
        if group.signs <= kinds:
            phrases.append(group.name)
            kinds -= group.members
    kinds = kinds - CONTINUATIONS if phrases else kinds - CONTINUATIONS or kinds
    phrases += sorted(TOKENS.get(kind) or f"`{WORDS.get(kind, kind.lower())}`" for kind in kinds)
    named = phrases[:_MAX_NAMED]
    if len(phrases) > _MAX_NAMED or len(named) < 2:
        return ", ".join(named)
    return ", ".join(named[:-1]) + " or " + named[-1]
