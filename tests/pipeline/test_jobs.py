"""Jobs on traffic: violations, answers, levels and mixes, of captures whose story is known."""

from __future__ import annotations

import importlib
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any
from uuid import UUID

import pytest

pytest.importorskip("pyspark", reason="the extra `spark` is not installed")
pytestmark = pytest.mark.xdist_group("spark")

import pyarrow as pa  # noqa: E402
import pyarrow.compute as pc  # noqa: E402
from tests.pipeline.streams import STREAMS, stream_of  # noqa: E402
from tests.pipeline.test_captures import FILES  # noqa: E402
from tests.unit.tools.test_cli_decode import run  # noqa: E402

import wirespark  # noqa: E402
from wireproto import geode  # noqa: E402
from wireproto import lumberjack as lj  # noqa: E402
from wirespark.columns import Origin  # noqa: E402
from wirespark.conversations import events_of  # noqa: E402
from wirespark.jobs import field_texts  # noqa: E402
from wirespark.objects import recording_of  # noqa: E402
from wirespark.options import ReadOptions, Wishes  # noqa: E402
from wirespark.planning import parts_of  # noqa: E402
from wirespark.reading import columns_of  # noqa: E402
from wirespark.stream_rows import StreamRow  # noqa: E402
from wirespark.table_rows import wide_table  # noqa: E402

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

ROOT = Path(__file__).resolve().parents[2]
CAPTURE = ROOT / "examples" / "captures" / "npm-w10-plain.pcap"
RECORDED = [path for path in FILES if path.suffix != ".bin"]


def events(path: Path, protocol: str) -> list[dict[str, Any]]:
    """Return the events of the connections of a capture; of files, which are one connection."""
    options = ReadOptions.of({"protocol": protocol, "path": str(path), "index": "false"})
    tables: dict[str | None, list[Any]] = {}
    for columns in columns_of(parts_of(options), options.wishes, options):
        table = wide_table(columns, options.wishes.package)
        for own in pc.unique(table["_flow"]):
            is_own = pc.equal(table["_flow"], own) if own.is_valid else pc.is_null(table["_flow"])
            tables.setdefault(own.as_py(), []).append(table.filter(is_own))
    flows = (events_of(pa.Table.from_batches(own), options.wishes) for own in tables.values())
    return [event for found in flows for event in found.to_pylist()]


def of_kind(found: list[dict[str, Any]], kind: str, *names: str) -> list[tuple[Any, ...]]:
    return [tuple(event[name] for name in names) for event in found if event["kind"] == kind]


@pytest.mark.parametrize(
    "path", [pytest.param(path, id=f"{path.parent.name}/{path.name}") for path in RECORDED]
)
def test_violations_are_those_of_a_replay(path: Path) -> None:
    protocol = "pravega" if "pravega" in str(path) else "lumberjack"
    replayed = run("replay", protocol, path, "--format", "jsonl")
    lines = map(json.loads, replayed.stdout.splitlines())
    told = [(line["offset"], each["name"]) for line in lines for each in line.get("violations", ())]
    assert sorted(of_kind(events(path, protocol), "violation", "_offset", "name")) == sorted(told)


def environment() -> dict[str, str]:
    places = [str(ROOT / each) for each in ("generator", "generated/python", "pipeline")]
    return {**os.environ, "PYTHONPATH": os.pathsep.join(places)}


def write(folder: Path, **streams: list[Any]) -> None:
    folder.mkdir(exist_ok=True)
    for role, messages in streams.items():
        (folder / f"x.{role}.bin").write_bytes(b"".join(lj.encode(each) for each in messages))


def test_an_ack_answers_its_events() -> None:
    pairs = of_kind(events(CAPTURE, "lumberjack"), "pair", "_message", "request", "request_from")
    assert pairs == [("Ack", "Data", "writer")] * 10


def test_what_the_sessions_do_not_allow_is_named(tmp_path: Path) -> None:
    write(
        tmp_path / "a",
        writer=[
            lj.Window(2),
            lj.Json(1, b"{}"),
            lj.Json(2, b"{}"),
            lj.Json(3, b"{}"),
            lj.Json(4, b"{}"),
        ],
    )
    found = of_kind(
        events(tmp_path / "a", "lumberjack"), "violation", "name", "lenient", "_offset", "_message"
    )
    assert [(name, lenient, message) for name, lenient, _, message in found] == [
        ("window_overrun", True, "Json"),
        ("window_overrun", True, "Json"),
    ]
    assert [offset for _, _, offset, _ in found] == [6 + 12 + 12, 6 + 12 + 12 + 12]


