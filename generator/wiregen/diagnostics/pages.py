"""The page that explains each code: files beside the package, found by listing and never by a path from outside."""

import re
from functools import cache
from pathlib import Path

_FOLDER = Path(__file__).resolve().parent.parent / "pages"
_PAGE_NAME = re.compile(r"(WG[1-9][0-9]{3})\.md")


def known_codes() -> tuple[str, ...]:
    """Return every code that has a page, sorted."""
    return tuple(_pages())


def explanation(code: str) -> str | None:
    """Return the page of a code as Markdown, in whatever case the code is written; None for an unknown one."""
    path = _pages().get(code.upper())
    return None if path is None else path.read_text(encoding="utf-8")


def title(code: str) -> str | None:
    """Return what a code stands for in a few words, the title of its page."""
    page = explanation(code)
    return None if page is None else page.partition("\n")[0].partition(": ")[2].strip()


@cache
def _pages() -> dict[str, Path]:
    found = ((_PAGE_NAME.fullmatch(path.name), path) for path in sorted(_FOLDER.iterdir()))
    return {match[1]: path for match, path in found if match}
