"""Schemas in batches: one build, one mypy, one site and one set of vectors for all, then each package by itself."""

from __future__ import annotations

import importlib
import json
import subprocess
import sys
import time
import traceback
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path
from typing import Any, Final

from tests import built_schema
from tests.property.sample_schemas.checks import check_package, same
from tests.property.sample_schemas.protocols import draw
from tests.property.sample_schemas.text import Schema

from wiregen.conformance.judge import judge
from wiregen.conformance.judge.generated_package import implementation_of
from wiregen.conformance.traces import make_traces
from wiregen.conformance.vectors.building import build_vectors
from wiregen.conformance.vectors.serializations import carrier
from wiregen.generate.build import build
from wiregen.generate.frontend import load_protocol
from wiregen.generate.packages import make
from wiregen.generate.python_layout import formatter
from wiregen.generate.writer import write
from wiregen.language.config import Config
from wiregen.language.diagnostics import Report, locate, render
from wiregen.language.source import Sources
from wiregen.runtime.codec.options import DEFAULT_LIMITS
from wiregen.schema.model import Protocol
from wiregen.site.pages.chapter import Chapter
from wiregen.site.pages.declarations import wire_text
from wiregen.site.pages.site import build_site

__all__ = ["Accepted", "Failure", "Tally", "accepted", "check_batch", "schema_of", "unformatted"]

BACKENDS: Final = ("native", "protobuf", "msgpack", "columns")
OTHERS: Final = ("protobuf", "msgpack")
MYPY_SETTINGS: Final = "[mypy]\n"
"""Empty: users who run `mypy --strict` on a project with these packages have no settings for their imports."""
_MOST_REPAIRS: Final = 30
_NUMBERS = count(1)


@dataclass(frozen=True, slots=True)
class Failure:
    """A schema that `check` accepts and a later stage does not."""

    seed: int
    stage: str
    what: str
    text: str

    def __str__(self) -> str:
        return f"seed {self.seed} at {self.stage}: {self.what}\n{self.text}"


@dataclass(slots=True)
class Tally:
    """The checks of a batch, and its failures."""

    schemas: int = 0
    values: int = 0
    vectors: int = 0
    typed: int = 0
    """Schemas whose packages mypy read."""
    shown: int = 0
    """Schemas of which vectors and pages were made."""
    failures: list[Failure] = field(default_factory=list)
    seconds: dict[str, float] = field(default_factory=dict)

    @contextmanager
    def timed(self, stage: str) -> Iterator[None]:
        before = time.process_time()
        try:
            yield
        finally:
            self.seconds[stage] = self.seconds.get(stage, 0.0) + time.process_time() - before


@dataclass(frozen=True, slots=True)
class Accepted:
    """A schema that `check` accepts, and its model."""

    schema: Schema
    protocol: Protocol


def schema_of(seed: int, folder: Path) -> Schema:
    """Return the schema of a seed that `check` accepts: refused lines are removed one by one."""
    return accepted(seed, folder).schema


def accepted(seed: int, folder: Path) -> Accepted:
    """Return the schema of a seed, and its model."""
    for attempt in range(20):
        schema = draw(f"{seed}.{attempt}", f"s{seed}")
        for _ in range(_MOST_REPAIRS):
            report, sources = Report(), Sources()
            path = folder / f"s{seed}.wire"
            path.write_text(schema.text, encoding="utf-8")
            subject = load_protocol(path, sources, report, (folder,))
            if subject is not None:
                if subject.protocol.frames:
                    return Accepted(schema, subject.protocol)
                break
            places = (
                locate(each.span, sources)
                for each in report.diagnostics
                if each.span and each.severity == "error"
            )
            smaller = schema.without({place.line for place in places if place is not None})
            if smaller == schema:
                break
            schema = smaller
    raise AssertionError(f"seed {seed}: no schema that `check` accepts")


