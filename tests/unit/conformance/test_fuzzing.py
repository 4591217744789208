"""Fuzz: mistakes are found, made small, found again with the same seed, and kept as vectors."""

from __future__ import annotations

import json
import shutil
import sys
from collections.abc import Sequence
from pathlib import Path
from random import Random
from typing import Any

import pytest
from hypothesis import settings
from tests.conformance.converted import PROTOCOLS, converted
from tests.unit.conformance.echo.codec import BROKEN, CODELESS, right
from tests.unit.conformance.test_vectors_run import CODEC, NODE, needs_node
from tests.unit.conformance.test_vectors_verifying import VECTORS, WIRE
from tests.unit.implementations import generated_implementation, plan_of, reference_implementation
from tests.unit.tools.test_cli_decode import LUMBERJACK, check_refused, run

from wiregen.conformance.fuzz import FuzzFinding, FuzzSearch, SearchBounds, Trial, save, seeds_of, vector_of
from wiregen.conformance.fuzz.edits import spots
from wiregen.conformance.fuzz.mutations import Mutator
from wiregen.conformance.fuzz.shrinking import shrunk
from wiregen.conformance.judge import (
    CodecSetting,
    DecodedFrames,
    Implementation,
    ReferenceImplementation,
    judge,
)
from wiregen.conformance.judge.python_codec import PythonCodec
from wiregen.conformance.judge.vector_files import read_file
from wiregen.conformance.vectors.format import Invalid, Valid, read_vectors
from wiregen.tools.cli.protocols import package_of

FILE = read_vectors(VECTORS.read_bytes())
WINDOW = bytes.fromhex("32570000000a")
WRITER = CodecSetting(role="writer")
N_INPUTS = "1500" if settings.get_current_profile_name() == "soak" else "300"
"""Inputs for a program; each of its faults is found in fewer than 150."""


@pytest.fixture(scope="module")
def echo() -> ReferenceImplementation:
    return ReferenceImplementation(package_of(str(WIRE), ()).schema)


def findings_of(
    reference: ReferenceImplementation, testee: Implementation, count: int, seed: int = 1
) -> list[FuzzFinding]:
    plain = (vector for vector in FILE.vectors if vector.id in ("ping", "pong", "two"))
    search = FuzzSearch(reference, testee, seeds_of(plain), seed)
    return list(search.findings(SearchBounds(count=count)))


# ---- what is found


@pytest.mark.parametrize(
    ("mistake", "key"),
    [
        ("wrong byte order", ("frames", "frames[].fields.number", "Pong")),
        ("ignored limit", ("decode", "limit_exceeded", "truncated", "Frame.body")),
        ("lenient text", ("accepts", "invalid_text", "Ping.text", "Ping")),
        ("off by one", ("refuses", "Ping", "trailing_bytes")),
    ],
)
def test_a_mistake_is_found_from_three_good_vectors(
    echo: ReferenceImplementation, mistake: str, key: tuple[str, ...]
) -> None:
    keys = {finding.differing.key for finding in findings_of(echo, PythonCodec(BROKEN[mistake]), 600)}
    assert key in keys


def test_a_finding_is_small_and_each_is_there_once(echo: ReferenceImplementation) -> None:
    findings = findings_of(echo, PythonCodec(BROKEN["lenient text"]), 600)
    keys = [finding.differing.key for finding in findings]
    assert len(keys) == len(set(keys))
    text = next(finding for finding in findings if finding.differing.key[1] == "invalid_text")
    assert len(text.trial.data) <= 5  # two of length, a type, a length, a byte that is no text
    assert text.trial.cuts == ()


def test_the_same_seed_finds_the_same(echo: ReferenceImplementation) -> None:
    first, again, other = (
        [finding.trial for finding in findings_of(echo, PythonCodec(BROKEN["off by one"]), 200, seed)]
        for seed in (7, 7, 8)
    )
    assert first == again
    assert first != other


class Broken:
    """An implementation in which an internal failure is planted."""

    name = "broken"
    can = frozenset({"decode"})
    tells: frozenset[str] = frozenset()
    serializations = frozenset({"native"})

    def decode(self, setting: CodecSetting, chunks: Sequence[bytes]) -> DecodedFrames:
        raise IndexError("of 77 items")


