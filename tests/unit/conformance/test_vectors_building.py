"""Vectors are made alike each time, and show what there is."""

from __future__ import annotations

import subprocess
import sys
from operator import attrgetter
from pathlib import Path

import pytest

from wiregen.conformance.samples import Choices, SampleBasis, grow
from wiregen.conformance.vectors.building import build_vectors
from wiregen.conformance.vectors.fault_kinds import CLASSES
from wiregen.conformance.vectors.format import (
    Invalid,
    Unwritable,
    Valid,
    VectorFile,
    VectorsError,
    compact,
    compacted,
    expanded,
    octets,
    read_vectors,
    write_vectors,
)
from wiregen.generate.frontend import load_protocol
from wiregen.language.diagnostics import Report
from wiregen.language.source import Sources
from wiregen.runtime.schema.protocol import Schema
from wiregen.schema.copies import replace
from wiregen.schema.lowering import lower

ROOT = Path(__file__).resolve().parents[3]
CONSTRUCTS = ROOT / "tests" / "cases" / "constructs"
FULL = (
    "bits codings enums floats integers lists regions recursion unions varints padding frame_bits text_in_pairs"
).split()


def plan_of(path: Path) -> Schema:
    report = Report()
    subject = load_protocol(path, Sources(), report, (path.parent,))
    assert subject is not None
    return lower(subject.protocol)


@pytest.mark.parametrize("name", ["pravega_proposal", "reactive_streams"])
def test_two_runs_give_the_same(name: str) -> None:
    """`vectors build --check` compares those of all protocols with a run of another process."""
    plan = plan_of(ROOT / "idl" / f"{name}.wire")
    once, again = (write_vectors(build_vectors(plan).file) for _ in range(2))
    assert once == again


PEAK = """
import resource, sys
from pathlib import Path
from wiregen.conformance.vectors.building import build_vectors
from wiregen.generate.frontend import load_protocol
from wiregen.language.diagnostics import Report
from wiregen.language.source import Sources
from wiregen.schema.lowering import lower
path = Path(sys.argv[1])
plan = lower(load_protocol(path, Sources(), Report(), (path.parent,)).protocol)
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
build_vectors(plan)
print((resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) // 1024)
"""


def test_the_memory_is_that_of_few_large_frames_not_of_all(tmp_path: Path) -> None:
    """Messages are shown in frames of 16 MiB, and of a byte more: together these are 768 MiB, and their values as much."""
    messages = "\n".join(f"message M{n} {n} {{ data : bytes[] }}" for n in range(24))
    path = tmp_path / "large.wire"
    path.write_text(
        'protocol large { source "no document"  endian big  roles a, b }\n'
        "frame Frame { length : u32 := size(body)  type : u8 := code(body)  body : match type in length }\n"
        + messages
    )
    done = subprocess.run([sys.executable, "-c", PEAK, path], capture_output=True, text=True, check=True)
    assert int(done.stdout) < 700


def test_a_field_that_only_large_frames_have_is_shown(tmp_path: Path) -> None:
    path = tmp_path / "tailed.wire"
    path.write_text(
        'protocol tailed { source "no document"  endian big  roles a, b }\nlimits { frame = 3 MiB }\n'
        "frame Frame { length : u32 := size(body)  type : u8 := code(body)  body : match type in length }\n"
        "message M 1 { data : bytes[u32]  mark : u8 == 1 if count(data) > 2000000 }\n"
    )
    built = build_vectors(plan_of(path), limits=("frame",))
    assert built.coverage.measures[0].what == "fields" and not built.coverage.measures[0].missing


def test_everything_of_a_protocol_is_shown() -> None:
    plan = plan_of(ROOT / "idl" / "lumberjack.wire")
    built = build_vectors(plan, limits=("frame", "inflated", "count", "messages", "depth"))
    assert built.coverage.is_full, built.coverage


@pytest.mark.parametrize("name", FULL)
def test_every_field_of_a_construct_is_shown(name: str) -> None:
    built = build_vectors(plan_of(CONSTRUCTS / f"{name}.wire"))
    assert [each.missing for each in built.coverage.measures if each.what == "fields"] == [()]
    assert {"valid", "invalid"} <= set(built.kinds)


