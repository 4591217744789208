"""`format("wire")` in Spark: options, schemas, filters, projection, modes, files that are cut into tasks."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

pytest.importorskip("pyspark", reason="the extra `spark` is not installed")
pytestmark = pytest.mark.xdist_group("spark")

from tests.pipeline.streams import stream_of  # noqa: E402

from wireproto import lumberjack as lj  # noqa: E402
from wirespark import WireSparkError, spark_schema, user_cache  # noqa: E402
from wirespark.options import ReadOptions  # noqa: E402
from wirespark.planning import Part, parts_of  # noqa: E402

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

ROOT = Path(__file__).resolve().parents[2]
CAPTURE = str(ROOT / "examples" / "captures" / "npm-w10-plain.pcap")
UNICODE = str(ROOT / "examples" / "captures" / "pylogbeat-unicode.pcap")


def read(
    spark: SparkSession, path: str | list[str], protocol: str = "lumberjack", **options: Any
) -> DataFrame:
    reader = spark.read.format("wire").option("protocol", protocol).option("index", "false")
    return reader.options(**options).load(path)


def test_a_capture_is_a_table(spark: SparkSession) -> None:
    table = read(spark, CAPTURE)
    assert table.schema == spark_schema("lumberjack")
    rows = table.orderBy("_flow", "_from", "_offset").collect()
    assert [row["_message"] for row in rows] == ["Ack", "Window", *["Data"] * 10]
    assert rows[2]["Data"]["pairs"][0]["key"] is not None
    assert all(row["_error"] is None and row["Json"] is None for row in rows)


def test_docs_are_comments(spark: SparkSession) -> None:
    described = read(spark, CAPTURE, message="Ack").schema
    assert (
        described["sequence"]
        .metadata["comment"]
        .startswith("The number of the last event that is acknowledged")
    )


def test_one_message_is_a_table_of_its_fields(spark: SparkSession) -> None:
    rows = read(spark, CAPTURE, message="Window").collect()
    assert [(row["_from"], row["size"], row["_header"]["version"]) for row in rows] == [("writer", 10, "V1")]


def test_several_paths_and_folders_are_one_table(spark: SparkSession, tmp_path: Path) -> None:
    names = {
        row[0].rpartition("/")[2]
        for row in read(spark, [CAPTURE, UNICODE]).select("_file").distinct().collect()
    }
    assert names == {"npm-w10-plain.pcap", "pylogbeat-unicode.pcap"}


@pytest.mark.parametrize(
    ("condition", "expected"),
    [
        pytest.param("_message = 'Window'", 1, id="message"),
        pytest.param("_message in ('Window', 'Ack')", 2, id="messages"),
        pytest.param("_message = 'Window' and _message = 'Ack'", 0, id="none"),
        pytest.param("Data is not null", 10, id="a struct"),
        pytest.param("_code = 65", 1, id="code"),
        pytest.param("_offset = 6", 1, id="offset"),
        pytest.param("_offset > 86 and _offset <= 246", 2, id="offsets"),
        pytest.param("_error is null and _from = 'writer'", 11, id="what is not pushed"),
    ],
)
def test_filters_keep_the_same_rows(spark: SparkSession, condition: str, expected: int) -> None:
    assert read(spark, CAPTURE, pushdown="true").where(condition).count() == expected


def test_a_table_that_was_filtered_is_whole_again(spark: SparkSession) -> None:
    """Spark keeps what a filter made of a source for whatever comes next of the same table."""
    table = read(spark, CAPTURE)
    assert table.where("_message = 'Window'").count() == 1
    assert table.count() == 12


def test_a_schema_is_the_projection(spark: SparkSession) -> None:
    reader = spark.read.format("wire").option("protocol", "lumberjack")
    table = reader.schema("_offset bigint, Data struct<sequence: bigint>").load(CAPTURE)
    rows = [
        row.asDict(recursive=True) for row in table.where("Data is not null").orderBy("_offset").collect()
    ]
    assert rows[0] == {"_offset": 6, "Data": {"sequence": rows[0]["Data"]["sequence"]}}
    assert len(rows) == 10


def test_a_large_file_is_many_tasks(spark: SparkSession, tmp_path: Path) -> None:
    stream = stream_of("reactive_streams", 3, 800)
    path = tmp_path / "stream.server.bin"
    path.write_bytes(stream.data)
    table = read(spark, str(path), "reactive_streams", split="1KiB")
    assert table.rdd.getNumPartitions() > 5
    rows = table.select("_offset", "_size", "_from", "_error.code").orderBy("_offset").collect()
    ends = [row["_offset"] + row["_size"] for row in rows if row["_size"]]
    assert ends == list(stream.ends)
    assert {row["_from"] for row in rows} == {"server"}


def test_modes(spark: SparkSession, tmp_path: Path) -> None:
    good = lj.encode(lj.Window(3))
    (tmp_path / "x.writer.bin").write_bytes(good + b"\0\0\0" + good * 3)
    path = str(tmp_path)
    rows = read(spark, path).orderBy("_offset").collect()
    assert [(row["_size"], row["_message"]) for row in rows] == [
        (6, "Window"),
        (3, None),
        *[(6, "Window")] * 3,
    ]
    assert bytes(rows[1]["_error"]["raw"]) == b"\0\0\0"
    assert read(spark, path, mode="dropmalformed").count() == 4
    with pytest.raises(Exception, match="invalid_enum|unknown|wrong|invalid"):
        read(spark, path, mode="FAILFAST").count()


def test_sql(spark: SparkSession) -> None:
    spark.sql(
        f"create or replace temporary view traffic using wire options (protocol 'lumberjack', path '{CAPTURE}')"
    )
    assert spark.sql("select sum(size(Data.pairs)) from traffic").collect()[0][0] == 30


@pytest.mark.parametrize(
    ("options", "message"),
    [
        pytest.param({}, "the protocol is missing: give its name", id="no protocol"),
        pytest.param({"protocol": "lumber"}, "no protocol 'lumber'", id="another protocol"),
        pytest.param(
            {"protocol": "lumberjack", "message": "Dato"}, "unknown message 'Dato'", id="another message"
        ),
        pytest.param(
            {"protocol": "lumberjack", "colour": "red"}, "unknown option 'colour'", id="another option"
        ),
        pytest.param({"protocol": "lumberjack", "mode": "x"}, "mode is .x.: give one of", id="another mode"),
        pytest.param(
            {"protocol": "lumberjack", "split": "many"}, "split is .many.: give a number", id="no number"
        ),
        pytest.param(
            {"protocol": "lumberjack", "split": "1000"}, "split is .1000.: give 1024 or more", id="too many"
        ),
        pytest.param(
            {"protocol": "lumberjack", "limits": "frame"}, "has no value: write NAME=VALUE", id="no value"
        ),
        pytest.param(
            {"protocol": "lumberjack", "limit.frame": "1e3"},
            "limit frame is .1e3.: give a number",
            id="no limit",
        ),
        pytest.param(
            {"protocol": "lumberjack", "kernel": "fast"}, "kernel is .fast.: give one of", id="no kernel"
        ),
        pytest.param(
            {"protocol": "lumberjack", "from": "nobody"}, "unknown role 'nobody'", id="another role"
        ),
        *(
            pytest.param(
                {"protocol": "lumberjack", name: "0"}, f"{name} is .*0.*: give 1 or more", id=f"0 as {name}"
            )
            for name in ("maxfilespertrigger", "maxbytespertrigger")
        ),
        pytest.param(
            {"protocol": "lumberjack", "limit.frame": "0"}, "frame is 0: give 1 or more", id="no frame"
        ),
        *(
            pytest.param(
                {"protocol": "lumberjack", "port": port},
                f"port is '{port}': give a number from 1 to 65535",
                id=f"port {port[:9]}",
            )
            for port in ("0", "65536", "64KiB", "²", "9" * 5000)
        ),
    ],
)
def test_wrong_options_say_what_is_right(options: dict[str, str], message: str) -> None:
    with pytest.raises(WireSparkError, match=message):
        ReadOptions.of({**options, "path": CAPTURE})


def test_room_in_the_cache_is_made_seldom(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """By the first text of a process, and by each that completes a 16th of the most."""
    made: list[tuple[str, int]] = []
    make_room = user_cache.make_room

    def counted(place: Path, most: int) -> None:
        make_room(place, most)
        made.append((place.name, sum(1 for _ in tmp_path.glob("*.json"))))

    monkeypatch.setattr(user_cache, "make_room", counted)
    monkeypatch.setattr(user_cache, "_MOST_KEPT", 32 * 4096)
    for number in range(40):
        user_cache.keep(tmp_path / f"{number}.json", "x")
    for number in range(40, 42):  # which take two blocks
        user_cache.keep(tmp_path / f"{number}.json", "x" * 8192)
    assert made == [(f"{number}.json", min(number + 1, 32)) for number in range(0, 40, 2)] + [
        ("40.json", 31),
        ("41.json", 30),
    ]


def test_the_places_of_cuts_are_kept_and_the_oldest_ones_removed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setattr(user_cache, "_MOST_KEPT", 4 * 4096)
    sources = [tmp_path / f"{number}.writer.bin" for number in range(7)]

    def planned(path: Path) -> list[Part]:
        given = {"path": str(path), "protocol": "lumberjack", "split": "64KiB"}
        return [replace(part, path="") for part in parts_of(ReadOptions.of(given))]

    def names() -> set[str]:
        return {each.name for each in (tmp_path / "cache" / "wirespark" / "cuts").glob("*.json")}

    for path in sources:
        path.write_bytes(b"".join(lj.encode(lj.Json(number, b"{}")) for number in range(30_000)))
    [first, *rest] = sources
    parts = planned(first)
    [kept] = names()
    for path in rest:
        assert planned(path) == parts and len(parts) > 5
        os.utime(tmp_path / "cache" / "wirespark" / "cuts" / kept, ns=(1, 1))
        assert planned(first) == parts, "it is read from the cache, and used now"
    assert len(names()) == 4 and kept in names()