def test_a_crash_in_the_same_process_is_a_finding(echo: ReferenceImplementation) -> None:
    (finding,) = findings_of(echo, Broken(), 100)  # type: ignore[arg-type]
    assert finding.differing.key == ("trouble", "crashed", "IndexError: of 0 items")
    assert finding.trial.data == b""


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_generated_code_and_the_reference_codec_agree(protocol: str) -> None:
    seeds = seeds_of(converted(protocol).vectors)
    search = FuzzSearch(reference_implementation(protocol), generated_implementation(protocol), seeds, 2)
    assert [str(each.differing) for each in search.findings(SearchBounds(count=len(seeds) + 300))] == []
    assert search.n_trials == len(seeds) + 300


# ---- mutations


def test_mutations_know_the_grammar() -> None:
    """Of mutated events many still have whole frames, and of the others not all fail alike."""
    implementation = reference_implementation("lumberjack")
    event = Trial(
        setting=WRITER, data=bytes.fromhex("3144000000010000000200000001610000000162000000016300000000")
    )
    mutator = Mutator(plan_of("lumberjack"), Random(3))
    roots = implementation.nodes(WRITER, event.data)
    answers = [implementation.decode(WRITER, [mutator.mutated(event, roots, event).data]) for _ in range(400)]
    n_pairs = {
        len(each.frames[0]["fields"]["pairs"])
        for each in answers
        if each.frames[:1] and "pairs" in each.frames[0]["fields"]
    }
    assert {0, 1, 2, 3} <= n_pairs
    codes = {each.fault.code for each in answers if each.fault is not None}
    assert {"unknown_code", "invalid_enum", "limit_exceeded"} <= codes


def test_what_is_compressed_is_mutated_inside() -> None:
    implementation = reference_implementation("lumberjack")
    (envelope,) = (implementation.encode(WRITER, [line_of(implementation, WINDOW)]),)
    trial = Trial(setting=WRITER, data=envelope.data)
    mutator = Mutator(plan_of("lumberjack"), Random(5))
    roots = implementation.nodes(WRITER, trial.data)
    assert any(spot.shell is not None for spot in spots(trial.data, roots))
    faults = [
        implementation.decode(WRITER, [mutator.mutated(trial, roots, trial).data]).fault for _ in range(400)
    ]
    inside = {fault.code for fault in faults if fault is not None and fault.inner_at is not None}
    assert {"unknown_code", "partial_inner", "too_deep"} <= inside


def line_of(implementation: ReferenceImplementation, data: bytes) -> dict[str, Any]:
    (line,) = implementation.decode(WRITER, [data]).frames
    return {"message": "Compressed", "header": {"version": "V2"}, "fields": {"frames": [line]}}


def test_shrinking_stops_at_its_bound() -> None:
    n_tries = 0

    def is_same(trial: Trial) -> bool:
        nonlocal n_tries
        n_tries += 1
        return b"\xff" in trial.data

    trial = Trial(setting=WRITER, data=bytes(range(256)) * 4, cuts=(3, 700))
    assert shrunk(trial, is_same, lambda trial: (), 10_000).data == b"\xff"
    n_tries = 0
    assert len(shrunk(trial, is_same, lambda trial: (), 5).data) > 1
    assert n_tries == 5


# ---- what is kept


def test_findings_are_kept_as_vectors_that_fail_here_and_hold_there(
    echo: ReferenceImplementation, tmp_path: Path
) -> None:
    testee = PythonCodec(BROKEN["ignored limit"])
    vectors = [vector_of(finding, echo) for finding in findings_of(echo, testee, 600)]
    path = tmp_path / "found.json"
    assert save(path, "echo", vectors) == len(vectors) > 0
    assert save(path, "echo", vectors) == 0
    kept = read_file(path.read_bytes(), echo.schema).vectors
    assert [vector.id for vector in kept] == [vector.id for vector in vectors]
    for vector in kept:
        assert isinstance(vector, Valid | Invalid) and vector.source == "fuzz"
        assert judge(vector, echo).outcome == "passed"
        assert judge(vector, PythonCodec(right)).outcome == "passed"
        assert judge(vector, testee).outcome == "failed"


