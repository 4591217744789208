"""`wiregen vectors build`: makes the vectors of the project's protocols from their models, next to their packages."""

import sys
from collections.abc import Iterator
from contextlib import redirect_stderr
from io import StringIO
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, NamedTuple

import click

from wiregen.tools.cli import shared_options
from wiregen.tools.cli.failure import DONE, FINDINGS, USAGE, Failure
from wiregen.tools.cli.messages import UNFINISHED, tell
from wiregen.tools.cli.protocols import configuration, stop

if TYPE_CHECKING:
    from wiregen.conformance.vectors.building import Built
    from wiregen.generate.backends import Subject
    from wiregen.generate.writer import Output
    from wiregen.language.config import Config
    from wiregen.language.source import Sources

__all__ = ["verb"]


class Made(NamedTuple):
    """The content of a file, the lines that report on it, and one for each message without a vector."""

    content: bytes
    rows: tuple[str, ...]
    without: tuple[str, ...]


_FOLDER = "vectors"
_WAY_OUT = "check whether its `where` and `:=` contradict each other: no value fulfils its conditions"
_MOST_SHOWN = 20  # of what no vector shows; the rest is counted


@click.command("build")
@shared_options.protocols
@shared_options.only_check
def verb(names: tuple[str, ...], check: bool) -> int:
    """Build the vectors of the protocols NAME, or of all protocols of the configuration, and print their coverage."""
    from wiregen.language.diagnostics import Report
    from wiregen.language.source import Sources

    report, sources = Report(), Sources()
    config = configuration(report)
    subjects = _subjects(config, names, sources)
    made = _outputs(subjects, config, sources)
    code = DONE
    if made.outputs or not made.refused:
        finish = _compared if check else _written
        # The file that an earlier run wrote for a refused protocol stays as it is.
        is_partial = bool(names or made.refused)
        code = finish((*made.outputs, _schema()), config, is_partial=is_partial)
    for failure in (*made.refused, *made.without):
        failure.show()
    return FINDINGS if made.refused or made.without else code


def _subjects(config: "Config", names: tuple[str, ...], sources: "Sources") -> "dict[str, Subject]":
    """Return the protocols with frames, by the names or paths that lead to them."""
    from wiregen.generate.protocol_files import protocol_files
    from wiregen.language.diagnostics import Report
    from wiregen.tools.cli.protocols import chosen_names, load

    report = Report()
    chosen = names or chosen_names(protocol_files(config), config)
    found = {name: load(name, config, sources, report) for name in chosen}
    if report.has_errors:
        stop(report, sources)
    return {name: each for name, each in found.items() if each is not None and each.protocol.frames}


class _Outcome(NamedTuple):
    """The files of the protocols that have vectors, and why other protocols and messages have none, in the order of the protocols."""

    outputs: "tuple[Output, ...]"
    refused: tuple[Failure, ...]
    without: tuple[Failure, ...]


def _outputs(subjects: "dict[str, Subject]", config: "Config", sources: "Sources") -> _Outcome:
    """Return the files, and print their coverage.

    A file that failed in another process is made here again, for its errors.
    """
    from wiregen.generate.writer import Output

    done = _made_elsewhere(subjects)
    outputs, refused = [], []
    without: list[Failure] = []
    for name, subject in subjects.items():
        try:
            content, rows, missing = done.get(name) or _made(subject, config, sources)
        except Failure as failure:
            if failure.code != FINDINGS:
                raise
            refused.append(failure)
            continue
        sys.stdout.writelines(f"{row}\n" for row in rows)
        outputs.append(Output(path=PurePosixPath(f"{subject.protocol.name}.json"), content=content))
        without += (Failure(message, _WAY_OUT, code=FINDINGS) for message in missing)
    return _Outcome(tuple(outputs), tuple(refused), tuple(without))


def _made_elsewhere(subjects: "dict[str, Subject]") -> dict[str, Made]:
    """Return the files that other processes make; they begin with the protocols of most messages, which take longest."""
    from wiregen.tools.cli.parallel import side_by_side
    from wiregen.tools.cli.progress import progress_of_files

    names = sorted(subjects, key=lambda name: -len(subjects[name].protocol.messages))
    with progress_of_files(len(names)) as advance:
        return dict(advance(each) for each in side_by_side(_made_of, names))


def _made_of(name: str) -> Made | None:
    """Return the file of a protocol, made in a process of its own, or None if there are errors."""
    from wiregen.language.diagnostics import Report
    from wiregen.language.source import Sources

    sources, report = Sources(), Report()
    config = configuration(report)
    with redirect_stderr(StringIO()):
        try:
            [subject] = _subjects(config, (name,), sources).values()
            return _made(subject, config, sources)
        except (click.exceptions.Exit, click.ClickException):
            return None


def _made(subject: "Subject", config: "Config", sources: "Sources") -> Made:
    """Return the content of a file, and the lines that report its coverage."""
    from wiregen.conformance.vectors.format import write_vectors

    built = _built(subject, config, sources)
    _need_valid(built, subject, sources)
    _hold(built)
    content = write_vectors(built.file).encode()
    rows = tuple(_rows(built, subject, sources, len(content)))
    return Made(content, rows, tuple(_messages_without(built, subject, sources)))


def _messages_without(built: "Built", subject: "Subject", sources: "Sources") -> "Iterator[str]":
    """Yield why a message has no valid vector, for each such message."""
    for each in built.unshown:
        sender = f" from {each.role}" if each.role is not None else ""
        error = each.error
        why = "no value was found" if error is None else f"{error.path} is refused ({error.code})"
        place = _place(each.message if error is None else error.path, subject, sources)
        yield f"no vector of {subject.protocol.name} shows message {each.message}{sender}: {why}{place}"


