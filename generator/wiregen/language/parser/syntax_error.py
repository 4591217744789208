"""The place where the grammar stopped, with the tokens that it would have accepted."""

import re
from collections.abc import Iterable
from dataclasses import dataclass

from wiregen.language.diagnostics import Label, Report, Span

from .scanning import Outline

_WORD = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_SHOWN = 30


@dataclass(frozen=True, slots=True, kw_only=True)
class MisplacedToken:
    """`kind` is the type of the token that does not fit, empty if the text holds no token there."""

    text: str
    start: int
    end: int
    kind: str
    accepts: frozenset[str]
    seen: Outline
    source: str
    report: Report

    @property
    def token(self) -> str:
        return self.text[self.start : self.end]

    @property
    def found(self) -> str:
        """The text that was found, for a message."""
        if self.kind == "$END":
            return "the end of the file"
        token = self.token.split("\n", 1)[0]
        return f"`{token if len(token) <= _SHOWN else token[: _SHOWN - 1] + '…'}`"

    @property
    def is_word(self) -> bool:
        return _WORD.fullmatch(self.token) is not None

    @property
    def rest_of_line(self) -> str:
        """The text after the token, up to the end of its line or a comment."""
        line = self.text[self.end :].split("\n", 1)[0]
        return line.split("//", 1)[0].strip()

    @property
    def open_brackets(self) -> list[int]:
        return self.seen.open_brackets(self.text, self.start)

    def span(self, start: int | None = None, end: int | None = None) -> Span:
        """Return the token's span, or another one; at the end of the text, that of the last character not blank."""
        first = self.start if start is None else start
        behind = self.end if end is None else end
        if first >= len(self.text):
            behind = len(self.text.rstrip())
            first = max(behind - 1, 0)
        return Span(source=self.source, start=first, end=behind)

    def error(
        self,
        code: str,
        message: str,
        *,
        span: Span | None = None,
        label: str = "",
        others: Iterable[Label] = (),
        way_out: str | None = None,
    ) -> bool:
        """Report, and return True so that an explanation can end with it."""
        self.report.error(code, message, span or self.span(), label=label, others=others, help=way_out)
        return True
