"""wiregen's own guide as pages of the site: its chapters, and a page for each code.

A link to the file of another page leads to that page; any other link becomes text.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from posixpath import dirname, normpath
from typing import TYPE_CHECKING, Final

from markupsafe import Markup

from wiregen.language.diagnostics import error_codes, explanation, known_codes
from wiregen.site.pages.general_views import GuideView
from wiregen.site.pages.guide_files import GUIDE_PAGES, guide_files
from wiregen.site.pages.highlighting import highlighted
from wiregen.site.pages.page_paths import Linked
from wiregen.site.pages.views import Shell

if TYPE_CHECKING:
    from markdown_it import MarkdownIt
    from markdown_it.token import Token

__all__ = ["guide_pages", "heading_id"]

_CODE_OR_LINK: Final = re.compile(
    r"^(?:```|~~~).*?^(?:```|~~~)$|\[((?:[^\[\]`\n]|`[^`\n]*`|\n(?!\n))+)\]\(([^)\s]*)\)|`[^`\n]*`",
    re.DOTALL | re.MULTILINE,
)
"""A block of code, a link with its words and its target, or a code span."""
_TITLE: Final = re.compile(r"^# (.+)$", re.MULTILINE)
_CODES: Final = "codes"
_CODE_PAGES: Final = "generator/wiregen/language/diagnostics/pages"
"""The folder of the pages of codes in the repository. A link to it leads to the index of codes."""


def guide_pages() -> Iterator[GuideView]:
    """Yield the pages of the guide: the chapters, the index of codes, a page for each code."""
    chapters = {name: path.read_text(encoding="utf-8") for name, path in guide_files().items()}
    chapters[_CODES] = _index_of_codes()
    titles = {name: _title(text) for name, text in chapters.items()}
    sections = tuple(Linked(text=title, url=f"{name}.html") for name, title in titles.items())
    beside = zip((None, *sections[:-1]), (*sections[1:], None), strict=True)
    for (name, text), (before, after) in zip(chapters.items(), beside, strict=True):
        yield _page(name, text, sections, before=before, after=after)
    for code in (*known_codes(), *error_codes()):
        yield _page(code, explanation(code) or "", sections)


def _title(text: str) -> str:
    found = _TITLE.search(text)
    return found[1].replace("`", "") if found else ""


def _page(
    name: str,
    text: str,
    sections: tuple[Linked, ...],
    *,
    before: Linked | None = None,
    after: Linked | None = None,
) -> GuideView:
    title = _title(text)
    is_chapter = name in GUIDE_PAGES or name == _CODES
    home, codes = Linked(text="Protocols", url="../index.html"), Linked(text="Codes", url=f"{_CODES}.html")
    guide = Linked(text="Guide", url="start.html")
    crumbs = (home, guide) if is_chapter else (home, guide, codes)
    shell = Shell(
        title=f"{title} · wiregen",
        root="../",
        here=name,
        crumbs=(*crumbs, Linked(text=title)),
        sections=sections,
        before=before,
        after=after,
    )
    text = _linked_to_pages(text, folder=_folder_of(name))
    return GuideView(shell=shell, title=title, html=_rendered(text), md=text)


# ---- links


@cache
def _files() -> dict[str, str]:
    """Return the name of the page of each file, by the file's path in the repository."""
    chapters = {f"docs/{path}": name for name, path in GUIDE_PAGES.items()}
    codes = {f"{_CODE_PAGES}/{code}.md": code for code in (*known_codes(), *error_codes())}
    return {_CODE_PAGES: _CODES, **chapters, **codes}


def _folder_of(name: str) -> str:
    """Return the folder of a page's file in the repository."""
    return dirname(f"docs/{GUIDE_PAGES[name]}") if name in GUIDE_PAGES else _CODE_PAGES


def _linked_to_pages(text: str, *, folder: str) -> str:
    """Return a text whose links lead to the Markdown of other pages. Of links elsewhere only the words are kept."""

    def link(found: re.Match[str]) -> str:
        words, target = found[1], found[2]
        if words is None:
            return found[0]
        page = _files().get(normpath(f"{folder}/{target.partition('#')[0]}"))
        return words if page is None else f"[{words}]({page}.md)"

    return _CODE_OR_LINK.sub(link, text)


def _index_of_codes() -> str:
    parts = [
        "# All codes\n",
        "`wiregen explain CODE` shows the same pages.\n",
        "## Of errors in bytes and values\n",
    ]
    parts += [_listed(code) for code in error_codes()]
    subjects: dict[str, list[str]] = {}
    for code in known_codes():
        subjects.setdefault(code[:3], []).append(code)
    for subject, codes in subjects.items():
        parts += [f"\n## {subject}xxx\n", *(_listed(code) for code in codes)]
    return "\n".join(parts) + "\n"


def _listed(code: str) -> str:
    title = _title(explanation(code) or "").removeprefix(f"{code}:").strip()
    return f"- [`{code}`]({code}.md) {title}"


# ---- as HTML


def _rendered(text: str) -> Markup:
    tokens = _renderer().parse(text)
    for number, token in enumerate(tokens):
        if token.type == "heading_open" and token.tag != "h1":
            token.attrSet("id", heading_id(tokens[number + 1].content))
        if token.type == "fence":
            token.attrSet("tabindex", "0")
        for child in token.children or ():
            _lead_link(child)
    return Markup(_renderer().renderer.render(tokens, _renderer().options, {}))


def _lead_link(token: Token) -> None:
    """Point a link to the HTML of its page. Of any other link (`<https://…>`), keep only the text."""
    if token.type != "link_open":
        return
    page = str(token.attrGet("href")).removesuffix(".md")
    if page in _files().values():
        token.attrSet("href", f"{page}.html")
    else:
        token.attrs = {}


def heading_id(text: str) -> str:
    """Return the id of a heading in a page of the guide."""
    return re.sub(r"[^a-z0-9]+", "-", text.lower()).strip("-")


@cache
def _renderer() -> MarkdownIt:
    from markdown_it import MarkdownIt

    options = {
        "html": False,
        "highlight": lambda text, language, attributes: str(highlighted(text, language)),
    }
    return MarkdownIt("commonmark", options).enable("table").disable("image")