def _need_valid(built: "Built", subject: "Subject", sources: "Sources") -> None:
    """Refuse vectors in which every value that was tried is refused: they would judge nothing."""
    error = next((each.error for each in built.file.vectors if each.kind == "unwritable"), None)
    if built.kinds["valid"] or error is None:
        return
    place = _place(error.path, subject, sources)
    raise Failure(
        f"no message of {subject.protocol.name} can be written: {error.path} is refused ({error.code}){place}",
        _WAY_OUT,
        code=FINDINGS,
    )


def _hold(built: "Built") -> None:
    """Refuse to write vectors that `vectors verify` would not accept."""
    wrong = [
        f"{id_} ({finding.check}: expected {finding.expected}, found {finding.found})"
        for id_, finding in built.unheld()
    ]
    if wrong:
        more = f" and {len(wrong) - 1} more" if len(wrong) > 1 else ""
        raise Failure(
            f"vectors of {built.file.protocol} contradict themselves: {wrong[0]}{more}",
            "this is a bug in wiregen, and its file was not written; please report it with the .wire file",
            code=FINDINGS,
        )


def _schema() -> "Output":
    """Return the JSON Schema of all these files, to be stored next to them."""
    from wiregen.conformance.judge.vector_files import schema
    from wiregen.generate.writer import Output

    return Output(path=PurePosixPath("vectors.schema.json"), content=schema().encode())


def _built(subject: "Subject", config: "Config", sources: "Sources") -> "Built":
    from dataclasses import replace

    from wiregen.conformance.traces import make_traces
    from wiregen.conformance.vectors.building import build_vectors
    from wiregen.conformance.vectors.example_vectors import ExampleBytes
    from wiregen.conformance.vectors.serializations import carrier
    from wiregen.generate.packages import make
    from wiregen.language.diagnostics import Report
    from wiregen.language.examples.checking import examples_in_bytes
    from wiregen.language.examples.conversations import told_conversations
    from wiregen.runtime.codec.options import DEFAULT_LIMITS
    from wiregen.schema.lowering import idle_limits

    report = Report()
    package = make(subject, config.backends, report)
    if package is None:
        stop(report, sources)
    kept = DEFAULT_LIMITS.keys() - idle_limits(subject.protocol)
    limits = tuple(limit.name for limit in subject.protocol.limits if limit.name in kept)
    examples = tuple(ExampleBytes(**each) for each in examples_in_bytes(subject.protocol))
    traces = make_traces(subject.protocol, subject.origins, sources) if subject.protocol.sessions else None
    if traces is not None:
        conversations = (each.trace for each in told_conversations(subject.protocol))
        traces = replace(traces, traces=(*conversations, *traces.traces))
    try:
        return build_vectors(
            package.schema, limits=limits, examples=examples, carry=carrier(package), traces=traces
        )
    except ImportError as error:
        message, _, way_out = str(error).partition(": ")
        raise Failure(
            message, way_out or "install what is missing, or remove the backend from the configuration"
        ) from None


# ---- report


def _rows(built: "Built", subject: "Subject", sources: "Sources", size: int) -> Iterator[str]:
    """Yield the number of vectors and their coverage, with the places of goals that they do not cover."""
    kinds = ", ".join(f"{count} {kind}" for kind, count in sorted(built.kinds.items(), reverse=True))
    yield f"{subject.protocol.name}: {kinds} ({-(-size // 1024)} KiB)"
    shown = (f"{m.n_all - len(m.missing)} of {m.n_all} {m.what}" for m in built.coverage.measures)
    yield f"  show {', '.join(shown)}"
    for each in built.coverage.measures:
        for name in each.missing[:_MOST_SHOWN]:
            yield f"  no vector shows {each.what}: {name}{_place(name, subject, sources)}"
        if len(each.missing) > _MOST_SHOWN:
            yield f"  … and {len(each.missing) - _MOST_SHOWN} more"


def _place(name: str, subject: "Subject", sources: "Sources") -> str:
    """Return where in the .wire file the name of a goal is declared, or "" if that is unknown."""
    from wiregen.language.diagnostics import locate

    parts = name.split(" ")[0].removesuffix("[]").split(".")
    for end in range(len(parts), 0, -1):
        span = subject.origins.get(".".join((subject.protocol.name, *parts[:end])))
        location = locate(span, sources) if span is not None else None
        if span is not None and location is not None:
            return f" ({span.source}:{location.line})"
    return ""


# ---- the files


def _written(outputs: "tuple[Output, ...]", config: "Config", *, is_partial: bool) -> int:
    from wiregen.generate.writer import WriteError, write
    from wiregen.language.source import as_shown

    folder = config.output / _FOLDER
    try:
        written = write(outputs, folder, partial=is_partial, at_wait=tell)
    except WriteError as error:
        raise Failure(
            str(error), "remove the obstacle that the message names; no file was changed", code=USAGE
        ) from None
    counts = f"{len(written.changed)} files written, {len(written.deleted)} deleted"
    tell(f"{as_shown(folder)}: {counts if written.changed or written.deleted else 'up to date'}")
    return DONE


def _compared(outputs: "tuple[Output, ...]", config: "Config", *, is_partial: bool) -> int:
    from wiregen.generate.writer import compare
    from wiregen.language.source import as_shown

    folder = config.output / _FOLDER
    difference = compare(outputs, folder, partial=is_partial)
    for word in ("stale", "missing", "extra"):
        for path in getattr(difference, word):
            print(f"{word} {as_shown(folder / path)}")
    if difference.is_unfinished:
        tell(f"{as_shown(folder)}: {UNFINISHED}")
    if difference:
        tell(f"{as_shown(folder)}: not up to date; run `wiregen vectors build`")
    return FINDINGS if difference else DONE
