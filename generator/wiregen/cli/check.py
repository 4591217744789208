"""`wiregen check`: the diagnostics of .wire files are the result."""

import sys
from typing import TYPE_CHECKING

import click

from wiregen.cli.protocols import as_shown, configuration, exit_code, load
from wiregen.cli.talk import has_colour, tell

if TYPE_CHECKING:
    from wiregen.diagnostics import OutputFormat, Report

__all__ = ["verb"]

_FORMATS: tuple["OutputFormat", ...] = ("full", "concise", "json", "github", "sarif")


@click.command("check")
@click.argument("files", nargs=-1, metavar="[FILE]...")
@click.option("--output-format", type=click.Choice(_FORMATS), default="full", show_default=True)
def verb(files: tuple[str, ...], output_format: "OutputFormat") -> int:
    """Check .wire FILEs, or protocols by name; without any, all protocols of the configuration."""
    from wiregen.diagnostics import Report, render
    from wiregen.frontend import protocol_files
    from wiregen.source import Sources

    report, sources = Report(), Sources()
    config = configuration(report)
    names = files or tuple(str(as_shown(path)) for path in protocol_files(config))
    for name in names:
        load(name, config, sources, report)
    text = render(report, sources, output_format, colour=has_colour(sys.stdout))
    sys.stdout.write(text)
    tell(_outcome(len(names), report))
    return exit_code(report)


def _outcome(n_protocols: int, report: "Report") -> str:
    n_errors = sum(diagnostic.severity == "error" for diagnostic in report.diagnostics)
    protocols = "1 protocol" if n_protocols == 1 else f"{n_protocols} protocols"
    errors = "1 error" if n_errors == 1 else f"{n_errors or 'no'} errors"
    return f"{protocols}, {errors}"