# ---- the command


def test_the_command_finds_saves_and_exits_with_1(tmp_path: Path) -> None:
    found = tmp_path / "found.json"
    options = ("--count", "150", "--seed", "3", "--save", found)
    result = run("fuzz", WIRE, VECTORS, *options, "--", sys.executable, CODEC, "lenient text")
    assert result.exit_code == 1
    assert "finding: expected 0 frames, then invalid_text at " in result.stdout
    assert "from client" in result.stdout
    assert result.stdout.splitlines()[-1].startswith("Codec: 150 inputs, ")
    assert run("vectors", "verify", WIRE, found).exit_code == 0
    judged = run("vectors", "run", WIRE, found, "--", sys.executable, CODEC, "lenient text")
    assert (judged.exit_code, " 0 passed, " in judged.stdout) == (1, True)


def test_without_a_command_generated_code_is_searched() -> None:
    result = run("fuzz", WIRE, VECTORS, "--count", "100")
    assert (result.exit_code, result.stdout) == (0, "generated code: 100 inputs, 0 findings\n")


def test_a_program_that_hangs_is_one_finding(tmp_path: Path) -> None:
    options = ("--count", "3", "--timeout", "0.1")
    result = run("fuzz", WIRE, VECTORS, *options, "--", sys.executable, CODEC, "hangs", "1")
    assert result.exit_code == 1
    assert "expected an answer, found hung: no answer within 0.1 s" in result.stdout


def test_what_cannot_be_searched_is_refused(tmp_path: Path) -> None:
    empty = tmp_path / "empty.json"
    empty.write_text(json.dumps({"schema": 1, "protocol": "echo", "vectors": []}))
    check_refused(run("fuzz", WIRE, empty), "there are no vectors in")
    path = tmp_path / "found.json"
    path.write_text("[]")
    command = (sys.executable, CODEC, "off by one")
    check_refused(run("fuzz", WIRE, VECTORS, "--count", "20", "--save", path, "--", *command), str(path))


@needs_node
@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("fatal: true", "fatal: false"),
        ("bytesWritten < body.length", "bytesWritten > body.length"),
        ("this.depth > this.budget.limits.depth", "false"),
    ],
)
def test_a_mistake_in_node_is_found(tmp_path: Path, before: str, after: str) -> None:
    shutil.copytree(NODE, tmp_path / "broken")
    source = (NODE / "lumberjack.mjs").read_text()
    assert source.count(before) == 1
    (tmp_path / "broken" / "lumberjack.mjs").write_text(source.replace(before, after))
    vectors = tmp_path / "seeds.json"
    save(vectors, "lumberjack", seeds_for_node())
    command = ("node", tmp_path / "broken" / "testee.mjs")
    result = run("fuzz", LUMBERJACK, vectors, "--count", N_INPUTS, "--", *command)
    assert result.exit_code == 1, result.stdout


def seeds_for_node() -> list[Valid | Invalid]:
    """Return valid vectors only: the faults must be found."""
    names = ("window", "event-as-pairs", "event-that-is-no-text", "event-as-json")
    good = [each for each in converted("lumberjack").vectors if isinstance(each, Valid) and each.id in names]
    implementation = reference_implementation("lumberjack")
    lines = [line for vector in good for line in vector.frames]
    envelope = {"message": "Compressed", "header": {"version": "V2"}, "fields": {"frames": lines}}
    data = implementation.encode(WRITER, [envelope]).data
    return [*good, Valid(id="envelope", from_role="writer", bytes=data.hex(), frames=(envelope,))]


def test_a_codec_that_tells_no_codes_differs_only_in_what_it_accepts(echo: ReferenceImplementation) -> None:
    assert findings_of(echo, PythonCodec(CODELESS["one error"]), 600) == []
    keys = {
        finding.differing.key[0]
        for finding in findings_of(echo, PythonCodec(CODELESS["one error, lenient text"]), 600)
    }
    assert keys == {"accepts"}
