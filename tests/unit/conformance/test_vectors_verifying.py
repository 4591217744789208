"""Vectors are judged: the findings of each check, the meaning of equality, and the forbidden requests of a
file.
"""

from __future__ import annotations

import json
import xml.etree.ElementTree as ET
from pathlib import Path
from typing import Any

import pytest
from tests.unit.conformance.echo.codec import BROKEN, CODELESS, Codec, OneError, right
from tests.unit.tools.test_cli_decode import check_refused, run

from wiregen.conformance.judge import Verdict, judge
from wiregen.conformance.judge.checks import places_within
from wiregen.conformance.judge.comparison import difference
from wiregen.conformance.judge.expected_failures import expected_failures, tally
from wiregen.conformance.judge.python_codec import PythonCodec
from wiregen.conformance.judge.reports import as_json, as_junit, as_text
from wiregen.conformance.judge.vector_files import read_file, schema
from wiregen.conformance.vectors.format import VectorFile, VectorsError, read_vectors, write_vectors

ECHO = Path(__file__).parent / "echo"
WIRE, VECTORS = ECHO / "echo.wire", ECHO / "vectors.json"
FILE = read_vectors(VECTORS.read_bytes())


def verdicts_of(codec: Any) -> dict[str, Verdict]:
    return {vector.id: judge(vector, PythonCodec(codec)) for vector in FILE.vectors}


def failed(codec: Any) -> set[str]:
    return {id_ for id_, verdict in verdicts_of(codec).items() if verdict.outcome == "failed"}


def with_one(**changes: Any) -> VectorFile:
    """Return a file of the vector `ping` with something changed."""
    ping = json.loads(VECTORS.read_text())["vectors"][0]
    file = {"schema": 1, "protocol": "echo", "vectors": [{**ping, **changes}]}
    return read_vectors(json.dumps(file))


def check_finding(codec: Any, expected: str, **changes: Any) -> None:
    (vector,) = with_one(**changes).vectors
    assert expected in [str(finding) for finding in judge(vector, PythonCodec(codec)).findings]


# ---- what is found


def test_a_right_codec_passes_and_what_it_has_not_is_skipped() -> None:
    outcomes = {id_: verdict.outcome for id_, verdict in verdicts_of(right).items()}
    assert outcomes == dict.fromkeys(outcomes, "passed") | {"turns": "skipped", "impatient": "skipped"}


@pytest.mark.parametrize(
    ("mistake", "caught"),
    [
        ("wrong byte order", {"pong"}),
        ("ignored limit", {"too-long", "too-long-here"}),
        ("lenient text", {"no-text"}),
        ("off by one", {"ping", "pong", "nothing", "two", "longest", "no-text", "cut-inside", "left-over"}),
    ],
)
def test_a_mistake_is_caught_by_the_vectors_that_it_concerns(mistake: str, caught: set[str]) -> None:
    assert failed(BROKEN[mistake]) == caught


class Impatient(Codec):
    """Takes each chunk for a whole frame."""

    def decode(self, chunks: list[bytes], wire: Any) -> Any:
        for chunk in chunks:
            yield from super().decode([chunk], wire)


class Hasty(Codec):
    """Has a text before all of it is there."""

    def decode(self, chunks: list[bytes], wire: Any) -> Any:
        data = b"".join(chunks)
        yield from super().decode([data.ljust(7, b"?") if len(data) == 5 else data], wire)


def test_frames_that_come_in_pieces_are_tried() -> None:
    codec = Impatient()
    check_finding(codec, "byte by byte: expected 1 frame, found 0, and the rest incomplete")
    check_finding(codec, "split at 1: expected 1 frame, found 0, and the rest incomplete")


def test_a_beginning_has_to_be_waited_for() -> None:
    check_finding(
        Hasty(), "the first 5 bytes alone: expected incomplete, found 1 frame, and nothing incomplete"
    )


def test_what_is_written_is_compared_byte_by_byte() -> None:
    codec = type("", (Codec,), {"encode": lambda self, frames, wire: Codec().encode(frames, wire) + b"!"})()
    check_finding(codec, "encoded: expected the end (7 bytes) at byte 7, found 0x21 (8 bytes)")
    check_finding(
        codec, "encoded: expected 1 frame, found 1, and the rest incomplete", encodes="same_meaning"
    )
    (vector,) = with_one(encodes="no").vectors
    assert judge(vector, PythonCodec(codec)).outcome == "passed"


def test_a_codec_that_breaks_is_no_refusal() -> None:
    class Broken(Codec):
        def encode(self, frames: Any, wire: Any) -> bytes:
            raise KeyError("text")

    check_finding(Broken(), "encoded: expected an answer, found crashed: KeyError: 'text'")


