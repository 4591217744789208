"""The files of a site: each page and its twins, the index of the search, and the styles.

Invariant: the site is a function of its chapters alone. A page sends no request to another computer, and
works without JavaScript.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from pathlib import Path, PurePosixPath
from typing import Final

from wiregen.generate.emitter import render
from wiregen.generate.own_files import templates_folder
from wiregen.generate.writer import Output
from wiregen.schema import model as m
from wiregen.site.pages.behaviour_views import RememberedPageView
from wiregen.site.pages.chapter import Book, Chapter
from wiregen.site.pages.context_pages import context_page
from wiregen.site.pages.declarations import fields_page, message_page, type_page
from wiregen.site.pages.documents import RenderedPage, document_page
from wiregen.site.pages.general_views import DifferencesView, GuideView
from wiregen.site.pages.guide import guide_pages
from wiregen.site.pages.home import home_page
from wiregen.site.pages.json_pages import twin_of
from wiregen.site.pages.navigation import navigation_script
from wiregen.site.pages.overview import protocol_page
from wiregen.site.pages.overview_views import HomeView, ProtocolView
from wiregen.site.pages.page_paths import DOCUMENT, GUIDE, PLAYGROUND, Linked
from wiregen.site.pages.playground_page import PlaygroundView, Transport, playground_page, playground_scripts
from wiregen.site.pages.prose import with_links
from wiregen.site.pages.protocol_differences import differences_page, named_in
from wiregen.site.pages.protocol_pages import ledger_page, rules_page
from wiregen.site.pages.reassembly_pages import join_page
from wiregen.site.pages.search import Entry, entries_of, entries_of_guide, search_script
from wiregen.site.pages.session_pages import session_page
from wiregen.site.pages.session_views import SessionPageView
from wiregen.site.pages.vector_pages import vectors_index, vectors_page
from wiregen.site.pages.vector_views import VectorsIndexView, VectorsPageView
from wiregen.site.pages.views import LedgerPageView, MessageView, RulesPageView, TypeView
from wiregen.site.playground.archive import archive_of
from wiregen.site.playground.pyodide_package import pyodide_files

__all__ = ["build_site", "playground_files"]

_STATIC: Final = ("site.css", "home.css", "print.css", "site.js")
_SIGN: Final = re.compile(r"""("(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])*'|`[^`]*`)| *([=(){},;?:<>|&!]+) *""")
"""A text of a script, or signs with the spaces around them; `+` and `-` keep theirs."""
_SPACED: Final = re.compile(r" *([{};,]) *|(?<=\w)(:) ")
_View = (
    MessageView
    | TypeView
    | ProtocolView
    | RulesPageView
    | LedgerPageView
    | SessionPageView
    | RememberedPageView
    | DifferencesView
    | GuideView
    | VectorsIndexView
    | VectorsPageView
    | HomeView
    | PlaygroundView
)


def build_site(
    chapters: Iterable[Chapter],
    *,
    at_page: Callable[[PurePosixPath], None] = lambda path: None,
    has_guide: bool = False,
    playground: Transport = "none",
    pyodide: Path | None = None,
) -> tuple[Output, ...]:
    """Return all files of the site.

    `at_page` is called with each page before it is made; `has_guide`: include wiregen's own guide. `playground`: how its page
    asks about bytes; `pyodide`: the unpacked package that a worker needs.

    Raises:
        PackageError: The package is not the pinned one.
    """
    has_playground = playground != "none"
    books = tuple(Book(chapter, has_guide=has_guide, has_playground=has_playground) for chapter in chapters)
    entries: list[Entry] = []
    outputs: list[Output] = []
    messages: dict[str, list[MessageView]] = {}
    for book in books:
        outputs += _protocol(book, books, entries, at_page, messages.setdefault(book.protocol.name, []))
    guide: tuple[GuideView, ...] = tuple(guide_pages()) if has_guide else ()
    for page in guide:
        outputs += _page(PurePosixPath(GUIDE), "guide", page)
    entries += entries_of_guide(guide)
    links = (
        tuple(Linked(text=each.text, url=f"{GUIDE}/{each.url}") for each in guide[0].shell.sections)
        if guide
        else ()
    )
    home = home_page(books, messages, links)
    outputs += _page(PurePosixPath(), "home", home)
    outputs.append(
        Output(path=PurePosixPath("llms.txt"), content=render("docs/llms.txt.jinja", home).encode())
    )
    outputs += playground_files(playground)
    if pyodide is not None:
        outputs += pyodide_files(pyodide, PurePosixPath(PLAYGROUND, "pyodide"))
        outputs.append(_archive(books))
    outputs.append(Output(path=PurePosixPath("search.js"), content=search_script(entries).encode()))
    return tuple(_linked(outputs))


def _running_head(name: str) -> bytes:
    """Return the style that puts the name of a protocol, which has letters, digits and `_` alone, on each sheet."""
    return f'@page{{@top-left{{content:"{name}";font:8pt system-ui,sans-serif;}}}}\n'.encode()


def playground_files(transport: Transport) -> tuple[Output, ...]:
    """Return the page of the playground with its scripts, and the styles and script of every page: a server needs no others."""
    page = _page(PurePosixPath(PLAYGROUND), "playground", playground_page(transport))
    look = (Output(path=PurePosixPath(name), content=_dense(name)) for name in _STATIC)
    return (*page, *playground_scripts(transport), *look)


