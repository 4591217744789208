"""Docs of a `.wire` file as HTML and as Markdown: markup is rendered, and active content is disabled.

Raw HTML is text, and images are not loaded. Links lead to http, https or a page of the site; any other link
stays as written. The pages of a site are known only when all are made. Until then a link to one is an `a`
without `href`, which `with_links` adds.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from html import unescape
from typing import TYPE_CHECKING, Final

from markupsafe import Markup, escape

from wiregen.generate.escaping import harmless, in_cell, markdown

if TYPE_CHECKING:
    from markdown_it import MarkdownIt
    from markdown_it.token import Token

__all__ = ["Prose", "first_sentence", "inline", "is_safe_link", "prose", "with_links"]

_PLAIN: Final = re.compile(r"[A-Za-z(][A-Za-z0-9 ,.;:()'/]*")
"""Text that Markdown leaves as it is."""
_WEB: Final = re.compile(r"https?://[^/\\]", re.IGNORECASE)
_PAGE: Final = re.compile(r"(?:(?:\.\./)?(?:[A-Za-z0-9_-]+/)?[A-Za-z0-9_-]+\.html)?(?:#[\w.-]+)?", re.ASCII)
"""A page of the site, of the protocol's folder or of another one's, or a place in one."""
_PENDING: Final = re.compile(r'<a data-page="([^"]*)">(.*?)</a>', re.DOTALL)
_SENTENCE: Final = re.compile(r"(?<=[.!?])\s")


@dataclass(frozen=True, slots=True, kw_only=True)
class Prose:
    """A text of a file, in the forms that pages need."""

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
        """Return the first sentence."""
        return inline(first_sentence(self.text))

    @property
    def md(self) -> str:
        return markdown(self.text)

    @property
    def cell(self) -> str:
        """Return Markdown for a cell of a table."""
        return in_cell(markdown(" ".join(self.text.split())))

    @property
    def plain(self) -> str:
        """Return the text in one line, without added markup."""
        return harmless(" ".join(self.text.split()))


def prose(text: str) -> Markup:
    """Return paragraphs as HTML."""
    safe = harmless(text.strip())
    if not safe:
        return Markup()
    if _PLAIN.fullmatch(safe):
        return Markup("<p>{}</p>\n").format(safe)
    return _resolved(_renderer().render(safe))


def inline(text: str) -> Markup:
    """Return a text without paragraphs as HTML, for a cell of a table."""
    safe = harmless(" ".join(text.split()))
    if not safe or _PLAIN.fullmatch(safe):
        return escape(safe)
    return _resolved(_renderer().renderInline(safe))


def _resolved(html: str) -> Markup:
    """Return rendered HTML with harmful characters escaped.

    Markdown makes such characters of entities (`&#x202e;`), and of `%E2%80%AE` in a link.
    """
    return Markup(harmless(html))


def first_sentence(text: str) -> str:
    """Return the first sentence of a text, without line ends."""
    return _SENTENCE.split(" ".join(text.split()), maxsplit=1)[0]


def is_safe_link(url: str) -> bool:
    """Return whether a link leads to a web page, or has the form of a page of the site."""
    return bool(_WEB.match(url) or (url and _PAGE.fullmatch(url)))


def with_links(html: str, is_there: Callable[[str], bool]) -> str:
    """Return a page whose prose has links to existing pages; a link to a missing page is text, as it was written."""

    def link(found: re.Match[str]) -> str:
        url, text = found[1], found[2]
        return f'<a href="{url}">{text}</a>' if is_there(unescape(url)) else f"[{text}]({url})"

    return _PENDING.sub(link, html)


def _opened(renderer: object, tokens: Sequence[Token], at: int, options: object, env: object) -> str:
    """Return the start tag of a link; of a link to a page of the site, without its `href`."""
    url = str(tokens[at].attrGet("href"))
    return f'<a {"href" if _WEB.match(url) else "data-page"}="{escape(url)}">'


@cache
def _renderer() -> MarkdownIt:
    from markdown_it import MarkdownIt

    renderer = MarkdownIt("commonmark", {"html": False}).disable(["image", "heading", "lheading", "hr"])
    renderer.validateLink = is_safe_link  # type: ignore[method-assign]
    renderer.add_render_rule("link_open", _opened)
    return renderer
