"""Explanations of text that is not a token, or is a token of another language."""

import re

from .keywords import UNITS
from .syntax_error import MisplacedToken

_NUMBER = re.compile(r"[0-9][\w]*(?:\.[0-9]\w*)?")
_QUANTITY = re.compile(rf"\b([0-9][0-9_]*)[ \t]*({'|'.join(UNITS)})\b")
_MAX_DIGITS = 40
_WORDS_FOR_SIGNS = {"&&": "and", "||": "or", "!": "not", "<>": "!="}


def unterminated(fault: MisplacedToken) -> bool:
    """A text, bytes, a character or a name in backticks without its end."""
    quote = fault.token
    if fault.kind or quote not in "\"'`":
        return False
    start, end = fault.start, _end_of_line(fault)
    if quote == '"' and fault.text[start - 1 : start] == "x":
        start -= 1
        what, way_out = "bytes", 'end the bytes with `"`: `x"0a 0b"`'
    elif quote == '"':
        what, way_out = "text", r'end the text with `"` on the same line; write `\n` for the end of a line'
    elif quote == "'":
        what, way_out = "character", "write a character between single quotes: `'W'`"
    else:
        what, way_out = "name in backticks", "write letters, digits and underscores between two backticks"
    return fault.error("WG1102", f"unterminated {what}", span=fault.span(start, end), way_out=way_out)


def _end_of_line(fault: MisplacedToken) -> int:
    end = fault.text.find("\n", fault.start)
    return len(fault.text) if end < 0 else max(end, fault.start + 1)


def malformed_number(fault: MisplacedToken) -> bool:
    """`0x`, `12ab`, `1.5`: text that begins like a number and is not one."""
    match = _NUMBER.match(fault.text, fault.start - (fault.kind == "DOT"))
    is_fraction = fault.kind == "DOT" and re.match(r"\d\.\d", fault.text[fault.start - 1 : fault.start + 2])
    if match is None or not (fault.kind == "" or is_fraction):
        return False
    way_out = (
        "write an integer, in a smaller unit if necessary"
        if is_fraction
        else "write the number like `12`, `0x0C` or `65_536`"
    )
    return fault.error(
        "WG1104", "malformed number", span=fault.span(match.start(), match.end()), way_out=way_out
    )


def misplaced_quantity(fault: MisplacedToken) -> bool:
    """`16 MiB` outside `limits`, or `16MiB` within."""
    line = fault.text.rfind("\n", 0, fault.start) + 1
    match = _QUANTITY.search(fault.text[line : _end_of_line(fault)], max(fault.start - line - _MAX_DIGITS, 0))
    if match is None or not match.start() <= fault.start - line < match.end():
        return False
    span = fault.span(line + match.start(), line + match.end())
    number, unit = match[1], match[2]
    if match[0] != f"{number} {unit}":
        message = "the unit of a number comes after one space"
        return fault.error("WG1120", message, span=span, way_out=f"write `{number} {unit}`")
    return fault.error(
        "WG1120",
        "a number with a unit is not allowed here",
        span=span,
        way_out="write it in `limits`, with one space before the unit: `frame = 16 MiB`",
    )


def comment_of_another_language(fault: MisplacedToken) -> bool:
    # The grammar takes the `/` of `/*` for a division and stops after it.
    is_behind = fault.text.startswith("/*", fault.start - 1)
    start = fault.start - is_behind
    sign = next((sign for sign in ("/*", "#") if fault.text.startswith(sign, start)), None)
    if sign is None:
        return False
    return fault.error(
        "WG1101",
        f"`{sign}` does not begin a comment",
        span=fault.span(start, start + len(sign)),
        way_out="begin a comment with `//`; it ends with its line",
    )


def operator_of_another_language(fault: MisplacedToken) -> bool:
    for sign, word in _WORDS_FOR_SIGNS.items():
        if fault.text.startswith(sign, fault.start) and not fault.text.startswith("!=", fault.start):
            return fault.error(
                "WG1101",
                f"`{sign}` is not an operator",
                span=fault.span(end=fault.start + len(sign)),
                way_out=f"write `{word}`",
            )
    return False


def separator(fault: MisplacedToken) -> bool:
    """A comma or semicolon between things that follow each other without one."""
    is_between = fault.kind == "COMMA" and fault.accepts & {"FIELD", "SET", "RBRACE", "MESSAGE", "$END"}
    if fault.token == ";" or is_between:
        sign = "comma" if fault.token == "," else "semicolon"
        return fault.error(
            "WG1113",
            f"a {sign} is not allowed here",
            way_out=f"remove the {sign}: declarations, fields, members, transitions and updates follow each other without one",
        )
    return False


def stray(fault: MisplacedToken) -> bool:
    if fault.kind:
        return False
    code = ord(fault.token)
    shown = f"`{fault.token}`" if fault.token.isprintable() else f"U+{code:04X}"
    way_out = "use ASCII letters, digits and underscores for names" if fault.token.isalpha() else None
    return fault.error("WG1101", f"the character {shown} is not allowed here", way_out=way_out)