def _archive(books: tuple[Book, ...]) -> Output:
    package = books[0].chapter.package if books else ""
    content = archive_of(tuple(book.protocol for book in books), package)
    return Output(path=PurePosixPath(PLAYGROUND, "wiregen.zip"), content=content)


def _dense(name: str) -> bytes:
    """Return a file of the look without indentation, whole lines of comments, and spaces around signs.

    Every page loads it. Lines of the palette are kept.
    """
    text = (templates_folder() / "docs" / name).read_text(encoding="utf-8")
    lines = [line.strip() for line in text.splitlines()]
    lines = [line for line in lines if line and not line.startswith(("//", "/*"))]
    if name.endswith(".js"):
        lines = [_SIGN.sub(lambda found: found[1] or found[2], line) for line in lines]
    else:
        lines = [line if line.startswith((":root", "--")) else _SPACED.sub(r"\1\2", line) for line in lines]
    return "".join(f"{line}\n" for line in lines).encode()


def _linked(outputs: list[Output]) -> Iterator[Output]:
    """Yield the files; in pages, links of prose to existing pages get their target, and other links become text."""
    texts = {str(each.path): each.content.decode() for each in outputs if each.path.suffix == ".html"}

    def is_there(path: PurePosixPath, url: str) -> bool:
        page, _, place = url.partition("#")
        target = posixpath.normpath(path.parent / page) if page else str(path)
        return target in texts and (not place or f' id="{place}"' in texts[target])

    for each in outputs:
        text = texts.get(str(each.path))
        if text is None or "<a data-page=" not in text:
            yield each
        else:
            yield Output(path=each.path, content=with_links(text, partial(is_there, each.path)).encode())


def _protocol(
    book: Book,
    books: tuple[Book, ...],
    entries: list[Entry],
    at_page: Callable[[PurePosixPath], None],
    pages: list[MessageView],
) -> Iterator[Output]:
    """Yield the files of a protocol; its pages with fields are added to `pages`."""
    protocol, folder = book.protocol, PurePosixPath(book.protocol.name)
    others = named_in(book, books)
    types: list[TypeView] = []
    for message in protocol.messages:
        at_page(folder / message.name)
        pages.append(message_page(book, message))
    for owner in _with_fields(protocol):
        pages.append(fields_page(book, owner))
    for declaration in _with_numbers(protocol):
        types.append(type_page(book, declaration))
    overview = protocol_page(book, pages, others)
    parts: list[RenderedPage] = []
    for template, view in _parts(book, overview, pages, types):
        html, *twins = _page(folder, template, view)
        parts.append(RenderedPage(shell=view.shell, kind=template, html=html.content.decode()))
        yield from (html, *twins)
    document = render("docs/document.html.jinja", document_page(book, parts))
    yield Output(path=folder / f"{DOCUMENT}.html", content=document.encode())
    for other in others:
        yield from _page(folder, "differences", differences_page(book, other))
    yield Output(path=folder / "nav.js", content=navigation_script(book.groups).encode())
    yield Output(path=folder / "print.css", content=_dense("print.css") + _running_head(protocol.name))
    if book.vectors:
        yield from _page(folder, "coverage", vectors_index(book))
        for chunk in book.vector_places.pages:
            at_page(folder / chunk.name)
            yield from _page(folder, "vectors", vectors_page(book, chunk))
    if book.chapter.vectors is not None:
        yield Output(path=folder / "vectors.json", content=book.chapter.vectors_text)
    entries += entries_of(book, overview, pages, types)


def _parts(
    book: Book, overview: ProtocolView, pages: Iterable[MessageView], types: Iterable[TypeView]
) -> Iterator[tuple[str, _View]]:
    """Yield the pages of a protocol that its document holds too: the template and the view of each."""
    protocol = book.protocol
    yield "protocol", overview
    yield from (("message", page) for page in pages)
    yield from (("type", type_) for type_ in types)
    yield from (("session", session_page(book, session)) for session in protocol.sessions)
    yield from (("remembered", context_page(book, context)) for context in protocol.contexts)
    yield from (("remembered", join_page(book, join)) for join in protocol.joins)
    if protocol.rules:
        yield "rules", rules_page(book)
    if protocol.ledgers:
        yield "ledger", ledger_page(book)


def _with_fields(protocol: m.Protocol) -> tuple[m.Frame | m.Preamble | m.Struct, ...]:
    return (*protocol.frames, *protocol.preambles, *protocol.structs)


def _with_numbers(protocol: m.Protocol) -> tuple[m.Union | m.Enum | m.Coding, ...]:
    return (*protocol.unions, *protocol.enums, *protocol.codings)


def _page(folder: PurePosixPath, template: str, view: _View) -> Iterator[Output]:
    """Yield a page and its two twins."""
    stem = view.shell.here
    for suffix in ("html", "md"):
        text = render(f"docs/{template}.{suffix}.jinja", view)
        yield Output(path=folder / f"{stem}.{suffix}", content=text.encode())
    yield Output(path=folder / f"{stem}.json", content=twin_of(view).encode())
