"""Texts of Markdown pages."""

from __future__ import annotations

import re
from collections.abc import Iterator

from .blocks import blanked, numbered, paragraphs
from .paragraph import Kind, Paragraph

__all__ = ["pages"]

_COMMENT = re.compile(r"<!--.*?-->|\{\{[^{}]*\}\}", re.DOTALL)
_TAG = re.compile(r"</?[a-zA-Z][^<>]*>")


def pages(path: str, text: str, kind: Kind = Kind.MARKDOWN) -> Iterator[Paragraph]:
    """Yield the paragraphs, list items, headings and cells of a page."""
    shown = _TAG.sub(blanked, _COMMENT.sub(blanked, text))
    return paragraphs(path, kind, numbered(shown))
