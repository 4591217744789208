"""`wiregen check`: the diagnostics of .wire files are the result."""

import sys
from typing import TYPE_CHECKING

import click

from wiregen.tools.cli import shared_options
from wiregen.tools.cli.messages import has_colour, tell
from wiregen.tools.cli.protocols import check_names, chosen_names, completions, configuration, exit_code, load

if TYPE_CHECKING:
    from wiregen.generate.backends import Subject
    from wiregen.language.diagnostics import OutputFormat, Report

__all__ = ["verb"]


@click.command("check")
@click.argument("files", nargs=-1, metavar="[FILE|NAME|-]...", shell_complete=completions)
@shared_options.output_format
@click.option(
    "--verbose",
    is_flag=True,
    help="Also print the memory that one message may take within its limits, for each protocol. With protobuf or msgpack, or with an error, it is at most twice as much.",
)
def verb(files: tuple[str, ...], output_format: "OutputFormat", verbose: bool) -> int:
    """Check .wire files, or protocols by name. Without names, check all sources of the configuration.

    `-` checks stdin.
    """
    from wiregen.generate.protocol_files import protocol_files, source_files
    from wiregen.language.diagnostics import Report, render
    from wiregen.language.source import Sources

    check_names(files)
    report, sources = Report(), Sources()
    config = configuration(report)
    names = files or chosen_names((*source_files(config), *protocol_files(config)), config)
    subjects = [load(name, config, sources, report) for name in names]
    if "protobuf" in config.backends:
        _check_numbers(subjects, report)
    text = render(report, sources, output_format, colour=has_colour(sys.stdout))
    sys.stdout.write(text)
    for subject in subjects if verbose else ():
        if subject is not None:
            _tell_memory(subject)
    if output_format != "full" or not report.diagnostics:  # there the last line of the result counts them
        tell(_outcome(len(names), report))
    return exit_code(report)


def _check_numbers(subjects: "list[Subject | None]", report: "Report") -> None:
    """Report the numbers that a build would refuse."""
    from wiregen.generate.backends.protobuf import check_numbers

    for subject in subjects:
        if subject is not None:
            check_numbers(subject, report)


def _tell_memory(subject: "Subject") -> None:
    """Report the message that can be the largest in memory: a rough estimate from its limits."""
    from wiregen.language.checker import largest_memory

    largest = max(largest_memory(subject.protocol), key=lambda each: each[1], default=None)
    if largest is not None:
        message, size = largest
        tell(f"{subject.protocol.name}: one {message} takes at most about {_in_words(size)}")


def _in_words(size: int) -> str:
    """Return a number of bytes in the largest unit of which it has at least one, but not below 1 KiB."""
    if size < 2**20:
        return f"{max(1, -(-size // 2**10))} KiB"
    return f"{size / 2**20:.0f} MiB"


def _outcome(n_protocols: int, report: "Report") -> str:
    n_errors = sum(diagnostic.severity == "error" for diagnostic in report.diagnostics)
    protocols = "1 protocol" if n_protocols == 1 else f"{n_protocols} protocols"
    errors = "1 error" if n_errors == 1 else f"{n_errors or 'no'} errors"
    return f"{protocols}, {errors}"