def check_batch(
    schemas: dict[int, Schema],
    folder: Path,
    *,
    n_values: int,
    n_with_vectors: int,
    with_types: bool = True,
    mypy_cache: str = "",
) -> Tally:
    """Check schemas in every stage and product; return the counts of checks and the failures.

    `n_values`: the number of values of each role and layout variant of a schema.
    `n_with_vectors`: the number of schemas for which vectors and pages are made, which take longest.
    `mypy_cache`: the folder of mypy's cache of libraries; empty: one of this batch alone.
    """
    tally = Tally(schemas=len(schemas))
    batch = _Batch(schemas, folder, tally)
    with tally.timed("build"):
        batch.build()
    if with_types:
        batch.check_types(mypy_cache or str(folder.parent / "mypy"))
    with tally.timed("packages"):
        batch.check_packages(n_values)
    with tally.timed("vectors"):
        batch.check_vectors(n_with_vectors)
    return tally


class _Batch:
    def __init__(self, schemas: dict[int, Schema], folder: Path, tally: Tally) -> None:
        self._schemas = dict(schemas)
        self._folder = folder
        self._tally = tally
        self._package = f"sampled_{next(_NUMBERS)}"
        (folder / "idl").mkdir(parents=True, exist_ok=True)
        for seed, schema in schemas.items():
            (folder / "idl" / f"s{seed}.wire").write_text(schema.text, encoding="utf-8")

    def _fail(self, seed: int, stage: str, what: str) -> None:
        schema = self._schemas.pop(seed, None) if stage == "build" else self._schemas.get(seed)
        if schema is not None:
            self._tally.failures.append(Failure(seed, stage, what, schema.text))

    def _config(self) -> Config:
        idl = (self._folder / "idl",)
        return Config(root=self._folder, file=None, sources=idl, output=self._folder / "generated", package=self._package, backends=BACKENDS, protocols=None)  # fmt: skip

    # ---- build

    def build(self) -> None:
        """Build all at once; where that fails, each by itself, and then those that build."""
        if self._built(()) is None:
            for seed in list(self._schemas):
                what = self._why_not_built(seed)
                if what:
                    self._fail(seed, "build", what)
                    (self._folder / "idl" / f"s{seed}.wire").unlink()
            assert self._built(()) is not None
        for path in unformatted(self._folder / "generated" / "python" / self._package):
            if path.parent.name[1:].isdigit():
                self._fail(int(path.parent.name[1:]), "build", f"{path.name} is not formatted")

    def _built(self, names: tuple[str, ...]) -> Any:
        report, sources = Report(), Sources()
        try:
            outputs = build(self._config(), names, sources, report)
        except Exception:  # noqa: BLE001 - whatever a stage raises is a finding
            return None
        if report.has_errors:
            return None
        write(outputs, self._folder / "generated")
        return outputs

    def _why_not_built(self, seed: int) -> str:
        report, sources = Report(), Sources()
        try:
            build(self._config(), (f"s{seed}",), sources, report)
        except Exception:  # noqa: BLE001 - whatever a stage raises is a finding
            return traceback.format_exc()
        return render(report, sources, colour=False) if report.has_errors else ""

    def check_types(self, cache: str) -> None:
        """Run `mypy --strict` once over all packages."""
        place = self._folder / "generated" / "python"
        before = time.monotonic()
        (place / "mypy.ini").write_text(MYPY_SETTINGS)
        command = [
            sys.executable,
            "-m",
            "mypy",
            "--config-file",
            "mypy.ini",
            "--strict",
            "--no-error-summary",
            "--cache-dir",
            cache,
            "-p",
            self._package,
        ]
        done = subprocess.run(command, cwd=place, capture_output=True, text=True, check=False)
        self._tally.seconds["mypy"] = time.monotonic() - before
        self._tally.typed += len(self._schemas)
        errors: dict[int, list[str]] = {}
        for line in done.stdout.splitlines():
            parts = line.replace("\\", "/").split("/")
            if len(parts) > 2 and parts[1][1:].isdigit():
                errors.setdefault(int(parts[1][1:]), []).append("/".join(parts[2:]))
        for seed, lines in errors.items():
            self._fail(seed, "mypy", "\n".join(lines[:5]))
        same("mypy", (done.returncode == 0) or bool(errors), True, done.stdout[-2000:], done.stderr[-2000:])

    # ---- each by itself

    def check_packages(self, n_values: int) -> None:
        place = str(self._folder / "generated" / "python")
        sys.path.insert(0, place)
        importlib.invalidate_caches()
        try:
            for seed in list(self._schemas):
                try:
                    self._check_package(seed, n_values)
                except Exception:  # noqa: BLE001 - whatever a stage raises is a finding
                    self._fail(seed, "codecs", _last_frames())
        finally:
            sys.path.remove(place)
            for known in [each for each in sys.modules if each.split(".")[0] == self._package]:
                del sys.modules[known]

    def _check_package(self, seed: int, n_values: int) -> None:
        root = f"{self._package}.s{seed}"
        module = importlib.import_module(root)
        plan = built_schema.schema_of(root)
        others = {name: importlib.import_module(f"{root}.{name}") for name in OTHERS}
        self._tally.values += check_package(module, plan, others, str(seed), n_values)

    def check_vectors(self, count: int) -> None:
        """Make the vectors of the first `count` schemas, hold both codecs to them, and print the site of these."""
        chapters = []
        for seed in list(self._schemas)[:count]:
            try:
                chapters.append(self._chapter(seed))
                self._tally.shown += 1
            except Exception:  # noqa: BLE001 - whatever a stage raises is a finding
                self._fail(seed, "vectors", _last_frames())
        try:
            build_site(chapters, has_guide=False)
        except Exception:  # noqa: BLE001 - whatever a stage raises is a finding
            for chapter in chapters:
                try:
                    build_site([chapter], has_guide=False)
                except Exception:  # noqa: BLE001 - whatever a stage raises is a finding
                    self._fail(int(chapter.protocol.name[1:]), "docs", _last_frames())

    def _chapter(self, seed: int) -> Chapter:
        from wiregen.conformance.vectors.format import write_vectors

        report, sources = Report(), Sources()
        subject = load_protocol(self._folder / "idl" / f"s{seed}.wire", sources, report, ())
        assert subject is not None
        package = make(subject, OTHERS, report)
        assert package is not None
        protocol = subject.protocol
        traces = make_traces(protocol, subject.origins, sources) if protocol.sessions else None
        limits = tuple(limit.name for limit in protocol.limits if limit.name in DEFAULT_LIMITS)
        made = build_vectors(package.schema, limits=limits, carry=carrier(package), traces=traces)
        same("vectors hold", [f"{id_}: {finding}" for id_, finding in made.unheld()], [])
        implementation = implementation_of(package)
        for vector in made.file.vectors:
            verdict = judge(vector, implementation, is_thorough=False)
            same("compiled code holds to its vectors", verdict.outcome != "failed", True, verdict)
        self._tally.vectors += len(made.file.vectors)

        def text_of(path: str) -> str:
            span = subject.origins.get(path)
            return "" if span is None else wire_text(sources[span.source].text, span.start, span.end)

        return Chapter(
            protocol=protocol,
            text_of=text_of,
            vectors=made.file,
            vectors_text=write_vectors(made.file).encode(),
            has_columns=True,
        )


def unformatted(folder: Path) -> Iterator[Path]:
    """Yield the Python files of a folder that ruff would lay out in another way; one process for all."""
    command = (*formatter(), "--check", "--output-format", "json", str(folder))
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    same("ruff reads all files", done.returncode in (0, 1), True, done.stderr)
    yield from (Path(each["filename"]) for each in json.loads(done.stdout))


def _last_frames() -> str:
    lines = traceback.format_exc().splitlines()
    return "\n".join(lines[-14:])[:3000]


def batches(seeds: Sequence[int], size: int = 50) -> Iterator[Sequence[int]]:
    yield from (seeds[start : start + size] for start in range(0, len(seeds), size))
