"""Fixes: texts without the parts that findings of some rules ask to remove."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from typing import Final

from wiregen.language.diagnostics import Diagnostic, Report
from wiregen.language.formatter import Comment, Content, FormattedText, TokenPiece, content_of, format_source
from wiregen.language.linter.allowances import is_allowance
from wiregen.language.parser.driver import ParserInput

__all__ = ["FIXABLE", "fixed"]

FIXABLE: Final = frozenset({"WG7013", "WG7015"})
"""The codes of the findings that can be fixed: declarations and imports without a use, allowances that suppress nothing."""
_WORD: Final = re.compile(r"[^\s,()]+")


def fixed(text: ParserInput, findings: Collection[Diagnostic]) -> str | None:
    """Return the canonical text without what the fixable findings are about, or None if no finding can be fixed."""
    places = {
        each.span.start
        for each in findings
        if each.code in FIXABLE and each.span is not None and each.span.source == text.name
    }
    content = content_of(text, Report()) if places else None
    if content is None:
        return None
    cuts = (*_declared(content, text.text, places), *_allowed(content, places))
    return (
        format_source(FormattedText(name=text.name, text=_without(text.text, cuts)), Report())
        if cuts
        else None
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class _Cut:
    """A stretch of the text that is removed."""

    start: int
    end: int


def _without(text: str, cuts: Collection[_Cut]) -> str:
    """Return a text without some stretches, which may overlap; lines that become empty are removed too."""
    parts, end = [], 0
    for cut in sorted((_whole_lines(each, text) for each in cuts), key=lambda each: each.start):
        parts.append(text[end : max(cut.start, end)])
        end = max(cut.end, end)
    return "".join((*parts, text[end:]))


def _whole_lines(cut: _Cut, text: str) -> _Cut:
    """Return a stretch with the spaces around it and its last line end, if it takes all that is on its lines."""
    start = text.rfind("\n", 0, cut.start) + 1
    end = text.find("\n", cut.end) + 1 or len(text)
    is_all = not text[start : cut.start].strip() and not text[cut.end : end].strip()
    return _Cut(start=start, end=end) if is_all else cut


# ---- declarations


def _declared(content: Content, text: str, places: Collection[int]) -> Iterator[_Cut]:
    """Yield the declarations that contain one of the places, and the names of imports at them."""
    starts = [
        index for index, piece in enumerate(content.pieces) if piece.starts and piece.entry.block.depth == 0
    ]
    for first, following in zip(starts, [*starts[1:], len(content.pieces)], strict=True):
        pieces = content.pieces[first:following]
        hit = [piece for piece in pieces if piece.start in places]
        if not hit:
            continue
        names = [piece for piece in pieces if piece.rule == "names"]
        if pieces[0].entry.rule == "import_" and len(hit) < len(names[::2]):
            yield from _names(names, hit)
            continue
        after = content.pieces[following].comments if following < len(content.pieces) else content.last
        yield _whole(pieces, after)


def _names(names: list[TokenPiece], hit: list[TokenPiece]) -> Iterator[_Cut]:
    """Yield the names of a list, each with the comma after it, or the last ones with that before."""
    kept = [piece for piece in names[::2] if piece not in hit]
    for index, piece in enumerate(names):
        if piece in hit:
            is_last = piece.start > kept[-1].start
            start = names[index - 1].start if is_last else piece.start
            end = piece.start + len(piece.text) if is_last else names[index + 1].start + 1
            yield _Cut(start=start, end=end)


def _whole(pieces: list[TokenPiece], after: tuple[Comment, ...]) -> _Cut:
    """Return a declaration with the allowances before it and the comment at the end of its last line."""
    start = pieces[0].start
    for comment in reversed(pieces[0].comments):
        if comment.is_trailing or not is_allowance(comment):
            break
        start = comment.start
    end = pieces[-1].start + len(pieces[-1].text)
    for comment in after:
        end = comment.start + len(comment.text) if comment.is_trailing else end
    return _Cut(start=start, end=end)


# ---- allowances


def _allowed(content: Content, places: Collection[int]) -> Iterator[_Cut]:
    """Yield the names of allowances at the places, or whole comments that would have no name left."""
    comments = (*(each for piece in content.pieces for each in piece.comments), *content.last)
    for comment in filter(is_allowance, comments):
        opening, closing = comment.text.find("("), comment.text.find(")")
        names = [
            _Cut(start=comment.start + match.start(), end=comment.start + match.end())
            for match in _WORD.finditer(comment.text, opening, closing)
        ]
        hit = [each for each in names if each.start in places]
        if hit and len(hit) == len(names):
            yield _Cut(start=comment.start, end=comment.start + len(comment.text))
            continue
        kept = [each for each in names if each not in hit]
        for index, name in enumerate(names):
            if name in hit and name.start > kept[-1].start:
                yield _Cut(start=names[index - 1].end, end=name.end)
            elif name in hit:
                yield _Cut(start=name.start, end=names[index + 1].start)