def test_levels_are_the_windows_use(tmp_path: Path) -> None:
    write(tmp_path / "a", writer=[lj.Window(3), *(lj.Json(n, b"{}") for n in (1, 2, 3))])
    found = events(tmp_path / "a", "lumberjack")
    levels = [row[1] for row in of_kind(found, "level", "name", "level") if row[0] == "outstanding"]
    assert levels == [1, 2, 3]


def test_answers_that_overtake_each_other() -> None:
    """Geode's requests wait on a list of which any may be taken."""
    null, wishes = geode.GeodeValue.Null(), Wishes(protocol="geode")
    numbers = (1, 2, 3)
    calls = [
        geode.Request(geode.GetRequest("r", geode.GeodeValue.Integer(n), null), correlation_id=n)
        for n in numbers
    ]
    answers = [geode.Response(geode.GetResponse(null), correlation_id=n, status=1) for n in (2, 3, 1)]
    tables = [
        wide_table(
            recording_of(wishes).columns(rows_at(frames, begin), role, 0, origin=Origin(file="f", flow="a")),
            wishes.package,
        )
        for role, frames, begin in (("client", calls, 0), ("server", answers, 10))
    ]
    found = events_of(pa.Table.from_batches(tables), wishes).to_pylist()
    pairs = of_kind(found, "pair", "_offset", "request_offset", "request")
    assert pairs == [(0, 1, "GetRequest"), (1, 2, "GetRequest"), (2, 0, "GetRequest")]
    assert of_kind(found, "violation", "name").count(("response_out_of_order",)) == 2


def rows_at(frames: list[Any], begin: int) -> list[StreamRow]:
    """Return rows of which each comes a second after the one before."""
    return [StreamRow(n, 1, frame, None, (begin + n) * 1_000_000) for n, frame in enumerate(frames)]


# ---- on Spark


@pytest.fixture
def table(spark: SparkSession) -> DataFrame:
    return spark.read.format("wire").options(protocol="lumberjack", index="false").load(str(CAPTURE))


def test_the_jobs_are_tables(table: DataFrame) -> None:
    assert wirespark.check(table, "lumberjack").count() == 0
    rows = wirespark.pairs(table, "lumberjack").orderBy("request_offset").collect()
    assert len(rows) == 10 and all(0 <= row["latency"] < 10 for row in rows)
    levels = (
        wirespark.levels(table, "lumberjack").where("name = 'outstanding'").agg({"level": "max"}).collect()
    )
    assert levels[0][0] == 10


def test_a_profile_and_a_coverage(table: DataFrame) -> None:
    mix = wirespark.profile(table, 3600).groupBy("_message").sum("frames", "bytes").collect()
    assert {row[0]: row[1] for row in mix} == {"Ack": 1, "Window": 1, "Data": 10}
    assert sum(row[2] for row in mix) == table.agg({"_size": "sum"}).collect()[0][0]
    seen = {
        (row["kind"], row["name"]): row["seen"] for row in wirespark.coverage(table, "lumberjack").collect()
    }
    assert seen["message", "Data"] == 10 and seen["message", "Json"] == 0
    assert seen["field", "Window.size"] == 1 and seen["field", "Json.document"] == 0
    assert seen["field", "Data.pairs"] == 10 and seen["field", "Data.pairs.key"] == 30
    assert seen["step", "Transfer idle → waiting"] == 1 and seen["step", "Transfer waiting → idle"] == 1
    assert seen["violation", "window_short"] == 0


