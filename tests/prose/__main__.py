"""Show sentences that are hard to read, and fail where there are too many: python -m tests.prose [--all] [PATH ...]."""

from __future__ import annotations

import argparse
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

from .exceptions import load
from .files import texts_of, tracked
from .paragraph import Paragraph
from .report import Finding, Report, check

__all__ = ["main"]

ROOT: Final = Path(__file__).resolve().parents[2]
N_SHOWN: Final = 40


def main(arguments: Sequence[str] | None = None, root: Path = ROOT) -> int:
    """Check the named files, or all tracked ones, and return the exit status."""
    options = _options(arguments)
    try:
        paths = tracked(root, options.path)
    except subprocess.CalledProcessError as error:
        print(error.stderr.strip(), file=sys.stderr)
        return 2
    exceptions = load(root / "tests" / "prose" / "exceptions.toml")
    report = check(_texts(root, paths), exceptions)
    stale = tuple(exceptions.stale(paths, tracked(root)))
    _show(report, shows_all=options.all or bool(options.path))
    for entry in stale:
        print(f"tests/prose/exceptions.toml: unused: {entry.path}: {entry.rule}: {entry.text}")
    return 1 if stale or any(report.failures) else 0


def _options(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.prose", description=__doc__)
    parser.add_argument(
        "--all", action="store_true", help=f"show all findings, not {N_SHOWN} of each failure"
    )
    parser.add_argument("path", nargs="*", help="a tracked file or folder; without it all of them")
    return parser.parse_args(arguments)


def _texts(root: Path, paths: Sequence[str]) -> Iterator[Paragraph]:
    for path in paths:
        yield from texts_of(path, (root / path).read_text(encoding="utf-8"))


def _show(report: Report, *, shows_all: bool) -> None:
    shown = report.findings if shows_all else list(_of_failures(report))
    for finding in shown:
        print(finding)
    for line in report.table(shows_all=shows_all):
        print(line)


def _of_failures(report: Report) -> Iterator[Finding]:
    for failure in report.failures:
        found = [each for each in report.findings if (each.kind, each.rule) == failure]
        yield from found[:N_SHOWN]


if __name__ == "__main__":
    raise SystemExit(main())
