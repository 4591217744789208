"""The lines of large inputs come from compiled code: they are those of the reference codec, byte for byte."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.unit.tools.test_cli_decode import run

from wiregen.conformance.vectors.format import Invalid, Valid, read_vectors
from wiregen.conformance.vectors.repetition import octets
from wiregen.formats.jsonl import loads, place_of
from wiregen.formats.line_maker import LineMaker
from wiregen.formats.plain_lines import PlainLines
from wiregen.formats.plain_records import PlainRecords
from wiregen.runtime.codec.options import Options
from wiregen.runtime.reference.explain import explain
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

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=10,
)
DOCUMENTS = JSON.map(lambda value: json.dumps(value).encode()) | st.text(
    '{}[]",:\\u0dE8-+.1e \n\xe9', max_size=12
).map(str.encode)

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


def texts_of(document: bytes) -> tuple[str | None, str]:
    """Return the lines of a frame with this document: of compiled code, or None, and of the reference codec."""
    plain, compiled = both_settings("lumberjack")
    assert compiled.compiled is not None
    data = b"2J" + (7).to_bytes(4) + len(document).to_bytes(4) + document
    options = Options("writer", context=Context(plain.schema))
    ((_, _, frame),) = compiled.compiled.decoder(options).items(data)
    place = place_of(0, len(data), "writer", None, None)
    tree = explain(plain.schema, data, 0, len(data), options)
    return (
        PlainLines(plain.schema, None, compiled.compiled).text(frame, data, place),
        LineMaker(plain.schema).decoded_text(tree.value, data, place),
    )


@pytest.mark.parametrize(
    "document",
    [
        pytest.param(b'{"a": [1, 2.50, null], "b": {"c": true}}', id="plain"),
        pytest.param(b'{"a": 1, "b": 2, "a": 3}', id="a key twice"),
        pytest.param(b"[18446744073709551616, -9223372036854775809, 1e16, -0.0]", id="large numbers"),
        pytest.param('{"é": "\U0001f600"}'.encode(), id="other characters than ASCII"),
        pytest.param(b'"\\ud83d\\ude00"', id="a character of two escapes"),
        pytest.param(b"[1e400]", id="a float beyond all floats"),
        pytest.param(b"[NaN]", id="NaN"),
        pytest.param(b"9" * 5000, id="too many digits"),
        pytest.param(b"\xff{}", id="not UTF-8"),
        pytest.param(b"\xef\xbb\xbf{}", id="a byte order mark"),
        pytest.param(b"", id="no text"),
        pytest.param(b'{"a": }', id="not JSON"),
        pytest.param(b"[" * 63 + b"]" * 63, id="as deep as allowed"),
        pytest.param(b"[" * 64 + b"]" * 64, id="too deep"),
        pytest.param(b"[" * 5000 + b"]" * 5000, id="much too deep"),
        pytest.param(b"[{}]" * 2, id="two values"),
    ],
)
def test_a_document_is_shown_as_the_reference_codec_shows_it(document: bytes) -> None:
    quick, slow = texts_of(document)
    assert quick == slow


def test_a_document_with_a_lone_surrogate_takes_the_slower_way() -> None:
    quick, slow = texts_of(b'["\\ud800"]')
    assert quick is None
    assert loads(slow)["fields"]["document_json"] == ["\ud800"]


@given(document=DOCUMENTS)
def test_any_document_is_shown_as_the_reference_codec_shows_it(document: bytes) -> None:
    quick, slow = texts_of(document)
    assert quick in (slow, None)


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
