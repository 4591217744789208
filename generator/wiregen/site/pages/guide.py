"""wiregen's own guide as pages of the site: its chapters, notations of the grammar, example files, a page for each code.

Lines `{{grammar: …}}` and `{{example: …}}` of a page are replaced by rules of the grammar and by a file of
`examples/`. A link to another page of the guide is kept; any other link becomes text.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Final

from markupsafe import Markup

from wiregen.language.diagnostics import error_codes, explanation, known_codes
from wiregen.site.pages.general_views import GuideView
from wiregen.site.pages.grammar import notation_of_rules
from wiregen.site.pages.page_paths import Linked
from wiregen.site.pages.views import Shell

if TYPE_CHECKING:
    from markdown_it import MarkdownIt
    from markdown_it.token import Token

__all__ = ["examples", "guide_pages", "handbook_folder", "heading_id"]

_PAGES: Final = {
    "start": "guide/start.md",
    "projects": "guide/projects.md",
    "language": "guide/language.md",
    "behaviour": "guide/behaviour.md",
    "sessions": "sessions.md",
    "serializations": "serializations.md",
    "vectors": "vectors.md",
    "pipeline": "guide/pipeline.md",
    "plugins": "plugins.md",
    "recipes": "guide/recipes.md",
}
_DIRECTIVE: Final = re.compile(r"^\{\{(grammar|example): ([a-z_ ]+)\}\}$", re.MULTILINE)
_CODE_OR_LINK: Final = re.compile(
    r"^(?:```|~~~).*?^(?:```|~~~)$|\[((?:[^\[\]`\n]|`[^`\n]*`|\n(?!\n))+)\]\(([^)\s]*)\)|`[^`\n]*`",
    re.DOTALL | re.MULTILINE,
)
"""A block of code, a link with its words and its target, or a code span."""
_TITLE: Final = re.compile(r"^# (.+)$", re.MULTILINE)
_CODES: Final = "codes"


def handbook_folder() -> Path:
    """Return the folder of the guide's texts: in the package of a wheel, in `docs` of a checkout.

    Raises:
        FileNotFoundError: Neither folder exists; the installation is incomplete.
    """
    here = Path(__file__).resolve()
    for folder in (here.parents[2] / "handbook", here.parents[4] / "docs"):
        if (folder / "guide").is_dir():
            return folder
    raise FileNotFoundError("wiregen's guide is missing: install wiregen again")


def examples() -> dict[str, str]:
    """Return the examples of the language by their names."""
    folder = handbook_folder() / "guide" / "examples"
    return {path.stem: path.read_text(encoding="utf-8") for path in sorted(folder.glob("*.wire"))}


def guide_pages() -> Iterator[GuideView]:
    """Yield the pages of the guide: the chapters, the index of codes, a page for each code."""
    chapters = {
        name: _expanded((handbook_folder() / path).read_text(encoding="utf-8"))
        for name, path in _PAGES.items()
    }
    chapters[_CODES] = _index_of_codes()
    titles = {name: _title(text) for name, text in chapters.items()}
    sections = tuple(Linked(text=title, url=f"{name}.html") for name, title in titles.items())
    for name, text in chapters.items():
        yield _page(name, text, sections, is_chapter=True)
    for code in (*known_codes(), *error_codes()):
        yield _page(code, explanation(code) or "", sections, is_chapter=False)


def _title(text: str) -> str:
    found = _TITLE.search(text)
    return found[1].replace("`", "") if found else ""


def _page(name: str, text: str, sections: tuple[Linked, ...], *, is_chapter: bool) -> GuideView:
    title = _title(text)
    home, codes = Linked(text="Protocols", url="../index.html"), Linked(text="Codes", url=f"{_CODES}.html")
    guide = Linked(text="Guide", url="start.html")
    crumbs = (home, guide) if is_chapter else (home, guide, codes)
    shell = Shell(
        title=f"{title} · wiregen",
        root="../",
        here=name,
        crumbs=(*crumbs, Linked(text=title)),
        sections=sections,
    )
    return GuideView(shell=shell, title=title, html=_rendered(text), md=_linked_to_twins(text))


def _expanded(text: str) -> str:
    texts = examples()

    def block(found: re.Match[str]) -> str:
        kind, names = found[1], tuple(found[2].split())
        body = notation_of_rules(names) if kind == "grammar" else texts[names[0]].rstrip()
        return f"~~~{'text' if kind == 'grammar' else 'wire'}\n{body}\n~~~"

    return _DIRECTIVE.sub(block, text)


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
    return f"- [`{code}`]({code}.html) {title}"


# ---- as HTML


def _rendered(text: str) -> Markup:
    tokens = _renderer().parse(text)
    for number, token in enumerate(tokens):
        if token.type == "heading_open" and token.tag != "h1":
            token.attrSet("id", heading_id(tokens[number + 1].content))
        if token.type == "fence":
            token.attrSet("tabindex", "0")
        for child in token.children or ():
            _mend_link(child)
    return Markup(_renderer().renderer.render(tokens, _renderer().options, {}))


def _mend_link(token: Token) -> None:
    """Point a link to its page of the guide; of any other link, keep only the text."""
    if token.type != "link_open":
        return
    target = str(token.attrGet("href"))
    page = _page_of(target)
    if page is None:
        token.attrs = {}
    else:
        token.attrSet("href", f"{page}.html")


@cache
def _known() -> frozenset[str]:
    return frozenset((_CODES, *known_codes(), *error_codes()))


def heading_id(text: str) -> str:
    """Return the id of a heading in a page of the guide."""
    return re.sub(r"[^a-z0-9]+", "-", text.lower()).strip("-")


def _linked_to_twins(text: str) -> str:
    """Return a text whose links lead to the Markdown of other pages; of links elsewhere, only the words are kept."""

    def link(found: re.Match[str]) -> str:
        words, target = found[1], found[2]
        if words is None:
            return found[0]
        page = _page_of(target)
        return words if page is None else f"[{words}]({page}.md)"

    return _CODE_OR_LINK.sub(link, text)


def _page_of(target: str) -> str | None:
    """Return the page of the guide that a link leads to, if any."""
    page = target.removesuffix(".md").removesuffix(".html")
    return page if "/" not in page and (page in _PAGES or page in _known()) else None


@cache
def _renderer() -> MarkdownIt:
    from markdown_it import MarkdownIt

    return MarkdownIt("commonmark", {"html": False}).enable("table").disable("image")
