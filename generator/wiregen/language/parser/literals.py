"""Tokens to names and literals; a literal without a meaning is reported and gets a harmless value."""

import re
from collections.abc import Callable
from typing import Literal, cast

from lark import Token

from wiregen.language import syntax
from wiregen.language.diagnostics import Report, Span

MAX_INTEGER = 2**127
_MAX_INTEGER_LENGTH = 256
_ESCAPE = re.compile(r"""\\(?:x([0-9A-Fa-f]{2})|u([0-9A-Fa-f]{4})|(["'\\nt])|(.))""", re.DOTALL)
_PLAIN_ESCAPES = {'"': '"', "'": "'", "\\": "\\", "n": "\n", "t": "\t"}

Unit = Literal["KiB", "MiB", "GiB", "ms", "s", "min"]


def name(token: Token, span: Span, report: Report) -> syntax.Name:
    return syntax.Name(text=token.strip("`"), span=span)


def integer(token: Token, span: Span, report: Report) -> syntax.Integer:
    return syntax.Integer(value=_number(str(token), span, report), span=span)


def quantity(token: Token, span: Span, report: Report) -> syntax.Quantity:
    number, unit = token.split(" ")
    return syntax.Quantity(number=_number(number, span, report), unit=cast(Unit, unit), span=span)


def _number(digits: str, span: Span, report: Report) -> int:
    # Python reads a number of a million digits in quadratic time, so long ones are refused unread.
    if len(digits) <= _MAX_INTEGER_LENGTH:
        try:
            value = int(digits.replace("__", "?"), 0 if digits.startswith("0x") else 10)
        except ValueError:
            report.error(
                "WG1104",
                "malformed number",
                span,
                help="write single underscores between digits: `65_536`",
            )
            return 0
        if value <= MAX_INTEGER:
            return value
    report.error("WG1105", "number too large", span, help="use an integer between -2**127 and 2**127")
    return 0


def character(token: Token, span: Span, report: Report) -> syntax.Character:
    text = _unescaped(token[1:-1], span, report)
    if len(text) != 1:
        report.error(
            "WG1103",
            f"a character literal has one character, found {len(text)}",
            span,
            help="write a text in double quotes",
        )
    return syntax.Character(value=ord(text[0]) if text else 0, text=text, span=span)


def string(token: Token, span: Span, report: Report) -> syntax.String:
    return syntax.String(value=_unescaped(token[1:-1], span, report), span=span)


def _unescaped(text: str, span: Span, report: Report) -> str:
    """Resolve the escapes of a literal whose quotes take one character at each end."""

    def resolve(match: re.Match[str]) -> str:
        hexadecimal = match[1] or match[2]
        if hexadecimal:
            return chr(int(hexadecimal, 16))
        if match[3] and match[3] in _PLAIN_ESCAPES:
            return _PLAIN_ESCAPES[match[3]]
        start = span.start + 1 + match.start()
        place = Span(source=span.source, start=start, end=start + len(match[0]))
        report.error(
            "WG1103",
            f"unknown escape `{match[0]}`",
            place,
            help=r"the escapes are \" \' \\ \n \t \x00 \u0000; a backslash itself is written \\",
        )
        return ""

    return _ESCAPE.sub(resolve, text) if "\\" in text else text


def bytes_(token: Token, span: Span, report: Report) -> syntax.Bytes:
    digits = "".join(token[2:-1].split())
    try:
        value = bytes.fromhex(digits)
    except ValueError:
        _report_bad_bytes(token, digits, span, report)
        value = b""
    return syntax.Bytes(value=value, span=span)


def _report_bad_bytes(token: Token, digits: str, span: Span, report: Report) -> None:
    wrong = re.search(r"[^0-9A-Fa-f\s]", token[2:-1])
    if wrong is None:
        report.error(
            "WG1106",
            f"{len(digits)} hexadecimal digits are not a whole number of bytes",
            span,
            help='write two digits for each byte: `x"0a 0b"`',
        )
    else:
        start = span.start + 2 + wrong.start()
        report.error(
            "WG1106",
            f"`{wrong[0]}` is not a hexadecimal digit",
            Span(source=span.source, start=start, end=start + 1),
            help='write two hexadecimal digits for each byte: `x"0a 0b"`',
        )


LITERALS: dict[str, Callable[[Token, Span, Report], object]] = {
    "NAME": name,
    "FIELD": name,
    "SET": name,
    "INT": integer,
    "QUANTITY": quantity,
    "CHAR": character,
    "STRING": string,
    "BYTES": bytes_,
    "TRUE": lambda token, span, report: syntax.Boolean(value=True, span=span),
    "FALSE": lambda token, span, report: syntax.Boolean(value=False, span=span),
    "NULL": lambda token, span, report: syntax.Null(span=span),
}
