"""Kaitai Struct as a second decoder: its Python reads the same values from vectors and captures as the reference codec."""

from __future__ import annotations

import gzip
import json
import os
import subprocess
import sys
from collections.abc import Sequence
from functools import cache
from pathlib import Path

import pytest
from tests.interop.dissected_vectors import Case, Compared, cases_of, turns_of
from tests.interop.kaitai_trees import compare_side, load_parser
from tests.npm import npm_modules

from wiregen.conformance.vectors.building import build_vectors
from wiregen.conformance.vectors.format import AnyVector, read_vectors
from wiregen.generate.backends import Subject
from wiregen.generate.backends.kaitai import KaitaiBackend
from wiregen.generate.emitter import render
from wiregen.generate.frontend import load_protocol
from wiregen.generate.views.kaitai.module import KaitaiView
from wiregen.language.diagnostics import Report
from wiregen.language.source import Sources
from wiregen.schema.lowering import lower

pytestmark = pytest.mark.slow

ROOT = Path(__file__).resolve().parents[2]
PROTOCOLS = sorted((ROOT / "idl").glob("*.wire"))
CONSTRUCTS = sorted((ROOT / "tests" / "cases" / "constructs").glob("*.wire"))
CAPTURES = ROOT / "examples" / "captures"
IS_SOAK = os.environ.get("HYPOTHESIS_PROFILE") == "soak"
STEP = 1 if IS_SOAK else 20
"""Of so many vectors one is compared."""
FEW = CONSTRUCTS if IS_SOAK else CONSTRUCTS[3::45]
MOST = 1 << 20 if IS_SOAK else 1 << 12
COMPILER = ("kaitai-struct-compiler@0.11.0", "js-yaml@4.1.0")


@cache
def subject_of(path: Path) -> Subject:
    report = Report()
    subject = load_protocol(path, Sources(), report, (path.parent,))
    assert subject is not None, report
    return subject


class Compiler:
    """Kaitai's compiler in a folder of its own; `folders`: the folders of its Python by protocol."""

    def __init__(self, folder: Path) -> None:
        npm_modules(folder, *COMPILER)
        self._script = folder / "compile.js"
        self._script.write_bytes((Path(__file__).parent / "compile_kaitai.js").read_bytes())
        self._folder = folder
        self.folders: dict[str, Path] = {}

    def compile(self, views: dict[str, tuple[KaitaiView, ...]], language: str = "python") -> None:
        """Compile the files of protocols, each to a folder of its own."""
        jobs = []
        for name, files in views.items():
            folder = self._folder / language / name
            folder.mkdir(parents=True, exist_ok=True)
            for view in files:
                path = folder / f"{view.id}.ksy"
                path.write_text(render("kaitai/protocol.ksy.jinja", view), encoding="utf-8")
                jobs.append({"ksy": str(path), "folder": str(folder), "language": language})
            if language == "python":
                self.folders[name] = folder
        listed = self._folder / "jobs.json"
        listed.write_text(json.dumps(jobs), encoding="utf-8")
        done = subprocess.run(
            ["node", str(self._script), str(listed)], capture_output=True, text=True, check=False, timeout=600
        )
        assert done.returncode == 0, done.stderr[:2000]


@cache
def views_of(path: Path) -> tuple[KaitaiView, ...]:
    pages = KaitaiBackend().pages(subject_of(path), Report())
    return tuple(page.view for page in pages if isinstance(page.view, KaitaiView))


@pytest.fixture(scope="module")
def compiler(tmp_path_factory: pytest.TempPathFactory) -> Compiler:
    made = Compiler(tmp_path_factory.mktemp("kaitai"))
    made.compile({path.stem: views_of(path) for path in (*PROTOCOLS, *FEW)})
    return made


def compare(compiler: Compiler, path: Path, cases: Sequence[Case]) -> Compared:
    compared, schema = Compared(), lower(subject_of(path).protocol)
    for view in views_of(path):
        parser = load_parser(compiler.folders[path.stem], view)
        for case in cases:
            compare_side(schema, view, parser, case, compared)
    print(compared)
    assert not compared.wrong, "\n".join(compared.wrong[:5])
    return compared


def cases(path: Path, vectors: Sequence[AnyVector]) -> list[Case]:
    schema = lower(subject_of(path).protocol)
    return list(cases_of(schema, vectors, None, MOST, Compared().left_out))


@pytest.mark.parametrize("path", PROTOCOLS, ids=lambda path: path.stem)
def test_vectors_are_read_as_we_read_them(path: Path, compiler: Compiler) -> None:
    vectors = read_vectors((ROOT / "generated" / "vectors" / f"{path.stem}.json").read_bytes()).vectors
    assert compare(compiler, path, cases(path, vectors[::STEP])).counts["values"]


@pytest.mark.parametrize("path", FEW, ids=lambda path: path.stem)
def test_constructs_are_read_as_we_read_them(path: Path, compiler: Compiler) -> None:
    vectors = build_vectors(lower(subject_of(path).protocol)).file.vectors
    compare(compiler, path, cases(path, vectors))


@pytest.mark.parametrize(
    ("capture", "name", "port"),
    [
        ("golumber-async-pipelined.pcap", "lumberjack", 41591),
        ("npm-w10-plain.pcap", "lumberjack", 44701),
        ("pylogbeat-unicode.pcap", "lumberjack", 39273),
        ("pravega-write-read.pcap.gz", "pravega", 42505),
    ],
)
def test_captures_are_read_as_we_read_them(
    capture: str, name: str, port: int, compiler: Compiler, tmp_path: Path
) -> None:
    data = (CAPTURES / capture).read_bytes()
    stored, path = tmp_path / capture.removesuffix(".gz"), ROOT / "idl" / f"{name}.wire"
    stored.write_bytes(gzip.decompress(data) if capture.endswith(".gz") else data)
    turns = turns_of(lower(subject_of(path).protocol), stored, port)
    sent = [Case(f"{capture}, port {client}", None, tuple(each)) for client, each in turns.items()]
    compared = compare(compiler, path, sent)
    assert compared.counts["values"]
    assert not compared.left_out


@pytest.mark.parametrize(
    "language", ["cpp_stl", "csharp", "go", "java", "javascript", "rust"] if IS_SOAK else ["java"]
)
def test_files_compile_to_other_languages(language: str, compiler: Compiler) -> None:
    compiler.compile({path.stem: views_of(path) for path in (*PROTOCOLS, *FEW)}, language)


def test_the_program_of_the_guide_runs(compiler: Compiler) -> None:
    text = (ROOT / "docs" / "guide" / "kaitai.md").read_text(encoding="utf-8")
    program = text.partition("```python\n")[2].partition("```")[0]
    done = subprocess.run(
        [sys.executable, "-c", program],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(compiler.folders["lumberjack"])},
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)
