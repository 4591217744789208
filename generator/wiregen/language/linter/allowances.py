"""Allowances: comments `// wiregen: allow(RULE, …) reason` in a file, which suppress findings."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from wiregen.language.diagnostics import Diagnostic, Report, SourceText, Span
from wiregen.language.formatter import Comment, Content, FormattedText, content_of

__all__ = ["NO_ALLOWANCES", "Allowance", "Allowances", "BareComment", "is_allowance", "read_allowances"]

_MARK: Final = re.compile(r"//\s*wiregen\s*:")
_WRITTEN: Final = re.compile(r"//\s*wiregen\s*:\s*allow\s*\((?P<names>[^()]*)\)\s*(?P<reason>.*)")
_NAME: Final = re.compile(r"[^\s,]+")


@dataclass(frozen=True, slots=True, kw_only=True)
class Allowance:
    """One rule that a comment suppresses, as it is written there; `line`: the line whose findings it suppresses, from 1."""

    name: str
    span: Span
    line: int


@dataclass(frozen=True, slots=True, kw_only=True)
class BareComment:
    """A comment that suppresses nothing: it has no reason, or (not `is_read`) it cannot be read at all."""

    span: Span
    is_read: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Allowances:
    """The allowances of one file; `source` None: a file without any."""

    source: SourceText | None = None
    file: str = ""
    listed: tuple[Allowance, ...] = ()
    bare: tuple[BareComment, ...] = ()

    def of(self, diagnostic: Diagnostic, rule: str) -> Allowance | None:
        """Return the allowance that suppresses a finding of a rule, if any."""
        span = diagnostic.span
        if self.source is None or span is None or span.source != self.file:
            return None
        line, _ = self.source.line_and_column(span.start)
        names = (rule, diagnostic.code.lower())
        return next((each for each in self.listed if each.line == line and each.name in names), None)


NO_ALLOWANCES: Final = Allowances()


def read_allowances(file: str, source: SourceText) -> Allowances:
    """Return the allowances in the comments of a source that parses; `file` is its name."""
    content = (
        content_of(FormattedText(name=file, text=source.text), Report())
        if _MARK.search(source.text)
        else None
    )
    if content is None:
        return NO_ALLOWANCES
    listed: list[Allowance] = []
    bare: list[BareComment] = []
    for comment, line in _marked(content, source):
        match = _WRITTEN.fullmatch(comment.text)
        names = () if match is None else tuple(_NAME.finditer(match["names"]))
        if match is None or not names or not match["reason"]:
            span = Span(source=file, start=comment.start, end=comment.start + len(comment.text))
            bare.append(BareComment(span=span, is_read=bool(names)))
            continue
        base = comment.start + match.start("names")
        for name in names:
            span = Span(source=file, start=base + name.start(), end=base + name.end())
            listed.append(Allowance(name=name[0].lower(), span=span, line=line))
    return Allowances(source=source, file=file, listed=tuple(listed), bare=tuple(bare))


def _marked(content: Content, source: SourceText) -> Iterator[tuple[Comment, int]]:
    """Yield comments that address wiregen, with the line that they are about: their own, or that of the next declaration."""
    waiting: list[Comment] = []
    for piece in content.pieces:
        for comment in filter(is_allowance, piece.comments):
            if comment.is_trailing:
                yield comment, _line(comment.start, source)
            else:
                waiting.append(comment)
        if piece.kind != "DOC":
            yield from ((comment, _line(piece.start, source)) for comment in waiting)
            waiting.clear()
    yield from ((each, _line(each.start, source)) for each in (*waiting, *filter(is_allowance, content.last)))


def is_allowance(comment: Comment) -> bool:
    """Return whether a comment addresses wiregen."""
    return _MARK.match(comment.text) is not None


def _line(offset: int, source: SourceText) -> int:
    line, _ = source.line_and_column(offset)
    return line
