"""Where the pages of a site lie, and how one leads to another.

A page is `<protocol>/<Name>.html`; its twins have `.md` and `.json` in place of `.html`. Paths stay apart where case is ignored
and are names on every system. Anchors are the keys of cells, with `-` for `#`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Final

from wiregen.generate.emitter import code, markdown
from wiregen.schema import model as m

__all__ = [
    "GUIDE",
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
"""The folder of wiregen's own guide; no protocol is called so, for a name has no hyphen."""
_OWN: Final = ("index", "rules", "ledger", "vectors")
"""Pages and files that every protocol's folder may have."""
_DEVICE: Final = re.compile(r"con|prn|aux|nul|(com|lpt)[0-9]", re.IGNORECASE)
_WORD: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]*|[^A-Za-z_]+")


@dataclass(frozen=True, slots=True, kw_only=True)
class Linked:
    """A part of a text; `url` "" where it leads nowhere."""

    text: str
    url: str = ""

    @property
    def twin(self) -> str:
        """The way to the page in Markdown."""
        return self.url.partition("#")[0].removesuffix(".html") + ".md"

    @property
    def md(self) -> str:
        """As Markdown: a link where it leads to another page."""
        is_page = self.url.partition("#")[0].endswith(".html")
        return _spaced(self.text, f"[{markdown(self.text)}]({self.twin})" if is_page else markdown(self.text))


def linked_md(parts: Iterable[Linked]) -> str:
    """Return a text of the language as Markdown for a cell of a table: code, in which names of declarations are links."""
    return "".join(
        f"[{code(part.text)}]({part.twin})" if part.url else _spaced(part.text, code(part.text))
        for part in parts
    )


def _spaced(text: str, shown: str) -> str:
    """Return what shows a text with the spaces around it, which parts of a sentence have."""
    before = " " if text[:1].isspace() else ""
    after = " " if text[-1:].isspace() and text.strip() else ""
    return f"{before}{shown}{after}"


def slugs_of(names: Iterable[str]) -> dict[str, str]:
    """Return what the page of each declaration is called."""
    taken = set(_OWN)
    slugs: dict[str, str] = {}
    for name in names:
        slug = f"{name}-" if _DEVICE.fullmatch(name) else name
        while slug.casefold() in taken:
            slug += "-"
        taken.add(slug.casefold())
        slugs[name] = slug
    return slugs


def differences_page_name(other: str) -> str:
    """Return what the page of differences from another protocol is called."""
    return f"differences-{other}"


def session_page_name(name: str) -> str:
    """Return what the page of a session is called; no declaration's page has a hyphen inside."""
    return f"session-{name}"


def context_page_name(name: str) -> str:
    """Return what the page of a context is called."""
    return f"context-{name}"


def join_page_name(name: str) -> str:
    """Return what the page of a join is called."""
    return f"join-{name}"


def anchor(key: str) -> str:
    """Return the id of a cell's row in a page."""
    return key.replace("#", "-")


class Places:
    """Knows the pages of one protocol; links from one of them to another."""

    def __init__(self, protocol: m.Protocol) -> None:
        self._protocol = protocol
        self.slugs: Mapping[str, str] = slugs_of(each.name for each in self._declared)
        self._rules = {rule.name for rule in protocol.rules}
        self._joins = {join.name: f"{join_page_name(join.name)}.html" for join in protocol.joins}
        self._sessions = {each.name: f"{session_page_name(each.name)}.html" for each in protocol.sessions}
        self._contexts = {each.name: f"{context_page_name(each.name)}.html" for each in protocol.contexts}

    def url(self, name: str) -> str:
        """Return the way to the page of a declaration, join or session; "" where it has none."""
        slug = self.slugs.get(name)
        return f"{slug}.html" if slug is not None else self._joins.get(name, self._sessions.get(name, ""))

    def rule_url(self, name: str) -> str:
        return f"rules.html#{name}" if name in self._rules else ""

    def linked(self, text: str) -> tuple[Linked, ...]:
        """Return a text of the language with the names of declarations as links; neighbours that are none are one part."""
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
