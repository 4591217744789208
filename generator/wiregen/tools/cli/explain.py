"""`wiregen explain`: the page of a code, or of a rule of a protocol."""

import re
import sys
from typing import TYPE_CHECKING, Final

import click

from wiregen.tools.cli.failure import DONE, Failure
from wiregen.tools.cli.messages import has_colour, is_terminal

if TYPE_CHECKING:
    from collections.abc import Iterator

    from wiregen.schema.model import Rule

__all__ = ["verb"]

_SUBJECTS: Final = {
    "WG1": "files and syntax",
    "WG2": "names and types",
    "WG3": "layout",
    "WG4": "contexts and sessions",
    "WG5": "backends and builds",
    "WG6": "configuration",
    "WG7": "lint",
    "WG8": "breaking changes",
}


@click.command("explain")
@click.argument("code")
@click.argument("protocol", required=False)
def verb(code: str, protocol: str | None) -> int:
    """Explain a CODE: of a diagnostic (WG1001), of an error in bytes or values (truncated), or of a lint rule (no-source).

    CODE may also be a rule of PROTOCOL that errors and violations name (bad_version). Without PROTOCOL, all shipped protocols are searched.
    """
    if protocol is not None:
        _show(_rule_page(code, protocol))
        return DONE
    from wiregen.language.diagnostics import did_you_mean, error_codes, explanation, known_codes
    from wiregen.language.linter import RULES

    rule = RULES.get(code.lower())
    page = explanation(code if rule is None else rule.code)
    if page is None:
        page = "\n".join(_shipped_rules(code)) or None
    if page is None:
        way_out = did_you_mean(code, (*known_codes(), *error_codes(), *RULES)) or _overview()
        raise Failure(f"there is no code `{code}`", way_out)
    _show(page)
    return DONE


def _rule_page(name: str, protocol: str) -> str:
    """Return the page of a rule of the protocol that the user named; exit if it lacks a rule of that name."""
    from wiregen.language.diagnostics import did_you_mean
    from wiregen.tools.cli.protocols import subject_of

    found = subject_of(protocol).protocol
    rules = {rule.name: rule for rule in found.rules}
    if name not in rules:
        way_out = did_you_mean(name, rules) or f"the rules are: {', '.join(rules) or 'none'}"
        raise Failure(f"`{found.name}` has no rule `{name}`", way_out)
    return _page_of(rules[name], found.name)


def _shipped_rules(name: str) -> "Iterator[str]":
    """Yield the page of a rule in each shipped protocol that declares it."""
    from wiregen.language.source import SUFFIX, shipped_protocols

    declaration = re.compile(rf"^rule {re.escape(name)}\b", re.MULTILINE)
    for path in sorted(shipped_protocols().glob(f"*{SUFFIX}")):
        if declaration.search(path.read_text(encoding="utf-8")):  # checking a file takes half a second
            yield _rule_page(name, str(path))


def _page_of(rule: "Rule", protocol: str) -> str:
    """Return the page of a rule: its text and its sources."""
    notes = rule.notes
    lines = [f"# `{rule.name}`: a rule of `{protocol}`", "", rule.text, ""]
    lines += [f"Source: {source}" for source in (*rule.sources, *map(", ".join, notes.sources))]
    lines += [] if notes.assumed is None else [f"Assumed: {notes.assumed}"]
    lines += [] if notes.errata is None else [f"The document says instead: {notes.errata}"]
    return "\n".join(lines).rstrip() + "\n"


def _overview() -> str:
    """Return all codes in few lines: those of diagnostics by their first digit, those of errors one by one."""
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
