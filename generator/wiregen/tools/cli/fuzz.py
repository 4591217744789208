"""`wiregen fuzz`: searches bytes that an implementation reads differently from the reference codec."""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from wiregen.tools.cli import shared_options
from wiregen.tools.cli.adapter import AdapterCommand
from wiregen.tools.cli.failure import DONE, FINDINGS, Failure
from wiregen.tools.cli.messages import is_terminal

if TYPE_CHECKING:
    from wiregen.conformance.fuzz import FuzzFinding, FuzzSearch, SearchBounds
    from wiregen.conformance.judge import Implementation, ReferenceImplementation
    from wiregen.conformance.judge.checks import AnyVector
    from wiregen.runtime.schema.protocol import Schema

__all__ = ["verb"]

_MOST_SHOWN = 64
_USUAL_SECONDS = 30.0


@click.command("fuzz", cls=AdapterCommand)
@shared_options.protocol
@click.argument("files", nargs=-1, metavar="[FILE]... [-- COMMAND [ARGUMENT]...]")
@click.option(
    "--seconds",
    type=click.FloatRange(0.01),
    help="End after this number of seconds. Default: 30, unless --count is given.",
)
@click.option("--count", type=click.IntRange(1), help="End after this number of inputs.")
@click.option("--seed", type=int, default=0, show_default=True, help="Seed of the random choices.")
@click.option("--save", "saved", metavar="FILE", help="Add the findings to FILE as vectors.")
@click.option(
    "--timeout",
    type=click.FloatRange(0.05),
    default=5.0,
    show_default=True,
    help="Time for an answer, in seconds.",
)
def verb(
    protocol: str,
    files: tuple[str, ...],
    seconds: float | None,
    count: int | None,
    seed: int,
    saved: str | None,
    timeout: float,
) -> int:
    """Search for bytes that COMMAND and the reference codec of PROTOCOL decode differently.

    COMMAND answers the requests of `wiregen vectors run`. Without COMMAND, generated code is tested. The inputs are mutations of
    the vectors of FILE, or of those that `wiregen vectors build` writes. Exits with 1 if there are findings.
    """
    from wiregen.conformance.fuzz import FuzzSearch, SearchBounds, seeds_of
    from wiregen.conformance.judge import ReferenceImplementation
    from wiregen.conformance.judge.generated_package import implementation_of
    from wiregen.tools.cli.adapter import command_of, opened
    from wiregen.tools.cli.protocols import package_of

    package = package_of(protocol, ())
    seeds = seeds_of(_beginnings(files, package.schema))
    if not seeds:
        raise Failure("there are no vectors to mutate", "give a file with valid or invalid vectors")
    reference = ReferenceImplementation(package.schema)
    limit = seconds if seconds is not None or count is not None else _USUAL_SECONDS
    bounds = SearchBounds(seconds=limit, count=count)

    def searched(implementation: "Implementation") -> int:
        return _search(
            FuzzSearch(reference, implementation, seeds, seed), bounds, reference, implementation.name, saved
        )

    command = command_of()
    if not command:
        return searched(implementation_of(package))
    with opened(command, package.schema.name, timeout) as implementation:
        return searched(implementation)


def _beginnings(files: tuple[str, ...], schema: "Schema") -> "tuple[AnyVector, ...]":
    """Return the vectors of the files; without files, those that were built, or that are made now."""
    from wiregen.tools.cli.verification import built, vectors_of

    if files or built(schema.name).is_file():
        return vectors_of(files, schema)
    from wiregen.conformance.vectors.building import build_vectors

    return build_vectors(schema).file.vectors


def _search(
    search: "FuzzSearch",
    bounds: "SearchBounds",
    reference: "ReferenceImplementation",
    name: str,
    saved: str | None,
) -> int:
    from wiregen.language.diagnostics import visible

    findings = []
    with _progress(bounds) as advance:
        for finding in search.findings(bounds, advance):
            findings.append(finding)
            for line in _lines(finding, reference):
                print(visible(line))
    if saved is not None and findings:
        _save(Path(saved), findings, reference)
    print(visible(f"{name}: {search.n_trials} inputs, {len(findings)} findings"))
    return FINDINGS if findings else DONE


def _lines(finding: "FuzzFinding", reference: "ReferenceImplementation") -> Iterator[str]:
    trial, found = finding.trial, finding.differing
    yield f"finding: expected {found.expected}, found {found.found}"
    digits = trial.data[:_MOST_SHOWN].hex() + ("…" if len(trial.data) > _MOST_SHOWN else "")
    cuts = f", cut at {', '.join(map(str, trial.cuts[:8]))}" if trial.cuts else ""
    role = f" from {trial.setting.role}" if trial.setting.role else ""
    yield f"  {digits or 'no bytes'}{role}{cuts} ({len(trial.data)} bytes of {finding.first_size})"


def _save(path: Path, findings: "list[FuzzFinding]", reference: "ReferenceImplementation") -> None:
    from wiregen.conformance.fuzz import save, vector_of
    from wiregen.conformance.judge import ImplementationError
    from wiregen.conformance.vectors.format import VectorsError

    vectors = []
    for finding in findings:
        try:
            vectors.append(vector_of(finding, reference))
        except ImplementationError:  # the reference codec itself failed: there is no verdict to keep
            continue
    try:
        save(path, reference.schema.name, vectors)
    except VectorsError as error:
        raise Failure(f"{path}: {error}", "give a file of vectors, or a file that does not exist") from None


@contextmanager
def _progress(bounds: "SearchBounds") -> Iterator[Callable[[int], None]]:
    if not is_terminal(sys.stderr):
        yield lambda n_trials: None
        return
    from rich.console import Console
    from rich.status import Status

    status: Any = Status("searching", console=Console(stderr=True))
    bound = f" of {bounds.count}" if bounds.count else ""
    with status:
        yield lambda n: status.update(f"searching: {n}{bound} inputs") if n % 100 == 0 else None
