"""The canonical text of a source, or its diagnostics. Invariant: tokens and comments stay the same, in the same order."""

from dataclasses import dataclass
from itertools import zip_longest

from wiregen.language.diagnostics import Report
from wiregen.language.parser import parse_tokens
from wiregen.language.source import Source

from .alignment import align, text_of
from .lines import lines_of
from .pieces import Comment, Piece, pieces_of

__all__ = ["format_source"]


@dataclass(frozen=True, slots=True)
class _Content:
    """Everything in a file but spaces and line ends."""

    pieces: list[Piece]
    last: tuple[Comment, ...]

    def texts(self) -> list[str]:
        """Return the texts of comments and tokens in their order."""
        texts = []
        for piece in self.pieces:
            texts += [comment.text for comment in piece.comments]
            texts.append(piece.text)
        return [*texts, *(comment.text for comment in self.last)]


def format_source(source: Source, report: Report) -> str | None:
    """Return the canonical text, or report at least one error and return None if the source does not parse.

    Raises:
        RuntimeError: The canonical text would have other tokens or comments, which is a bug of this package.
    """
    before = _content(source.text, source.name, report)
    if before is None:
        return None
    lines = lines_of(before.pieces, before.last)
    align(lines)
    text = text_of(lines)
    if text != source.text:
        _check_same(before, text)
    return text


def _content(text: str, name: str, report: Report) -> _Content | None:
    tree = parse_tokens(_Text(name, text), report)
    return None if tree is None else _Content(*pieces_of(tree, text))


@dataclass(frozen=True, slots=True)
class _Text:
    name: str
    text: str


def _check_same(before: _Content, text: str) -> None:
    after = _content(text, "formatted", Report())
    olds, news = before.texts(), after.texts() if after is not None else []
    for old, new in zip_longest(olds, news):
        if old != new:
            raise RuntimeError(f"formatting would change {old!r} to {new!r}")
