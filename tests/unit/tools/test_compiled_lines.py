"""The lines of large inputs come from compiled code: they are those of the reference codec, byte for byte."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from random import Random

import pytest
from tests.unit.tools.test_cli_decode import run

from wiregen.conformance.vectors.format import Invalid, Valid, read_vectors
from wiregen.conformance.vectors.repetition import octets
from wiregen.formats.plain_records import PlainRecords
from wiregen.runtime.codec.options import Options
from wiregen.runtime.stream.context import Context
from wiregen.schema.copies import replace
from wiregen.schema.lowering import lower
from wiregen.tools.cli import protocols
from wiregen.tools.cli.clock import Clock
from wiregen.tools.cli.decoding_options import DecodingSettings
from wiregen.tools.cli.direction import Direction
from wiregen.tools.cli.protocols import native_of, spoken
from wiregen.tools.cli.sinks import sink

ROOT = Path(__file__).resolve().parents[3]
VECTORS = sorted(
    path
    for path in (ROOT / "generated" / "vectors").glob("*.json")
    if "schema" not in path.name and not path.name.startswith(".")
)
CAPTURES = sorted((ROOT / "examples" / "captures").glob("*.pcap*"))

LARGEST = 4096
"""Bytes of a vector that is decoded here: those of the limits hold nothing else."""


@cache
def both_settings(protocol: str) -> tuple[DecodingSettings, DecodingSettings]:
    subject = spoken(protocol)
    plain = DecodingSettings(schema=lower(subject.protocol))
    return plain, replace(plain, compiled=native_of(subject))


def written(
    settings: DecodingSettings, role: str | None, pieces: list[bytes], capsys: pytest.CaptureFixture[str]
) -> str:
    """Return what `decode` prints of the bytes of a direction that arrive in pieces; None is a gap."""
    context = Context(settings.schema, limits=dict(settings.limits))
    direction = Direction(settings, role, context)
    lines = sink("jsonl", settings, Clock("epoch"))
    for piece in pieces:
        for decoded in direction.feed(piece) if piece else direction.gap(7):
            lines.write(decoded)
    for decoded in direction.finish():
        lines.write(decoded)
    return capsys.readouterr().out


@pytest.mark.parametrize("path", VECTORS, ids=lambda path: path.stem)
def test_lines_of_vectors(path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Each vector twice, with a gap and other bytes between, in pieces of any size; every other one is strict."""
    chance, n_errors, n_lines = Random(path.stem), 0, 0
    for number, vector in enumerate(read_vectors(path.read_bytes()).vectors):
        if not isinstance(vector, Valid | Invalid):
            continue
        data = octets(vector.bytes)
        if len(data) > LARGEST:
            continue
        cut = chance.randrange(len(data) + 1)
        pieces = [piece for piece in (data[:cut], data[cut:]) if piece] + [b"", b"\xff\xff", data]
        settings = [
            replace(each, variant=vector.variant, is_strict=number % 2 == 0)
            for each in both_settings(path.stem)
        ]
        first, second = (written(each, vector.from_role, pieces, capsys) for each in settings)
        assert first == second, vector.id
        n_errors += first.count('"error"')
        n_lines += first.count("\n")
    assert n_errors > 50 and n_lines > n_errors + 50


@pytest.mark.parametrize(
    ("protocol", "least", "others"),
    [
        ("lumberjack", 5, set()),
        ("pravega", 55, {"ErrorMessage", "Unknown"}),
        ("geode", 0, {"ErrorResponse"}),
    ],
)
def test_most_lines_need_no_reading(protocol: str, least: int, others: set[str]) -> None:
    """The lines of messages with contexts, choices or bytes left over are read to be proven; all agree with the reference codec."""
    plain, compiled = both_settings(protocol)
    assert compiled.compiled is not None
    records = PlainRecords(plain.schema, None, compiled.compiled.classes)
    found = dict[bool, set[str]]({False: set(), True: set()})
    for vector in read_vectors((ROOT / "generated" / "vectors" / f"{protocol}.json").read_bytes()).vectors:
        if isinstance(vector, Valid) and vector.variant is None:
            options = Options(vector.from_role, context=Context(plain.schema))
            for _, _, frame in compiled.compiled.decoder(options).items(octets(vector.bytes)):
                found[records.holds(frame)].add(type(getattr(frame, "message", None)).__name__)
    assert len(found[True]) >= least
    assert found[False] >= others


@pytest.mark.parametrize("path", CAPTURES, ids=lambda path: path.name)
@pytest.mark.parametrize("format_", ["jsonl", "json"])
def test_lines_of_captures(path: Path, format_: str, monkeypatch: pytest.MonkeyPatch) -> None:
    protocol = "pravega" if path.name.startswith("pravega") else "lumberjack"
    plain = run("decode", protocol, path, "--format", format_)
    monkeypatch.setattr(protocols, "_LARGE", 0)
    assert run("decode", protocol, path, "--format", format_).stdout == plain.stdout
    assert len(plain.stdout.splitlines()) > 1


@pytest.mark.parametrize("path", CAPTURES, ids=lambda path: path.name)
@pytest.mark.parametrize("format_", ["text", "jsonl"])
def test_replays_of_captures(path: Path, format_: str, monkeypatch: pytest.MonkeyPatch) -> None:
    protocol = "pravega" if path.name.startswith("pravega") else "lumberjack"
    for options in ((), ("--strict",)):
        monkeypatch.setattr(protocols, "_LARGE", 1 << 40)
        plain = run("replay", protocol, path, "--format", format_, *options)
        monkeypatch.setattr(protocols, "_LARGE", 0)
        assert run("replay", protocol, path, "--format", format_, *options).stdout == plain.stdout
        assert plain.stdout


def test_small_inputs_and_other_output_compile_nothing(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    made: list[object] = []
    monkeypatch.setattr("wiregen.generate.packages.make", lambda *given: made.append(given))
    data = bytes.fromhex("32 41 00000001")
    monkeypatch.setattr(protocols, "_LARGE", 2 * len(data))
    (tmp_path / "small").write_bytes(data)
    (tmp_path / "large").write_bytes(data * 2)
    for options in (("small",), ("large", "--format", "hex"), ("large", "--count"), ("missing",)):
        result = run("decode", "lumberjack", tmp_path / options[0], "--from", "reader", *options[1:])
        assert result.exit_code in (0, 2)
    assert made == []
