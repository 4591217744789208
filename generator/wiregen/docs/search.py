"""What the search finds, as a script that sets one variable: so that it works from `file://`, where nothing may be fetched."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from typing import Final, TypeAlias

from wiregen.docs.book import Book
from wiregen.docs.general_views import GuideView
from wiregen.docs.places import GUIDE, anchor, session_page_name
from wiregen.docs.prose import Prose
from wiregen.docs.remembered import remembered_views
from wiregen.docs.views import MessageView, ProtocolView, TypeView

__all__ = ["Entry", "entries_of", "entries_of_guide", "search_script"]

Entry: TypeAlias = tuple[str, str, str, str]
"""What it is called, of which kind it is, where it is, and what is said about it."""
_MOST_TEXT: Final = 160
_ESCAPED: Final = str.maketrans({"<": "\\u003c", ">": "\\u003e", "&": "\\u0026"})


def search_script(entries: Iterable[Entry]) -> str:
    """Return the script: ASCII only, and nothing in it that HTML would read."""
    text = json.dumps(list(entries), ensure_ascii=True, separators=(",", ":"))
    return f"window.wiregenIndex={text.translate(_ESCAPED)};\n"


def entries_of(
    book: Book, overview: ProtocolView, pages: Iterable[MessageView], types: Iterable[TypeView]
) -> Iterator[Entry]:
    """Yield all that is to be found of one protocol."""
    folder = book.protocol.name
    yield folder, "protocol", f"{folder}/index.html", _brief(overview.doc)
    for page in pages:
        name = page.declaration.name
        url = f"{folder}/{page.shell.here}.html"
        yield name, f"{folder} {page.declaration.kind}", url, _brief(page.declaration.doc)
        for row in page.layout.rows:
            if not row.is_header and not row.key.endswith(("#length", "#count", "#code")):
                yield row.key, f"{folder} field", f"{url}#{row.anchor}", _brief(row.doc)
    for type_ in types:
        url = f"{folder}/{type_.shell.here}.html"
        yield type_.declaration.name, f"{folder} {type_.declaration.kind}", url, _brief(type_.declaration.doc)
        for member in type_.members:
            if member.anchor:
                title = f"{type_.declaration.name}.{member.name}"
                yield title, f"{folder} {member.number}", f"{url}#{member.anchor}", _brief(member.doc)
    yield from _of_records(book, folder)


def entries_of_guide(pages: Iterable[GuideView]) -> Iterator[Entry]:
    """Yield the chapters and codes of the guide, with the words of their headings."""
    for page in pages:
        headings = ", ".join(re.findall(r"^##+ (.+)$", page.md, re.MULTILINE))
        yield page.title, "guide", f"{GUIDE}/{page.shell.here}.html", _cut(headings)


def _of_records(book: Book, folder: str) -> Iterator[Entry]:
    for rule in book.protocol.rules:
        yield rule.name, f"{folder} rule", f"{folder}/rules.html#{anchor(rule.name)}", _cut(rule.text)
    for entry in book.protocol.ledgers:
        text = f"{entry.document} {entry.peers} {entry.decision}"
        yield entry.title, f"{folder} ledger {entry.id}", f"{folder}/ledger.html#entry-{entry.id}", _cut(text)
    for limit in book.protocol.limits:
        yield f"limits.{limit.name}", f"{folder} limit", f"{folder}/index.html#limits", _cut(limit.doc)
    for each in remembered_views(book.protocol):
        yield each.name, f"{folder} {each.kind}", f"{folder}/{each.url}", _brief(each.doc)
    for session in book.protocol.sessions:
        url = f"{folder}/{session_page_name(session.name)}.html"
        yield session.name, f"{folder} session", url, _cut(session.doc)


def _brief(doc: Prose) -> str:
    return _cut(doc.text)


def _cut(text: str) -> str:
    plain = Prose(text=text).plain
    return plain if len(plain) <= _MOST_TEXT else f"{plain[:_MOST_TEXT]}…"
