"""The LALR(1) grammar, built once per process."""

from dataclasses import dataclass
from functools import cache
from pathlib import Path

from lark import Lark, ParseTree
from lark.utils import TextSlice

_GRAMMAR = Path(__file__).resolve().parent.parent / "wire.lark"


@cache
def grammar() -> Lark:
    """Return the parser of whole files (`file`) and of the declarations behind an error (`declarations`)."""
    return Lark(
        _GRAMMAR.read_text(encoding="utf-8"),
        parser="lalr",
        lexer="contextual",
        start=["file", "declarations"],
        keep_all_tokens=True,
        maybe_placeholders=False,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Attempt:
    """A start rule and the stretch of a text that is to fit it."""

    text: str
    begin: int
    end: int
    rule: str

    def parse(self) -> ParseTree:
        """Return the tree; positions are those in the whole text.

        Raises:
            UnexpectedInput: it does not fit.
        """
        return grammar().parse(TextSlice(self.text, self.begin, self.end), start=self.rule)
