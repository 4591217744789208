"""The canonical text of a source, or its diagnostics. Invariant: tokens and comments stay the same, in the same order."""

from dataclasses import dataclass
from itertools import zip_longest

from wiregen.language.diagnostics import Report
from wiregen.language.parser import parse_tokens
from wiregen.language.parser.driver import ParserInput

from .alignment import align, text_of
from .lines import lines_of
from .pieces import Comment, TokenPiece, pieces_of

__all__ = ["Content", "FormattedText", "content_of", "format_source"]


@dataclass(frozen=True, slots=True)
class Content:
    """Everything in a file but spaces and line ends; `last`: the comments after its last token."""

    pieces: list[TokenPiece]
    last: tuple[Comment, ...]

    def texts(self) -> list[str]:
        """Return the texts of comments and tokens in their order."""
        texts = []
        for piece in self.pieces:
            texts += [comment.text for comment in piece.comments]
            texts.append(piece.text)
        return [*texts, *(comment.text for comment in self.last)]


def format_source(source: ParserInput, report: Report) -> str | None:
    """Return the canonical text, or report at least one error and return None if the source does not parse.

    Raises:
        RuntimeError: The canonical text would have other tokens or comments, which is a bug of this package.
    """
    before = content_of(source, report)
    if before is None:
        return None
    lines = lines_of(before.pieces, before.last)
    align(lines)
    text = text_of(lines)
    if text != source.text:
        _check_same(before, text)
    return text


def content_of(source: ParserInput, report: Report) -> Content | None:
    """Return the tokens and comments of a source; report at least one error and return None if it does not parse."""
    tree = parse_tokens(source, report)
    return None if tree is None else Content(*pieces_of(tree, source.text))


@dataclass(frozen=True, slots=True, kw_only=True)
class FormattedText:
    """A text and the name by which diagnostics call it."""

    name: str
    text: str


def _check_same(before: Content, text: str) -> None:
    after = content_of(FormattedText(name="formatted", text=text), Report())
    olds, news = before.texts(), after.texts() if after is not None else []
    for old, new in zip_longest(olds, news):
        if old != new:
            raise RuntimeError(f"formatting would change {old!r} to {new!r}")
