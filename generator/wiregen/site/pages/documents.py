"""A protocol as one document, to print or to search in: the contents of its pages, one after another.

Pages are taken as they were rendered. Their ids get the page's name in front, and links between pages of the
document lead to places in it.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Final

from markupsafe import Markup

from wiregen.site.pages.chapter import Book
from wiregen.site.pages.page_paths import DOCUMENT, Linked
from wiregen.site.pages.views import Shell

__all__ = ["DocumentPart", "DocumentView", "RenderedPage", "document_page"]

_CONTENT: Final = re.compile(r'<main id="content">(.*?)(?:<nav class="turn"|</main>)', re.DOTALL)
_TAG: Final = re.compile(r'<[a-z][^<>]* (?:id|for|name|href|data-f|data-x|data-page)="[^<>]*>')
"""A tag with an attribute that is changed: `<` and `>` are escaped in text and in values."""
_OWN_NAME: Final = re.compile(r' (id|for|name|data-f|data-x)="([^"]+)"')
"""An attribute that must differ between the pages of a document."""
_LINK: Final = re.compile(r' (href|data-page)="([^"#/:]*)\.html(?:#([^"]*))?"')
_PLACE: Final = re.compile(r' href="#([^"]*)"')


@dataclass(frozen=True, slots=True, kw_only=True)
class RenderedPage:
    """A page of the site. `kind`: the name of its template."""

    shell: Shell
    kind: str
    html: str


@dataclass(frozen=True, slots=True, kw_only=True)
class DocumentPart:
    """The content of one page. `kind`: the name of its template; `anchor`: its id in the document."""

    title: str
    kind: str
    anchor: str
    html: Markup


@dataclass(frozen=True, slots=True, kw_only=True)
class DocumentView:
    """All parts of a document, in the order of reading."""

    shell: Shell
    name: str
    parts: tuple[DocumentPart, ...]


def document_page(book: Book, pages: Sequence[RenderedPage]) -> DocumentView:
    """Return the document of a protocol; `pages`: in the order of reading."""
    names = {page.shell.here for page in pages}
    return DocumentView(
        shell=replace(book.shell("Document", DOCUMENT, Linked(text="Document")), has_twins=False),
        name=book.protocol.name,
        parts=tuple(_part(page, names) for page in pages),
    )


def _part(page: RenderedPage, names: set[str]) -> DocumentPart:
    here = page.shell.here
    found = _CONTENT.search(page.html)
    if found is None:
        raise ValueError(f"the page {here} has no content")

    def changed(tag: re.Match[str]) -> str:
        text = _OWN_NAME.sub(rf' \1="{here}--\2"', tag[0])
        text = _PLACE.sub(rf' href="#{here}--\1"', text)
        return _LINK.sub(partial(_inside, names), text)

    text = _TAG.sub(changed, _below(found[1]))
    return DocumentPart(title=page.shell.crumbs[-1].text, kind=page.kind, anchor=here, html=Markup(text))


def _below(html: str) -> str:
    """Return HTML with each heading one level lower."""
    for level in range(5, 0, -1):
        html = html.replace(f"<h{level}", f"<h{level + 1}").replace(f"</h{level}>", f"</h{level + 1}>")
    return html


def _inside(names: set[str], found: re.Match[str]) -> str:
    """Return a link to a page of the document as one to its place; another link as it is."""
    attribute, page, place = found.groups()
    if page not in names:
        return found[0]
    return f' {attribute}="#{page}{f"--{place}" if place else ""}"'
