"""The index of the search: entries that are found by name, kind, code or words."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Final, TypeAlias

from wiregen.site.pages.chapter import Book
from wiregen.site.pages.context_texts import remembered_views
from wiregen.site.pages.general_views import GuideView
from wiregen.site.pages.guide import heading_id
from wiregen.site.pages.overview_views import ProtocolView
from wiregen.site.pages.page_paths import GUIDE, anchor, session_page_name
from wiregen.site.pages.prose import Prose
from wiregen.site.pages.scripts import script_of
from wiregen.site.pages.views import MessageView, TypeView

__all__ = ["Entry", "entries_of", "entries_of_guide", "search_script"]

Entry: TypeAlias = tuple[str, str, str, str]
"""Name, kind, path, and a short description."""
_MOST_TEXT: Final = 160
_MOST_SAID: Final = 400
_N_CRUMBS: Final = 3
"""Of a chapter; the deeper pages of codes are found by their titles."""
_HEADING: Final = re.compile(r"^## (.+)$\n((?:(?!^## ).*\n?)*)", re.MULTILINE)
_RULE: Final = re.compile(r"^([a-z_]+) +: ", re.MULTILINE)
"""The beginning of a rule of the grammar."""
_FENCED: Final = re.compile(r"^(?:```|~~~).*?^(?:```|~~~)$", re.MULTILINE | re.DOTALL)


def search_script(entries: Iterable[Entry]) -> str:
    """Return the script with the entries."""
    return script_of("wiregenIndex", list(entries))


def entries_of(
    book: Book, overview: ProtocolView, pages: Iterable[MessageView], types: Iterable[TypeView]
) -> Iterator[Entry]:
    """Yield the search entries of one protocol."""
    folder = book.protocol.name
    yield folder, "protocol", f"{folder}/index.html", _brief(overview.doc)
    for page in pages:
        name = page.declaration.name
        url = f"{folder}/{page.shell.here}.html"
        code = f"Code {page.code}. " if page.code else ""
        yield name, f"{folder} {page.declaration.kind}", url, code + _brief(page.declaration.doc)
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
    """Yield the pages of the guide with their headings, and their sections with their first words and their code."""
    for page in pages:
        url = f"{GUIDE}/{page.shell.here}.html"
        headings = ", ".join(re.findall(r"^##+ (.+)$", page.md, re.MULTILINE))
        is_chapter = len(page.shell.crumbs) == _N_CRUMBS
        yield page.title, "guide" if is_chapter else "code", url, _cut(headings)
        for title, text in _HEADING.findall(page.md) if is_chapter else ():
            rules = ", ".join(_RULE.findall(text))
            name = title.replace("`", "") + (f": {rules}" if rules else "")
            yield name, f"guide, {page.title}", f"{url}#{heading_id(title)}", _words_of(text)


def _words_of(text: str) -> str:
    """Return the prose of a section, and each word of its code once, cut to a bounded length."""
    prose = _FENCED.sub(" ", text)
    said = _plain(prose)[:_MOST_SAID]
    code = " ".join((*_FENCED.findall(text), *re.findall(r"`([^`]+)`", prose)))
    words = dict.fromkeys(word.strip(".") for word in re.findall(r"[A-Za-z_][\w.]+", code))
    return f"{said} {_plain(' '.join(word for word in words if word not in said))[:_MOST_SAID]}".strip()


def _plain(text: str) -> str:
    return Prose(text=text).plain


def _of_records(book: Book, folder: str) -> Iterator[Entry]:
    for rule in book.protocol.rules:
        kind = "rule with vectors" if book.vectors_of_rule(rule).first else "rule"
        yield rule.name, f"{folder} {kind}", f"{folder}/rules.html#{anchor(rule.name)}", _cut(rule.text)
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
    plain = Prose(text=text).plain.replace("`", "")
    return plain if len(plain) <= _MOST_TEXT else f"{plain[:_MOST_TEXT]}…"
