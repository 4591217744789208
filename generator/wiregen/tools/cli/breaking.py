"""`wiregen breaking`: changes since an older state that peers, programs or sessions may notice."""

import sys
from typing import TYPE_CHECKING

import click

from wiregen.language.breaking import LEVELS
from wiregen.tools.cli import shared_options
from wiregen.tools.cli.failure import Failure
from wiregen.tools.cli.messages import has_colour, tell
from wiregen.tools.cli.old_state import OldState, old_state
from wiregen.tools.cli.protocols import chosen_names, configuration, exit_code, load, stop

if TYPE_CHECKING:
    from wiregen.generate.backends import Subject
    from wiregen.language.breaking import Level
    from wiregen.language.config import Config
    from wiregen.language.diagnostics import OutputFormat, Report

__all__ = ["verb"]


@click.command("breaking")
@shared_options.protocols
@click.option(
    "--against",
    required=True,
    metavar="REF|PATH",
    help="The older state: a git revision, a folder of .wire files or of a project, a .wire file, or a file that `wiregen ir` saved (.json).",
)
@click.option(
    "--level",
    "levels",
    type=click.Choice(LEVELS),
    multiple=True,
    default=("wire", "api"),
    show_default=True,
    help="Changes of this level are errors; others are notes. May be repeated.",
)
@shared_options.output_format
@click.option("--no-vectors", is_flag=True, help="Do not decode vectors of one state with the other one.")
def verb(
    names: tuple[str, ...],
    against: str,
    levels: tuple["Level", ...],
    output_format: "OutputFormat",
    no_vectors: bool,
) -> int:
    """Compare protocols with an older state: by NAME or path, or all sources of the configuration.

    Levels: wire (one state refuses bytes of the other, or decodes them differently), api (names, types and defaults of generated
    classes), session (states, transitions, timers, options), defaults (limits, default values). With an error the exit code is 1.
    """
    from wiregen.generate.protocol_files import protocol_files, source_files
    from wiregen.language.diagnostics import Report, render
    from wiregen.language.source import Sources

    report, sources = Report(), Sources()
    config = configuration(report)
    chosen = names or chosen_names((*source_files(config), *protocol_files(config)), config)
    with old_state(against, config) as state:
        subjects = [load(name, config, sources, report) for name in chosen]
        if report.has_errors:
            stop(report, sources)
        found = Report()  # without the notes of `check`
        for subject in subjects:
            if subject is not None:
                old = _old_subject(subject, state, is_only=len(subjects) == 1)
                _compare(old, subject, state, config, found, levels, with_vectors=not no_vectors)
        if not names and not (state.is_one and len(subjects) == 1):
            known = {each.protocol.name for each in subjects if each is not None}
            _report_removed(state, known, found, levels)
    sys.stdout.write(render(found, sources, output_format, colour=has_colour(sys.stdout)))
    if output_format != "full" or not found.diagnostics:
        tell(f"{len(subjects)} protocol{'s' * (len(subjects) != 1)}, {_outcome(found)}")
    return exit_code(found)


def _outcome(report: "Report") -> str:
    n_all = len(report.diagnostics)
    n_errors = sum(each.severity == "error" for each in report.diagnostics)
    return f"{n_all or 'no'} change{'s' * (n_all != 1)}, {n_errors or 'no'} error{'s' * (n_errors != 1)}"


def _compare(
    old: "Subject | None",
    new: "Subject",
    state: OldState,
    config: "Config",
    report: "Report",
    levels: tuple["Level", ...],
    *,
    with_vectors: bool,
) -> None:
    """Report the changes of one protocol; a protocol that the old state lacks is only named."""
    from wiregen.language.breaking import compare, compare_numbers, level_of, report_changes
    from wiregen.tools.cli.breaking_proofs import no_proof, proof_of

    if old is None:
        tell(f"{new.protocol.name}: new since {state.name}")
        return
    changes = compare(old.protocol, new.protocol)
    if "protobuf" in config.backends or (old.lock and new.lock):
        changes += tuple(compare_numbers(_numbers(old), _numbers(new), new.protocol.path))
    is_on_wire = any(level_of(change.code) == "wire" for change in changes)
    proof = proof_of(old, new, state, config) if is_on_wire and with_vectors else no_proof
    report_changes(changes, new.origins, report, levels=levels, proof=proof)


def _old_subject(new: "Subject", state: OldState, *, is_only: bool) -> "Subject | None":
    """Return the protocol in the old state, or None if it lacks it.

    `is_only`: no other protocol is compared. Then a state of one protocol is its older state, whatever its name.

    Raises:
        Failure: It has errors there.
    """
    from wiregen.generate.backends import Subject
    from wiregen.generate.frontend import load_protocol
    from wiregen.language.diagnostics import Report
    from wiregen.language.source import Sources

    name = new.protocol.name
    is_pair = is_only and state.is_one
    if state.saved is not None and (is_pair or state.saved.name == name):
        return Subject(
            protocol=state.saved, origins={}, source=state.name, mentioned=frozenset(), lock=new.lock
        )
    path = next(iter(state.files.values()), None) if is_pair else state.files.get(name)
    if path is None:
        return None
    report = Report()
    subject = load_protocol(path, Sources(), report, state.sources)
    if subject is None:
        first = next(each for each in report.diagnostics if each.severity == "error")
        raise Failure(
            f"`{name}` has errors in {state.name}: {first.message} ({first.code})",
            "compare with a state that this version of wiregen checks without errors",
        )
    return subject


def _numbers(subject: "Subject") -> dict[str, int]:
    """Return the numbers of protobuf: those of the lock, and of the declarations that it lacks."""
    from wiregen.schema.value_shapes import carry
    from wiregen.schema.value_shapes.field_numbers import numbers_of, read_lock

    try:
        locked = read_lock(subject.lock)
    except ValueError:  # `build` reports it
        locked = {}
    return {entry.name: entry.number for entry in numbers_of(carry(subject.protocol))} | locked


def _report_removed(state: OldState, known: set[str], report: "Report", levels: tuple["Level", ...]) -> None:
    for name in state.protocols:
        if name not in known:
            add = report.error if "api" in levels else report.note
            add("WG8101", f"protocol `{name}` is removed", None)
