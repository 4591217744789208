"""The paths of a site's pages, and the links between them.

A page is `<protocol>/<Name>.html`; its twins have `.md` and `.json` in place of `.html`. Paths differ where
case is ignored, and are valid names on every system. Anchors are the keys of cells, with `-` for `#`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Final

from wiregen.generate.escaping import code, markdown
from wiregen.schema import model as m
from wiregen.schema.naming import is_device

__all__ = [
    "DOCUMENT",
    "GUIDE",
    "PLAYGROUND",
    "Linked",
    "Places",
    "anchor",
    "context_page_name",
    "differences_page_name",
    "join_page_name",
    "linked_md",
    "session_page_name",
    "slugs_of",
]

GUIDE: Final = "wiregen-guide"
"""The folder of wiregen's own guide; a protocol cannot have this name, as names have no hyphen."""
PLAYGROUND: Final = "wiregen-playground"
"""The folder of the playground."""
DOCUMENT: Final = "document"
"""The page of a protocol as one document."""
_OWN: Final = ("index", DOCUMENT, "rules", "ledger", "vectors", "coverage")
"""Pages and files that every protocol's folder may have."""
_WORD: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]*|[^A-Za-z_]+")


@dataclass(frozen=True, slots=True, kw_only=True)
class Linked:
    """A part of a text; `url` "" where it is not a link."""

    text: str
    url: str = ""

    @property
    def twin(self) -> str:
        """Return the path of the page in Markdown."""
        return self.url.partition("#")[0].removesuffix(".html") + ".md"

    @property
    def md(self) -> str:
        """Return Markdown: a link where it leads to a page, else the text."""
        is_page = self.url.partition("#")[0].endswith(".html")
        return _spaced(self.text, f"[{markdown(self.text)}]({self.twin})" if is_page else markdown(self.text))


def linked_md(parts: Iterable[Linked]) -> str:
    """Return a text of the language as Markdown for a cell of a table: code, with the names of declarations as links."""
    return "".join(
        f"[{code(part.text)}]({part.twin})" if part.url else _spaced(part.text, code(part.text))
        for part in parts
    )


def _spaced(text: str, shown: str) -> str:
    """Return the Markdown of a text with the spaces around that text, which parts of a sentence have."""
    before = " " if text[:1].isspace() else ""
    after = " " if text[-1:].isspace() and text.strip() else ""
    return f"{before}{shown}{after}"


def slugs_of(names: Iterable[str]) -> dict[str, str]:
    """Return the page name of each declaration."""
    taken = set(_OWN)
    slugs: dict[str, str] = {}
    for name in names:
        slug = f"{name}-" if is_device(name) else name
        while slug.casefold() in taken:
            slug += "-"
        taken.add(slug.casefold())
        slugs[name] = slug
    return slugs


def differences_page_name(other: str) -> str:
    """Return the page name of the differences from another protocol."""
    return f"differences-{other}"


def session_page_name(name: str) -> str:
    """Return the page name of a session; the page name of a declaration never contains a hyphen inside."""
    return f"session-{name}"


def context_page_name(name: str) -> str:
    """Return the page name of a context."""
    return f"context-{name}"


def join_page_name(name: str) -> str:
    """Return the page name of a join."""
    return f"join-{name}"


def anchor(key: str) -> str:
    """Return the id of a cell's row in a page."""
    return key.replace("#", "-")


class Places:
    """The paths of one protocol's pages, for links between them."""

    def __init__(self, protocol: m.Protocol) -> None:
        self._protocol = protocol
        self.slugs: Mapping[str, str] = slugs_of(each.name for each in self._declared)
        self._rules = {rule.name for rule in protocol.rules}
        self._joins = {join.name: f"{join_page_name(join.name)}.html" for join in protocol.joins}
        self._sessions = {each.name: f"{session_page_name(each.name)}.html" for each in protocol.sessions}
        self._contexts = {each.name: f"{context_page_name(each.name)}.html" for each in protocol.contexts}

    def url(self, name: str) -> str:
        """Return the path of the page of a declaration, join or session; "" where it has no page."""
        slug = self.slugs.get(name)
        return f"{slug}.html" if slug is not None else self._joins.get(name, self._sessions.get(name, ""))

    def rule_url(self, name: str) -> str:
        return f"rules.html#{name}" if name in self._rules else ""

    def linked(self, text: str) -> tuple[Linked, ...]:
        """Return a text of the language with the names of declarations as links; adjacent words without links are one part."""
        parts: list[Linked] = []
        for found in _WORD.finditer(text):
            word = found[0]
            is_asked = text[found.end() :].startswith("[")
            url = self.url(word) or (self._contexts.get(word, "") if is_asked else "")
            if parts and not url and not parts[-1].url:
                parts[-1] = Linked(text=parts[-1].text + word)
            else:
                parts.append(Linked(text=word, url=url))
        return tuple(parts)

    @cached_property
    def _declared(
        self,
    ) -> tuple[m.Message | m.Frame | m.Preamble | m.Struct | m.Union | m.Enum | m.Coding, ...]:
        protocol = self._protocol
        return (
            *protocol.messages,
            *protocol.frames,
            *protocol.preambles,
            *protocol.structs,
            *protocol.unions,
            *protocol.enums,
            *protocol.codings,
        )
