"""The home page of the site: a frame that shows what a page shows, the protocols, the guide."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Final

from wiregen.generate.escaping import harmless
from wiregen.site.pages.chapter import Book
from wiregen.site.pages.context_texts import remembered_views
from wiregen.site.pages.declarations import Named
from wiregen.site.pages.overview import listed, types_of
from wiregen.site.pages.overview_views import FeaturedView, HomeView
from wiregen.site.pages.page_paths import Linked, differences_page_name, session_page_name
from wiregen.site.pages.prose import Prose
from wiregen.site.pages.protocol_differences import named_in
from wiregen.site.pages.views import ListingView, MessageView, Shell

__all__ = ["home_page"]

_MOST_BYTES: Final = 32
"""The longest frame on the first page: two lines."""
_MOST_PARTS: Final = 9


def home_page(
    books: tuple[Book, ...], pages: Mapping[str, Iterable[MessageView]], guide: tuple[Linked, ...] = ()
) -> HomeView:
    """Return the home page of the site.

    `pages`: of the messages of each protocol, by its name; `guide`: the chapters of the guide.
    """
    listings = tuple(
        ListingView(
            name=book.protocol.name,
            url=f"{book.protocol.name}/index.html",
            kind="protocol",
            code="",
            direction=harmless(", ".join(book.protocol.sources)),
            size=_size(book),
            doc=Prose(text=book.protocol.doc),
        )
        for book in books
    )
    shell = Shell(title="Protocols", root="", here="index", crumbs=(), sections=())
    featured = max(_candidates(pages), key=_worth, default=None)
    first = featured.protocol if featured is not None else next((each.name for each in listings), "")
    return HomeView(
        shell=shell,
        read=Linked(text=first, url=f"{first}/index.html") if first else None,
        write=guide[0] if guide else None,
        featured=featured,
        protocols=listings,
        pages=tuple((book.protocol.name, _all_pages(book, named_in(book, books))) for book in books),
        guide=guide,
    )


def _candidates(pages: Mapping[str, Iterable[MessageView]]) -> Iterator[FeaturedView]:
    """Yield the examples that are short, need no frame before them, and are shown whole."""
    for protocol, some in pages.items():
        for page in some:
            sample, name = page.sample, page.declaration.name
            if sample is None or sample.before or sample.size > _MOST_BYTES:
                continue
            parts = sample.anatomy.pieces
            if len(parts) <= _MOST_PARTS and not any(each.is_inner for each in parts):
                message = Linked(text=name, url=f"{protocol}/{page.shell.url}")
                yield FeaturedView(message=message, protocol=protocol, sample=sample)


def _worth(featured: FeaturedView) -> tuple[int, int]:
    """Return how much a frame shows: the parts that are text, then all parts."""
    parts = featured.sample.anatomy.pieces
    return sum(each.value.startswith('"') for each in parts), len(parts)


def _size(book: Book) -> str:
    vectors = book.chapter.vectors
    counts = [f"{len(book.protocol.messages)} messages"]
    counts += [f"{len(vectors.vectors):,} vectors"] if vectors is not None else []
    return ", ".join(counts)


def _all_pages(book: Book, others: tuple[Book, ...]) -> tuple[ListingView, ...]:
    protocol = book.protocol
    named: tuple[Named, ...] = (
        *protocol.messages, *protocol.frames, *protocol.preambles, *types_of(protocol),
    )  # fmt: skip
    found = [listed(book, each, {}) for each in named]
    found += [
        _plain_listing(session.name, f"{session_page_name(session.name)}.html", "session")
        for session in protocol.sessions
    ]
    found += remembered_views(protocol)
    found += [_plain_listing("Rules", "rules.html", "the demands of the document")] if protocol.rules else []
    found += (
        [_plain_listing("Ledger", "ledger.html", "open points and decisions")] if protocol.ledgers else []
    )
    found += (
        [_plain_listing("Vectors", "coverage.html", "the bytes that test a codec")] if book.vectors else []
    )
    for other in others:
        name = other.protocol.name
        found.append(
            _plain_listing(f"Differences from {name}", f"{differences_page_name(name)}.html", "comparison")
        )
    return tuple(found)


def _plain_listing(name: str, url: str, kind: str) -> ListingView:
    return ListingView(name=name, url=url, kind=kind, code="", direction="", size="", doc=Prose(text=""))
