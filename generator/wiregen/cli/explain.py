"""`wiregen explain`: the page of a code."""

import sys

import click

from wiregen.cli.failure import DONE, Failure
from wiregen.cli.talk import has_colour, is_terminal

__all__ = ["verb"]


@click.command("explain")
@click.argument("code")
def verb(code: str) -> int:
    """Explain a CODE: of a diagnostic (WG1001), or of an error in bytes or values (truncated)."""
    from wiregen.diagnostics import did_you_mean, error_codes, explanation, known_codes

    page = explanation(code)
    if page is None:
        known = (*known_codes(), *error_codes())
        way_out = did_you_mean(code, known) or f"the codes are {', '.join(known)}"
        raise Failure(f"there is no code `{code}`", way_out)
    _show(page)
    return DONE


def _show(page: str) -> None:
    if not is_terminal(sys.stdout):
        print(page.rstrip("\n"))
        return
    from rich.console import Console
    from rich.markdown import Markdown

    Console(no_color=not has_colour(sys.stdout), highlight=False).print(Markdown(page))
