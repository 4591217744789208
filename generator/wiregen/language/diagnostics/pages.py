"""The page that explains each code: files next to the package, found by listing and never by a path from outside."""

import re
from functools import cache
from pathlib import Path

_FOLDER = Path(__file__).resolve().parent / "pages"
_DIAGNOSTIC_PAGE = re.compile(r"(WG[1-9][0-9]{3})\.md")
_ERROR_PAGE = re.compile(r"([a-z]+(?:_[a-z]+)*)\.md")


def known_codes() -> tuple[str, ...]:
    """Return every code of a diagnostic (WG1001) that has a page, sorted."""
    return tuple(_pages(_DIAGNOSTIC_PAGE))


def error_codes() -> tuple[str, ...]:
    """Return every code of an error in bytes or values (truncated) that has a page, sorted."""
    return tuple(_pages(_ERROR_PAGE))


def explanation(code: str) -> str | None:
    """Return the page of a code of either kind as Markdown, in any case of letters, or None if it is unknown."""
    path = _pages(_DIAGNOSTIC_PAGE).get(code.upper()) or _pages(_ERROR_PAGE).get(code.lower())
    return None if path is None else path.read_text(encoding="utf-8")


def title(code: str) -> str | None:
    """Return the meaning of a code in a few words, the title of its page."""
    page = explanation(code)
    return None if page is None else page.partition("\n")[0].partition(": ")[2].strip()


@cache
def _pages(name: re.Pattern[str]) -> dict[str, Path]:
    found = ((name.fullmatch(path.name), path) for path in sorted(_FOLDER.iterdir()))
    return {match[1]: path for match, path in found if match}