def test_what_a_codec_does_not_tell_is_not_compared() -> None:
    class Silent(Codec):
        tells = ()

        def decode(self, chunks: list[bytes], wire: Any) -> Any:
            try:
                yield from super().decode(chunks, wire)
            except EOFError:
                raise
            except Exception as error:
                error.at = error.recoverable = None  # type: ignore[attr-defined]
                raise

    assert failed(Silent()) == set()


def test_a_codec_that_tells_no_codes_is_asked_only_whether_it_refuses() -> None:
    assert failed(CODELESS["one error"]) == set()
    assert failed(CODELESS["one error, lenient text"]) == {"no-text"}

    class Broken(OneError):
        def decode(self, chunks: list[bytes], wire: Any) -> Any:
            raise KeyError("text")

    check_finding(Broken(), "decoded whole: expected an answer, found crashed: KeyError: 'text'")


def test_a_codec_that_tells_codes_has_one_in_every_error() -> None:
    class Silent(OneError):
        tells = ("code",)

    assert "no-text" in failed(Silent())


def test_spans_are_those_of_the_reference_codec() -> None:
    result = run("vectors", "verify", WIRE, VECTORS)
    assert (result.exit_code, result.stdout) == (0, "echo: 14 vectors, 14 passed, 0 failed\n")


@pytest.mark.parametrize(
    ("changes", "found"),
    [
        pytest.param({"bytes": "00040103616264"}, 'frames[0].fields.text "abc", found "abd"', id="bytes"),
        pytest.param(
            {"spans": [["Ping.text", 2, 7]]}, "Ping.text from 2 to 7, found it from 3 to 7", id="span"
        ),
        pytest.param(
            {"spans": [["Ping.tale", 4, 7]]}, "Ping.tale from 4 to 7, found none", id="no such part"
        ),
        pytest.param({"protobuf": "00"}, "protobuf decoded", id="protobuf"),
        pytest.param({"msgpack": "00"}, "msgpack encoded", id="msgpack"),
    ],
)
def test_a_vector_that_does_not_hold_is_found(tmp_path: Path, changes: dict[str, Any], found: str) -> None:
    path = tmp_path / "wrong.json"
    path.write_text(write_vectors(with_one(**changes)))
    result = run("vectors", "verify", WIRE, path)
    assert result.exit_code == 1
    assert "failed: ping" in result.stdout and found in result.stdout


def test_of_long_vectors_the_same_places_are_taken() -> None:
    assert places_within(5) == [1, 2, 3, 4]
    places = places_within(10_000)
    assert places == sorted(set(places)) and 20 < len(places) < 150
    assert (places[0], places[-1]) == (1, 9_999)
    assert places_within(70_000) == [1, 69_999]


# ---- what is equal

A = {"message": "A", "header": {}, "fields": {"big": "18446744073709551615", "on": True, "raw": "7b7d"}}


@pytest.mark.parametrize(
    "other",
    [
        pytest.param({**A, "offset": 3, "size": 9, "from": "client"}, id="place"),
        pytest.param({"message": "A", "fields": A["fields"]}, id="no header"),
        pytest.param({**A, "fields": {**A["fields"], "big": 2**64 - 1}}, id="number"),  # type: ignore[dict-item]
        pytest.param({**A, "fields": {**A["fields"], "raw_json": {}}}, id="view"),  # type: ignore[dict-item]
    ],
)
def test_these_lines_say_the_same(other: dict[str, Any]) -> None:
    assert difference([A], [other]) is None
    assert difference([other], [A]) is None


@pytest.mark.parametrize(
    ("fields", "path"),
    [
        pytest.param({"big": "1"}, "frames[0].fields.big", id="value"),
        pytest.param({"on": 1}, "frames[0].fields.on", id="true is no 1"),
        pytest.param({"more": 0}, "frames[0].fields.more", id="more"),
        pytest.param({"big": "018446744073709551615"}, "frames[0].fields.big", id="digits"),
    ],
)
def test_these_do_not(fields: dict[str, Any], path: str) -> None:
    other = {**A, "fields": {**A["fields"], **fields}}  # type: ignore[dict-item]
    for pair in ([A], [other]), ([other], [A]):
        found = difference(*pair)
        assert found is not None and found.path == path


def test_the_number_of_frames_is_compared_last() -> None:
    found = difference([A, A], [A])
    assert found is not None and (found.expected, found.found) == ("2 frames", "1 frames")


