"""`wiregen explain`: the page of a code."""

import sys
from typing import Final

import click

from wiregen.tools.cli.failure import DONE, Failure
from wiregen.tools.cli.messages import has_colour, is_terminal

__all__ = ["verb"]

_SUBJECTS: Final = {
    "WG1": "files and syntax",
    "WG2": "names and types",
    "WG3": "layout",
    "WG4": "contexts and sessions",
    "WG5": "backends and builds",
    "WG6": "configuration",
    "WG7": "lint",
}


@click.command("explain")
@click.argument("code")
def verb(code: str) -> int:
    """Explain a CODE: of a diagnostic (WG1001), of an error in bytes or values (truncated), or a rule of lint (no-source)."""
    from wiregen.language.diagnostics import did_you_mean, error_codes, explanation, known_codes
    from wiregen.language.linter import RULES

    rule = RULES.get(code.lower())
    page = explanation(code if rule is None else rule.code)
    if page is None:
        way_out = did_you_mean(code, (*known_codes(), *error_codes(), *RULES)) or _overview()
        raise Failure(f"there is no code `{code}`", way_out)
    _show(page)
    return DONE


def _overview() -> str:
    """Return all codes in few rows: those of diagnostics by their first digit, those of errors one by one."""
    from wiregen.language.diagnostics import error_codes, known_codes

    ranges = []
    for start, subject in _SUBJECTS.items():
        codes = [code for code in known_codes() if code.startswith(start)]
        ranges.append(f"{codes[0]} to {codes[-1]} ({subject})")
    return f"the codes are {', '.join(ranges)}\n    of errors in bytes or values: {', '.join(error_codes())}"


def _show(page: str) -> None:
    if not is_terminal(sys.stdout):
        print(page.rstrip("\n"))
        return
    from rich.console import Console
    from rich.markdown import Markdown

    Console(no_color=not has_colour(sys.stdout), highlight=False).print(Markdown(page))