def test_what_is_in_lists_unions_and_enums_is_counted(spark: SparkSession, tmp_path: Path) -> None:
    """Held against what was written; members nobody knows count as unknown."""
    value = geode.GeodeValue
    pairs = [geode.KeyValuePair(value.String("k"), value.Integer(number)) for number in range(3)]
    sent = [
        geode.Request(geode.PutAllRequest("r", pairs, value.Null()), 1),
        geode.Request(geode.GetRequest("r", value.Integer(1), value.Null()), 2),
    ]
    path = tmp_path / "x.client.bin"
    path.write_bytes(
        geode.Connect(geode.Mode.WHOLE).encode() + b"".join(geode.encode(frame) for frame in sent)
    )
    rows = spark.read.format("wire").option("protocol", "geode").load(str(path))
    seen = {(row["kind"], row["name"]): row["seen"] for row in wirespark.coverage(rows, "geode").collect()}
    assert seen["field", "Request.correlation_id"] == 2 and seen["field", "Response.correlation_id"] == 0
    assert seen["field", "PutAllRequest.key_value_pairs"] == 1
    assert seen["field", "PutAllRequest.key_value_pairs.key"] == 3
    assert seen["variety", "PutAllRequest.key_value_pairs.key String"] == 3
    assert seen["variety", "PutAllRequest.key_value_pairs.value Integer"] == 3
    assert seen["variety", "PutAllRequest.key_value_pairs.value Long"] == 0
    assert seen["variety", "GetRequest.key Integer"] == 1
    assert seen["member", "Connect.mode WHOLE"] == 1 and seen["member", "Connect.mode DIVIDED"] == 0
    assert seen["member", "Response.status FULL_RESPONSE"] == 0


GIZMO = """
protocol gizmo {
  source "made for tests"
  endian big
  roles client, server
}
limits { frame = 64 KiB  count = 1000 }
frame Frame {
  type : u8 := code(body)
  length : u32 := size(body)
  body : match type in length
}
open enum Fault : u16 { NONE = 0  BROKEN = 500 }
struct Item {
  name : utf8[u8] lenient
  count : u64
}
message Put 1 {
  id : uuid
  big : u64
  signed : i64
  has_note : bool := present(note)
  note : utf8[u16] lenient if has_note
  ratio : f64
  short : f32
  items : Item[u8]
  blob : bytes[u16]
  fault : Fault
}
message Ping 2 {}
"""


def put(native: Any, number: int) -> Any:
    """Return a message with values that have no form of their own in JSON."""
    floats = (1.5, -0.0, float("inf"), float("-inf"), float("nan"), 1e300, 0.1)
    texts = ("a", "", "é漢\U0001f600", b"\xff\xfea".decode("utf-8", "surrogateescape"))
    ratio = floats[number % len(floats)]
    return native.Put(
        id=UUID(int=number),
        big=2**64 - 1 - number,
        signed=number - 2**63,
        note=(None, *texts)[number % 5],
        ratio=ratio,
        short=ratio if ratio != 1e300 else 0.25,
        items=[native.Item(texts[(number + n) % 4], 2**63 + n) for n in range(number % 4)],
        blob=bytes(range(number)),
        fault=(0, 500, 77)[number % 3],
    )


def fields_and_lines(path: Path, protocol: str, told: str, *options: str) -> tuple[list[Any], list[Any]]:
    """Return the fields of all frames of a file as the job has them, and as `wiregen decode` prints them."""
    read = ReadOptions.of({"protocol": protocol, "path": str(path), "index": "false"})
    tables = [
        wide_table(columns, read.wishes.package) for columns in columns_of(parts_of(read), read.wishes, read)
    ]
    found = [
        (flow, json.loads(text))
        for table in tables
        for flow, text in zip(table["_flow"].to_pylist(), field_texts(table, read.wishes), strict=True)
        if text is not None
    ]
    result = run("decode", told, str(path), "--format", "jsonl", *options)
    lines = map(json.loads, result.stdout.splitlines())
    said = [(line.get("flow"), line["fields"]) for line in lines if "fields" in line]
    assert said, result.output
    return sorted(map(repr, found)), sorted(map(repr, said))


