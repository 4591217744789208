"""`wiregen fmt`: .wire files in their canonical form."""

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import click

from wiregen.tools.cli.failure import DONE, FINDINGS, Failure
from wiregen.tools.cli.messages import has_colour, tell
from wiregen.tools.cli.protocols import check_names, chosen_names, configuration, exit_code, standard_input
from wiregen.tools.cli.rewriting import Rewritten

if TYPE_CHECKING:
    from wiregen.language.diagnostics import Report
    from wiregen.language.source import Sources

__all__ = ["verb"]


@click.command("fmt")
@click.argument("names", nargs=-1, metavar="[FILE|FOLDER|-]...")
@click.option(
    "--check",
    is_flag=True,
    help="Write no files. List the files that are not formatted, and exit with 1 if there are any.",
)
@click.option(
    "--diff", is_flag=True, help="Write no files. Print the changes, and exit with 1 if there are any."
)
def verb(names: tuple[str, ...], check: bool, diff: bool) -> int:
    """Format .wire files, and those in folders. Without names, format all sources of the configuration.

    `-` formats stdin to stdout. Only spaces and line ends change. A file that does not parse is not changed.
    """
    from wiregen.language.diagnostics import Report, render
    from wiregen.language.source import Sources

    check_names(names)
    report, sources = Report(), Sources()
    outcomes = list(_outcomes(names, sources, report))
    changed = [outcome for outcome in outcomes if outcome.is_changed]
    for outcome in outcomes:
        if diff:
            sys.stdout.write(outcome.diff())
        elif not check:
            outcome.write()
        elif outcome.is_changed:
            click.echo(outcome.source.name)
    sys.stderr.write(render(report, sources, colour=has_colour(sys.stderr)) if report.diagnostics else "")
    if names != ("-",):
        _tell(len(changed), len(outcomes), is_dry=check or diff)
    if report.has_errors:
        return exit_code(report)
    return FINDINGS if changed and (check or diff) else DONE


def _outcomes(names: tuple[str, ...], sources: "Sources", report: "Report") -> Iterator[Rewritten]:
    """Yield the files that parse; report the errors of the others."""
    from wiregen.language.formatter import format_source
    from wiregen.language.source import load

    if names == ("-",):
        source = standard_input(sources, report)
        text = None if source is None else format_source(source, report)
        if source is not None and text is not None:
            yield Rewritten(source=source, path=None, text=text)
        return
    for path in _paths(names, report):
        source = load(path, sources, report)
        text = None if source is None else format_source(source, report)
        if source is not None and text is not None:
            yield Rewritten(source=source, path=path, text=text)


def _paths(names: tuple[str, ...], report: "Report") -> tuple[Path, ...]:
    """Return the files of the names, each once, or those of the configuration's sources."""
    from wiregen.language.source import as_shown

    if not names:
        from wiregen.generate.protocol_files import source_files

        config = configuration(report)
        return tuple(map(Path, chosen_names(source_files(config), config)))
    return tuple(dict.fromkeys(as_shown(path) for name in names for path in _files(Path(name))))


def _files(path: Path) -> tuple[Path, ...]:
    """Return the path, or the .wire files below a folder, without those in folders of hidden names.

    Raises:
        Failure: The folder contains no such file. An empty run would look like a success.
    """
    from wiregen.language.source import SUFFIX

    if not path.is_dir():
        return (path,)
    found = sorted(path.rglob(f"*{SUFFIX}"))
    files = tuple(
        file for file in found if not any(part.startswith(".") for part in file.relative_to(path).parts)
    )
    if not files:
        raise Failure(
            f"there is no {SUFFIX} file in `{path}`",
            "give a folder with .wire files, or files",
            code=FINDINGS,
        )
    return files


def _tell(n_changed: int, n_files: int, *, is_dry: bool) -> None:
    files = "1 file" if n_files == 1 else f"{n_files} files"
    if n_changed:
        tell(f"{files}, {n_changed} {'to be formatted' if is_dry else 'formatted'}")
    else:
        tell(f"{files}, all formatted before" if n_files else files)
