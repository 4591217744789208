"""From files of vectors and implementations to a report and an exit code."""

import sys
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Final

from wiregen.tools.cli.failure import DONE, FINDINGS, Failure
from wiregen.tools.cli.messages import is_terminal, tell

if TYPE_CHECKING:
    from wiregen.conformance.judge import Implementation, Verdict
    from wiregen.conformance.judge.checks import AnyVector
    from wiregen.runtime.schema.protocol import Schema

__all__ = ["built", "expected_of", "judged", "progress_of_vectors", "report", "vectors_of"]

_N_A_LINE: Final = 100
"""The number of vectors between two lines of progress: a program answers hundreds of them in a second."""


def vectors_of(
    files: tuple[str, ...], schema: "Schema", only: tuple[str, ...] = ()
) -> "tuple[AnyVector, ...]":
    """Return the vectors of the files that the user named; without files, those that `vectors build` wrote."""
    from wiregen.conformance.judge.vector_files import load_files
    from wiregen.conformance.vectors.format import VectorsError
    from wiregen.language.diagnostics import did_you_mean

    paths = tuple(map(Path, files)) or (_built_or_refused(schema.name),)
    try:
        vectors = load_files(paths, schema)
    except VectorsError as error:
        raise Failure(
            str(error), "correct the file: docs/schemas/vectors.schema.json is its schema"
        ) from None
    if not vectors:
        raise Failure(
            f"there are no vectors in {', '.join(map(str, paths))}", "give a file with at least one vector"
        )
    missing = next((id_ for id_ in only if id_ not in {vector.id for vector in vectors}), None)
    if missing is not None:
        near = did_you_mean(missing, tuple(vector.id for vector in vectors))
        raise Failure(
            f"there is no vector `{missing}`", near or "give an id from the beginning of a line of the files"
        )
    return tuple(vector for vector in vectors if not only or vector.id in only)


def built(protocol: str) -> Path:
    """Return the path at which `vectors build` writes the vectors of a protocol."""
    from wiregen.language.diagnostics import Report
    from wiregen.tools.cli.protocols import configuration

    return configuration(Report()).output / "vectors" / f"{protocol}.json"


def _built_or_refused(protocol: str) -> Path:
    path = built(protocol)
    if path.is_file():
        return path
    raise Failure(
        f"there is no `{path}`", f"give files of vectors, or build them: wiregen vectors build {protocol}"
    )


def expected_of(path: str | None) -> dict[str, str]:
    """Return the vectors that are known to fail."""
    from wiregen.conformance.judge.expected_failures import read_expected

    return {} if path is None else read_expected(Path(path))


def judged(
    vectors: "Sequence[AnyVector]",
    implementations: "Sequence[Implementation]",
    *,
    is_thorough: bool = True,
    with_large: bool = False,
) -> "Iterator[Verdict]":
    """Yield the verdict of each vector: the worst of all implementations; it is skipped only if all skip it."""
    from wiregen.conformance.judge import judge

    with progress_of_vectors(len(vectors)) as advance:
        for vector in vectors:
            verdicts = [
                judge(vector, implementation, is_thorough=is_thorough, with_large=with_large)
                for implementation in implementations
            ]
            ranks = {"failed": 0, "passed": 1, "skipped": 2}
            worst = min(verdicts, key=lambda verdict: ranks[verdict.outcome])
            advance(worst)
            yield worst


def report(
    verdicts: "Iterator[Verdict]",
    expected: Mapping[str, str],
    name: str,
    format_: str,
    notes: Callable[[], tuple[str, ...]] = tuple,
) -> int:
    """Print the verdicts and their totals; return the exit code. `notes` is called after the last verdict."""
    from wiregen.conformance.judge.expected_failures import tally
    from wiregen.conformance.judge.reports import as_json, as_junit, as_text
    from wiregen.language.diagnostics import visible

    counted = tally(verdicts, expected)
    match format_:
        case "json":
            print(as_json(counted, expected, name, notes()))
        case "junit":
            print(as_junit(counted, expected, name, notes()))
        case _:
            *lines, sums = as_text(counted, expected, name)
            for line in (*lines, *notes(), sums):
                print(visible(line))
    return FINDINGS if counted.has_findings else DONE


@contextmanager
def progress_of_vectors(
    n_vectors: int, *, n_a_line: int = _N_A_LINE
) -> "Iterator[Callable[[Verdict], None]]":
    """Show progress on stderr: a bar on a terminal, elsewhere a line after every `n_a_line` vectors.

    The function provided takes each verdict. With `n_a_line` 1, the line is the verdict.
    """
    if not is_terminal(sys.stderr):
        yield partial(_tell_verdict, Counter(), n_vectors, n_a_line)
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress

    with Progress(
        BarColumn(), MofNCompleteColumn(), console=Console(stderr=True), transient=True, redirect_stdout=False
    ) as bar:
        task = bar.add_task("vectors", total=n_vectors)
        yield lambda verdict: bar.advance(task)


def _tell_verdict(counts: Counter[str], n_vectors: int, n_a_line: int, verdict: "Verdict") -> None:
    counts[verdict.outcome] += 1
    n_done = counts.total()
    if n_a_line == 1:
        tell(f"{n_done} of {n_vectors}: {verdict.outcome} {verdict.id}")
    elif n_done % n_a_line == 0:
        tell(f"{n_done} of {n_vectors} vectors, {counts['failed']} failed")
