"""Docs of a `.wire` file as HTML and as Markdown: its own markup is read, nothing in it acts.

Raw HTML is text, images are not loaded, and links lead to http, https or a relative place; what else looks like one stays as written.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Final

from markupsafe import Markup, escape

from wiregen.emitter import harmless, markdown

if TYPE_CHECKING:
    from markdown_it import MarkdownIt

__all__ = ["Prose", "first_sentence", "inline", "is_safe_link", "prose"]

_PLAIN: Final = re.compile(r"[A-Za-z(][A-Za-z0-9 ,.;:()'/]*")
"""Text that Markdown leaves as it is."""
_SCHEME: Final = re.compile(r"[a-z][a-z0-9+.\-]*:", re.IGNORECASE)
_SENTENCE: Final = re.compile(r"(?<=[.!?])\s")


@dataclass(frozen=True, slots=True, kw_only=True)
class Prose:
    """A text of a file, in the forms that pages want it in."""

    text: str

    def __bool__(self) -> bool:
        return bool(self.text.strip())

    @property
    def html(self) -> Markup:
        return prose(self.text)

    @property
    def inline(self) -> Markup:
        return inline(self.text)

    @property
    def brief(self) -> Markup:
        """The first sentence."""
        return inline(first_sentence(self.text))

    @property
    def md(self) -> str:
        return markdown(self.text)

    @property
    def cell(self) -> str:
        """As Markdown in a cell of a table."""
        return " ".join(markdown(self.text).split()).replace("|", "\\|")

    @property
    def plain(self) -> str:
        """In one line, without markup of ours."""
        return harmless(" ".join(self.text.split()))


def prose(text: str) -> Markup:
    """Return paragraphs as HTML."""
    safe = harmless(text.strip())
    if not safe:
        return Markup()
    if _PLAIN.fullmatch(safe):
        return Markup("<p>{}</p>\n").format(safe)
    return Markup(_renderer().render(safe))


def inline(text: str) -> Markup:
    """Return a text without paragraphs as HTML, for a cell of a table."""
    safe = harmless(" ".join(text.split()))
    if not safe or _PLAIN.fullmatch(safe):
        return escape(safe)
    return Markup(_renderer().renderInline(safe))


def first_sentence(text: str) -> str:
    """Return the first sentence of a text, without line ends."""
    return _SENTENCE.split(" ".join(text.split()), maxsplit=1)[0]


def is_safe_link(url: str) -> bool:
    """Tell whether a link stays on the site or leads to a web page, whatever a browser takes out of it."""
    bare = re.sub(r"[\x00-\x20\x7f-\xa0\u200b-\u200f\ufeff]", "", url)
    if bare.startswith(("//", "\\", "/\\")):
        return False
    scheme = _SCHEME.match(bare)
    return scheme is None or scheme[0].lower() in ("http:", "https:")


@cache
def _renderer() -> MarkdownIt:
    from markdown_it import MarkdownIt

    renderer = MarkdownIt("commonmark", {"html": False}).disable(["image", "heading", "lheading", "hr"])
    renderer.validateLink = is_safe_link  # type: ignore[method-assign]
    return renderer