def test_fields_are_those_of_decode_whatever_they_hold(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from wiregen.tools.cli.spark_session import _build, _forget

    _forget()
    source, path = tmp_path / "gizmo.wire", tmp_path / "x.client.bin"
    source.write_text(GIZMO, encoding="utf-8")
    name = _build(str(source), tmp_path / "built")
    monkeypatch.syspath_prepend(tmp_path / "built" / "python")
    native = importlib.import_module(name)
    sent = [native.encode(put(native, number)) for number in range(60)]
    unknown = b"\x09" + (3).to_bytes(4, "big") + b"abc"
    path.write_bytes(b"".join((*sent, native.encode(native.Ping()), unknown, native.encode(native.Ping()))))
    found, said = fields_and_lines(path, name, str(source), "--from", "client")
    _forget()
    assert found == said and len(found) == 63
    for part in ("18446744073709551615", "'hex'", "000102", ": 77"):
        assert part in "".join(found)


@pytest.mark.parametrize("protocol", STREAMS)
def test_fields_of_any_message_are_those_of_decode(protocol: str, tmp_path: Path) -> None:
    made = stream_of(protocol, 3)
    path = tmp_path / f"x.{made.role}.bin"
    path.write_bytes(made.data)
    found, said = fields_and_lines(path, protocol, protocol, "--from", made.role)
    assert found == said


def test_fields_of_a_capture_are_those_of_decode() -> None:
    found, said = fields_and_lines(CAPTURE, "lumberjack", "lumberjack")
    assert found == said and len(found) == 12


def test_decoded_rows_have_their_fields(table: DataFrame) -> None:
    rows = wirespark.decode(table, "lumberjack").orderBy("_from", "_offset").collect()
    assert json.loads(rows[1]["fields"]) == {"size": 10}
    assert [row["fields"] is None for row in rows] == [row["code"] is not None for row in rows]


def test_the_command(tmp_path: Path) -> None:
    """A whole process: a protocol that is built for it, and lines on stdout."""
    write(tmp_path / "a", writer=[lj.Window(2), lj.Data(1, []), lj.Data(2, []), lj.Data(3, [])])
    source = str(tmp_path / "a" / "x.writer.bin")
    done = subprocess.run(
        [
            sys.executable,
            "-m",
            "wiregen",
            "spark",
            "check",
            source,
            "--protocol",
            str(ROOT / "idl" / "lumberjack.wire"),
            "--master",
            "local[1]",
            "--kernel",
            "off",
        ],
        env=environment(),
        capture_output=True,
        check=False,
    )
    lines = [json.loads(line) for line in done.stdout.splitlines()]
    assert (done.returncode, [line["name"] for line in lines]) == (1, ["window_overrun"]), done.stderr[-2000:]
    assert b"WARN " not in done.stderr and b"log4j" not in done.stderr and b"log level" not in done.stderr


def test_numbers_of_the_command_have_no_exponent(
    table: DataFrame, capsys: pytest.CaptureFixture[str]
) -> None:
    from wiregen.tools.cli.spark_jobs import _write

    small = table.limit(1).selectExpr(
        "0.00002D as latency", "cast(null as double) as age", "timestamp_micros(1000001) as _time"
    )
    assert _write(small, None) == 1
    line = json.loads(capsys.readouterr().out, parse_float=str)
    assert (line["latency"], line["age"]) == ("0.000020", None)
    assert ":01.000001" in line["_time"]


def test_a_check_without_findings_tells_how_much_was_checked(
    table: DataFrame, capsys: pytest.CaptureFixture[str]
) -> None:
    from wiregen.tools.cli.spark_jobs import _check

    assert _check(table, "lumberjack", {}, None) == 0
    said = capsys.readouterr()
    assert (said.out, said.err) == ("", "no rule was broken: 12 rows of 1 file\n")


def test_coverage_counts_inner_messages_and_is_ordered(spark: SparkSession, tmp_path: Path) -> None:
    frames = [lj.Frame(lj.Json(number, b"{}")) for number in (1, 2, 3)]
    write(tmp_path / "a", writer=[lj.Window(3), lj.Compressed(frames)])
    table = spark.read.format("wire").option("protocol", "lumberjack").load(str(tmp_path / "a"))
    rows = [tuple(row) for row in wirespark.coverage(table, "lumberjack").collect()]
    seen = {(kind, name): count for kind, name, count in rows}
    assert seen["message", "Json"] == 0 and seen["message", "Compressed"] == 1
    assert seen["inner", "Json"] == 3 and seen["inner", "Data"] == 0
    assert rows == sorted(rows)


def test_the_pictures_of_the_docs(spark: SparkSession, tmp_path: Path) -> None:
    from traffic_plots.__main__ import draw

    source = ROOT / "examples" / "captures" / "golumber-async-pipelined.pcap"
    table = spark.read.format("wire").options(protocol="lumberjack", index="false").load(str(source))
    draw(table, "lumberjack", tmp_path)
    for name in ("messages", "latency", "window"):
        drawn = (tmp_path / f"{name}.svg").read_text(encoding="utf-8")
        assert drawn == (ROOT / "docs" / "pictures" / f"{name}.svg").read_text(encoding="utf-8")
