"""`wiregen explain`: the page of a code."""

import re
import sys
from pathlib import Path

import click

from wiregen.cli.failure import DONE, Failure
from wiregen.cli.talk import has_colour, is_terminal

__all__ = ["verb"]

_ERROR_PAGE = re.compile(r"([a-z_]+)\.md")


@click.command("explain")
@click.argument("code")
def verb(code: str) -> int:
    """Explain a CODE: of a diagnostic (WG1001), or of an error in bytes (truncated) where it has a page."""
    from wiregen.diagnostics import did_you_mean, explanation, known_codes

    pages = _error_pages()
    page = explanation(code) or pages.get(code.lower())
    if page is None:
        known = (*known_codes(), *pages)
        way_out = did_you_mean(code.upper(), known) or did_you_mean(code, known)
        raise Failure(f"there is no code `{code}`", way_out or f"the codes are {', '.join(known)}")
    _show(page)
    return DONE


def _error_pages() -> dict[str, str]:
    """Return the pages of the errors in bytes, found by listing and never by a path from outside."""
    import wiregen

    folder = Path(wiregen.__file__).parent / "pages"
    found = ((_ERROR_PAGE.fullmatch(path.name), path) for path in sorted(folder.iterdir()))
    return {match[1]: path.read_text(encoding="utf-8") for match, path in found if match}


def _show(page: str) -> None:
    if not is_terminal(sys.stdout):
        print(page.rstrip("\n"))
        return
    from rich.console import Console
    from rich.markdown import Markdown

    Console(no_color=not has_colour(sys.stdout), highlight=False).print(Markdown(page))