# ---- files


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        pytest.param({"from": "nobody"}, "vectors.0 (ping): from: no role 'nobody'", id="role"),
        pytest.param({"variant": "v"}, "variant: no variant 'v'", id="variant"),
        pytest.param({"limits": {"frames": 1}}, "limits: no limit 'frames'; there are frame", id="limit"),
        pytest.param({"kind": "good"}, "vectors.0: input tag 'good'", id="kind"),
        pytest.param({"bytes": "0"}, "vectors.0.valid.bytes", id="odd digits"),
        pytest.param({"more": 1}, "vectors.0.valid.more", id="key"),
        pytest.param(
            {"bytes": [{"repeat": "00", "count": 10**12}]}, "repetitions come to more", id="bytes bomb"
        ),
        pytest.param(
            {"frames": [{"message": {"*": [[{"*": [["x", 10**6]]}, 10**6]]}}]}, "more than", id="frames bomb"
        ),
        pytest.param({"frames": [{"message": {"*": [["x", -1]]}}]}, "no repetition", id="no repetition"),
    ],
)
def test_a_wrong_file_is_refused_with_its_place(tmp_path: Path, changes: dict[str, Any], told: str) -> None:
    ping = json.loads(VECTORS.read_text())["vectors"][0]
    path = tmp_path / "wrong.json"
    path.write_text(json.dumps({"schema": 1, "protocol": "echo", "vectors": [{**ping, **changes}]}))
    check_refused(run("vectors", "verify", WIRE, path), str(path), told)


def test_the_published_schema_is_that_of_the_files() -> None:
    text = (ECHO.parents[3] / "docs" / "schemas" / "vectors.schema.json").read_text(encoding="utf-8")
    assert schema() == text
    assert {"schema", "protocol", "vectors"} == set(json.loads(text)["properties"])


def test_a_file_of_another_protocol_is_refused() -> None:
    check_refused(run("vectors", "verify", "lumberjack", VECTORS), "vectors of 'echo', not of 'lumberjack'")
    with pytest.raises(VectorsError, match="not JSON"):
        read_file(b"{")


def test_two_files_may_not_have_one_id(tmp_path: Path) -> None:
    check_refused(run("vectors", "verify", WIRE, VECTORS, VECTORS), "another file has a vector 'ping' too")
    check_refused(run("vectors", "verify", WIRE, tmp_path / "none.json"), "no such file")


def test_without_files_those_that_were_built_are_taken(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "wiregen.toml").write_text("")
    check_refused(run("vectors", "verify", WIRE), "wiregen vectors build echo")
    (tmp_path / "generated" / "vectors").mkdir(parents=True)
    (tmp_path / "generated" / "vectors" / "echo.json").write_bytes(VECTORS.read_bytes())
    assert run("vectors", "verify", WIRE, "--only", "two").stdout == "echo: 1 vectors, 1 passed, 0 failed\n"
    check_refused(run("vectors", "verify", WIRE, "--only", "three"), "no vector `three`")


def test_verbs_are_listed_and_others_refused() -> None:
    assert "verify" in run("vectors", "--help").stdout
    check_refused(run("vectors", "varify"), "no command `vectors varify`")


# ---- reports


def test_reports_name_what_failed_what_was_known_and_what_is_mended() -> None:
    known = expected_failures("no-text # a library's fault\n\n# only a remark\nping\nghost#gone\n")
    assert known == {"no-text": "a library's fault", "ping": "", "ghost": "gone"}
    counted = tally(verdicts_of(BROKEN["lenient text"]).values(), known)
    assert ([each.id for each in counted.known], [each.id for each in counted.mended]) == (
        ["no-text"],
        ["ping"],
    )
    assert (counted.strangers, counted.failed, counted.has_findings) == (("ghost",), (), True)
    assert list(as_text(counted, known, "echo")) == [
        "passed, although expected to fail: ping",
        "expected to fail, but not among the vectors: ghost",
        "skipped 2: it does not trace",
        "echo: 14 vectors, 11 passed, 0 failed, 1 failed as expected, 2 skipped",
    ]
    assert not tally(verdicts_of(BROKEN["lenient text"]).values(), {"no-text": ""}).has_findings


def test_reports_for_programs() -> None:
    counted = tally(verdicts_of(BROKEN["ignored limit"]).values(), {})
    report = json.loads(as_json(counted, {}, "echo"))
    assert [each["id"] for each in report["failed"]] == ["too-long", "too-long-here"]
    assert report["failed"][0]["findings"][0]["check"] == "decoded whole"
    suite = ET.fromstring(as_junit(counted, {}, 'e"<\x1b>'))
    assert (suite.get("tests"), suite.get("failures"), suite.get("skipped")) == ("14", "2", "2")
    assert suite.get("name") == 'e"<\\u001b>'
    assert [case.get("name") for case in suite if case.find("failure") is not None] == [
        "too-long",
        "too-long-here",
    ]


def test_notes_about_the_run_are_in_every_report() -> None:
    counted = tally(verdicts_of(BROKEN["ignored limit"]).values(), {})
    assert json.loads(as_json(counted, {}, "echo", ["a < b"]))["notes"] == ["a < b"]
    suite = ET.fromstring(as_junit(counted, {}, "echo", ["a < b", "c"]))
    assert [each.text for each in suite.iter("system-out")] == ["a < b\nc"]