@pytest.mark.parametrize(
    "path", sorted((ROOT / "generated" / "vectors").glob("[a-u]*.json")), ids=attrgetter("stem")
)
def test_no_vector_stands_twice(path: Path) -> None:
    file = read_vectors(path.read_bytes())
    told = [
        (
            vector.kind,
            vector.from_role,
            vector.variant,
            vector.before,
            vector.bytes,
            tuple(vector.limits.items()),
            vector.strict,
        )
        for vector in file.vectors
        if isinstance(vector, Valid | Invalid)
    ]
    assert len(told) == len(set(told))
    values = [
        write_vectors(replace(file, vectors=(replace(each, id="", covers=()),)))
        for each in unwritable_of(file)
    ]
    assert len(values) == len(set(values))


def unwritable_of(file: VectorFile) -> list[Unwritable]:
    return [vector for vector in file.vectors if isinstance(vector, Unwritable)]


@pytest.mark.parametrize(
    "path", sorted((ROOT / "generated" / "vectors").glob("[a-u]*.json")), ids=attrgetter("stem")
)
def test_a_file_that_is_read_and_written_is_the_same(path: Path) -> None:
    text = path.read_text()
    assert write_vectors(read_vectors(text)) == text
    assert len(text) < 3 << 19


def test_what_comes_in_chunks_is_cut_in_other_places() -> None:
    file = build_vectors(plan_of(CONSTRUCTS / "chunks.wire")).file
    shown = {cover.rpartition(": ")[2]: vector for vector in file.vectors for cover in vector.covers}
    assert isinstance(shown["two chunks"], Valid)
    assert isinstance(shown["an empty chunk last"], Valid)


def test_a_class_of_faults_has_the_codes_that_it_is_reported_with() -> None:
    file = read_vectors((ROOT / "generated" / "vectors" / "geode.json").read_bytes())
    for vector in file.vectors:
        if (
            isinstance(vector, Invalid)
            and not vector.strict
            and any(": " in each for each in vector.covers[:1])
        ):
            said = vector.covers[0].partition(": ")[2]
            kind = next((kind for kind in CLASSES if said.startswith(kind)), None)
            assert kind is None or vector.error.code in CLASSES[kind], vector.id


def test_a_wave_changes_what_nothing_depends_on() -> None:
    basis = SampleBasis(schema=plan_of(ROOT / "idl" / "lumberjack.wire"))
    plain, other = (grow(basis, Choices(wave=wave), role="writer") for wave in (0, 1))
    assert plain.value.name == other.value.name
    assert plain.value != other.value


@pytest.mark.parametrize(
    "data", [b"", b"abc", b"a" * 39, b"a" * 500, b"x" + b"ab" * 300 + b"y", bytes(70000) + b"\1"]
)
def test_bytes_come_back_from_a_file(data: bytes) -> None:
    pieces = compact(data)
    assert octets(pieces) == data
    assert len(str(pieces)) < 300


@pytest.mark.parametrize(
    "value", ["a" * 100 + "b", ["x", *([{"k": "v" * 90}] * 40), "y"], {"a": [1] * 9}, "short", [[], [[]]]]
)
def test_repetitions_come_back(value: object) -> None:
    assert expanded(compacted(value)) == value


@pytest.mark.parametrize(
    "text",
    [
        "",
        "[]",
        "{}",
        '{"schema": 2, "protocol": "p", "vectors": []}',
        '{"schema":1,"protocol":"p","vectors":[{"id":"a","kind":"b"}]}',
    ],
)
def test_what_is_no_file_of_vectors_is_refused(text: str) -> None:
    with pytest.raises(VectorsError):
        read_vectors(text)


CIRCLE = """wire 1
protocol p { source "no document: structs in a circle" endian big roles a, b }
limits { frame = 1 KiB%s }
frame F { type : u8 := code(body)  body : match type }
struct A { x : B[u8] }
struct B { x : C[u8] }
struct C { x : A[u8] }
message M 1 { a : A }
"""


@pytest.mark.parametrize("limit", [pytest.param("", id="default"), pytest.param("  depth = 4", id="4")])
def test_structs_in_a_circle_are_shown_as_deep_as_they_nest(limit: str, tmp_path: Path) -> None:
    path = tmp_path / "p.wire"
    path.write_text(CIRCLE % limit, encoding="utf-8")
    built = build_vectors(plan_of(path), limits=("frame",))
    assert not list(built.unheld())
    assert any("in-itself" in vector.id for vector in built.file.vectors)
