"""The files of a conversion: rows of inner frames, folders of days, compression, and tables of a session."""

from __future__ import annotations

import shutil
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any
from uuid import UUID

import pytest

pytest.importorskip("pyspark", reason="the extra `spark` is not installed")
pytestmark = pytest.mark.xdist_group("spark")

from pyarrow import parquet as pq  # noqa: E402
from pyspark.sql.types import LongType, StructField, StructType  # noqa: E402
from tests.pipeline.test_convert import reader_of, run_all, table  # noqa: E402
from tests.unit.tools.test_cli_decode import run  # noqa: E402

import wirespark  # noqa: E402
from wiregen.tools.cli import spark_session  # noqa: E402
from wireproto import lumberjack as lj  # noqa: E402
from wireproto import pravega as pv  # noqa: E402
from wirespark import WireSparkError, compacting  # noqa: E402
from wirespark.compacting import CompactReader  # noqa: E402
from wirespark.convert_source import ConvertPartition  # noqa: E402
from wirespark.disk_targets import DiskTarget  # noqa: E402
from wirespark.output import FileForm, divided  # noqa: E402
from wirespark.receipts import Receipt  # noqa: E402
from wirespark.rewriting import Rewrite, rewritten  # noqa: E402
from wirespark.spark_types import struct_type  # noqa: E402
from wirespark.stored_tables import TableSource  # noqa: E402
from wirespark.target_storage import TargetStorage  # noqa: E402
from wirespark.writing import WireWriter, WriteOptions, _rows  # noqa: E402

if TYPE_CHECKING:
    from pyspark.sql import SparkSession
    from pyspark.sql.datasource import InputPartition

LONG = StructType([StructField("_offset", LongType())])
ROOT = Path(__file__).resolve().parents[2]
CAPTURES = ROOT / "examples" / "captures"
CAPTURE = CAPTURES / "golumber-async-pipelined.pcap"


def framed(*messages: Any) -> Any:
    return list(messages)


def streamed(*messages: Any) -> bytes:
    return b"".join(lj.encode(message) for message in messages)


def frames_in(message: Any, path: str = "") -> Iterator[tuple[str, Any]]:
    """Yield the frames in a message of Lumberjack, with their paths."""
    for number, frame in enumerate(getattr(message, "frames", ())):
        here = f"{path}frames[{number}]"
        yield here, getattr(frame, "message", frame)


def test_every_frame_inside_has_a_row(tmp_path: Path) -> None:
    """Held against the objects that were written; the frames of other messages are between them."""
    json = [lj.Json(number, b'{"n":%d}' % number) for number in range(7)]
    data = [lj.Data(number, [lj.Pair("k", "v")]) for number in range(3)]
    inside = [framed(*json[:3], data[0]), framed(), framed(lj.Window(2), *json[3:])]
    envelopes = [lj.Compressed(each) for each in inside]
    sent = [lj.Window(9), envelopes[0], data[1], *envelopes[1:], data[2]]
    path, target = tmp_path / "x.writer.bin", tmp_path / "target"
    path.write_bytes(streamed(*sent))
    run_all(reader_of(path, target, "lumberjack"))
    wanted = [(where, message) for outer in sent for where, message in frames_in(outer)]
    offsets = {row["_offset"]: row["_message"] for row in table(target, "_frames")}
    assert sorted(Counter(offsets.values()).items()) == [("Compressed", 3), ("Data", 2), ("Window", 1)]
    for name, own, field in (
        ("json", lj.Json, "sequence"),
        ("data", lj.Data, "sequence"),
        ("window", lj.Window, "size"),
    ):
        rows = [row for row in table(target, f"message={name}") if row["_depth"]]
        told = [(where, getattr(message, field)) for where, message in wanted if isinstance(message, own)]
        assert told and [(row["_path"], row[field]) for row in rows] == told
        assert all(offsets[row["_offset"]] == "Compressed" and row["_size"] is None for row in rows)
        assert all(row["_header"]["version"] in ("V1", "V2") and row["_depth"] == 1 for row in rows)
    outer = [row for row in table(target, "message=data") if not row["_depth"]]
    assert [(row["sequence"], row["_path"]) for row in outer] == [(1, None), (2, None)]
    assert table(target, "message=data")[0]["pairs"] == [
        {"key": "k", "key_raw": None, "value": "v", "value_raw": None}
    ]
    [receipt] = DiskTarget(target).contents().receipts
    assert receipt.total.inner == Counter(type(message).__name__ for _, message in wanted)
    assert receipt.total.messages == {"Compressed": 3, "Data": 2, "Window": 1}
    assert sum(row["_size"] for row in table(target, "_frames")) == path.stat().st_size


def test_inner_rows_are_not_written_as_frames(tmp_path: Path) -> None:
    """The bytes of an inner frame are in its envelope."""
    path, target = tmp_path / "x.writer.bin", tmp_path / "target"
    path.write_bytes(streamed(lj.Compressed(framed(lj.Json(1, b"{}"))), lj.Json(2, b"[]")))
    run_all(reader_of(path, target, "lumberjack"))
    [file] = (target / "message=json").glob("*.parquet")
    [batch] = pq.ParquetFile(file).read().to_batches()
    options = WriteOptions.of({"protocol": "lumberjack", "message": "Json", "path": str(tmp_path / "back")})
    WireWriter(options, struct_type(batch.schema), is_overwriting=False)
    assert batch["_depth"].to_pylist() == [0, 1]
    rows = _rows(batch, options)
    assert [each["sequence"] for each in rows["Json"].to_pylist()] == [2] and "_path" not in rows


def test_a_frame_that_is_a_field_has_a_row(tmp_path: Path) -> None:
    path, target = tmp_path / "x.client.bin", tmp_path / "target"
    append = pv.ConditionalAppend(UUID(int=7), 5, 0, pv.Frame(pv.Event(b"e")))
    path.write_bytes(pv.encode(append))
    run_all(reader_of(path, target, "pravega"))
    [row] = table(target, "message=event")
    assert (row["_path"], row["_depth"], row["data"]) == ("event", 1, b"e")


def test_files_by_day_in_zstd_without_frames(tmp_path: Path) -> None:
    target = tmp_path / "target"
    given = {"partition": "date", "frames": "false", "compression": "zstd", "split": "1MiB"}
    run_all(reader_of(CAPTURE, target, "lumberjack", **given))
    files = sorted(target.glob("message=*/*/*.parquet"))
    assert {file.parent.name for file in files} == {"date=2026-11-21"} and len(files) == 4
    assert not (target / "_frames").exists() and not list(target.glob("message=*/*.parquet"))
    assert pq.ParquetFile(files[0]).metadata.row_group(0).column(0).compression == "ZSTD"
    assert all(run_all(reader_of(CAPTURE, target, "lumberjack", **given)))
    with pytest.raises(WireSparkError, match="frames false, not with frames true"):
        run_all(reader_of(CAPTURE, target, "lumberjack", split="1MiB", partition="date"))


DATED = """wire 1
protocol dated { endian big  roles client, server }
frame Frame { type : u8 := code(body)  size : u16 := size(body)  body : match type in size }
message Plain 1 { id : u32 }
message Select 2 { id : u32  Date : u32 }
"""


def test_a_field_with_the_name_of_a_folder_is_not_lost(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Spark takes the day of the folder for it, with small and with capital letters alike."""
    (tmp_path / "dated.wire").write_text(DATED, encoding="utf-8")
    name = spark_session._build(str(tmp_path / "dated.wire"), tmp_path / "built")
    monkeypatch.syspath_prepend(tmp_path / "built" / "python")
    (tmp_path / "x.client.bin").write_bytes(bytes.fromhex("02 0008 00000007 00000014"))
    target = tmp_path / "target"
    with pytest.raises(WireSparkError, match="^the message Select has a field 'Date', .* partition=message$"):
        reader_of(tmp_path / "x.client.bin", target, name, partition="date")
    run_all(reader_of(tmp_path / "x.client.bin", target, name))
    spark_session._forget()
    [row] = table(target, "message=select")
    assert (row["id"], row["Date"]) == (7, 20)


def written(folder: Path, numbers: range) -> Path:
    folder.mkdir(exist_ok=True)
    for number in numbers:
        sent = streamed(lj.Window(1), lj.Data(number, []))
        (folder / f"{number:03}.writer.bin").write_bytes(sent)
    return folder


def sequences(target: Path) -> list[int]:
    return sorted(row["sequence"] for row in table(target, "message=data"))


def test_small_inputs_share_files_and_a_later_one_adds_its_own(tmp_path: Path) -> None:
    source, target = written(tmp_path / "source", range(90)), tmp_path / "target"
    assert run_all(reader_of(source, target, "lumberjack", split="1MiB")) == [False]
    assert len(list(target.rglob("*.parquet"))) == 3 and sequences(target) == list(range(90))
    assert run_all(reader_of(source, target, "lumberjack", split="1MiB")) == [True]
    written(source, range(90, 92))
    assert run_all(reader_of(source, target, "lumberjack", split="1MiB")) == [True, False, False]
    assert sequences(target) == list(range(92))
    (source / "005.writer.bin").write_bytes(streamed(lj.Window(1), lj.Data(1005, [])))
    run_all(reader_of(source, target, "lumberjack", split="1MiB"))
    assert sequences(target) == [number for number in range(92) if number != 5] + [1005]


def test_a_bundle_is_not_taken_apart_under_a_run(tmp_path: Path) -> None:
    """A second run takes the bundles of the first as they are; one that needs other bundles stops it."""
    source, target = written(tmp_path / "source", range(90)), tmp_path / "target"
    first = reader_of(source, target, "lumberjack", split="1MiB")
    [own] = first.partitions()
    written(source, range(90, 93))
    later = reader_of(source, target, "lumberjack", split="1MiB").partitions()
    assert [len(each.parts) for each in later if isinstance(each, ConvertPartition)] == [90, 1, 1, 1]
    list(first.read(own))
    assert sequences(target) == list(range(90))
    (target / "_receipts").joinpath("_bundles").unlink()
    for receipt in DiskTarget(target).contents().receipts:
        (target / "_receipts" / f"{receipt.name}.json").unlink()
    run_all(reader_of(source, target, "lumberjack", split="1MiB"))
    with pytest.raises(WireSparkError, match="wait for it to end"):
        list(first.read(own))
    assert sequences(target) == list(range(93))


def compacted(target: Path, **given: str) -> list[dict[str, int]]:
    reader = CompactReader(DiskTarget(target), divided(given)[0])
    return [row for each in reader.partitions() for batch in reader.read(each) for row in batch.to_pylist()]


def test_compaction_keeps_rows_and_what_is_done(tmp_path: Path) -> None:
    source, target = written(tmp_path / "source", range(20)), tmp_path / "target"
    assert len(run_all(reader_of(source, target, "lumberjack"))) == 20
    frames = sorted((row["_file"], row["_offset"]) for row in table(target, "_frames"))
    [file] = list((target / "message=data").glob("*.parquet"))[:1]
    schema = pq.ParquetFile(file).schema_arrow
    old = list(DiskTarget(target).contents().receipts)
    kept = {path: path.read_bytes() for path in target.rglob("*.parquet")}
    assert compacted(target, compression="zstd") == [{"before": 60, "after": 3}]
    assert sequences(target) == list(range(20))
    assert frames == sorted((row["_file"], row["_offset"]) for row in table(target, "_frames"))
    [merged] = (target / "message=data").glob("*.parquet")
    assert pq.ParquetFile(merged).schema_arrow.equals(schema, check_metadata=True)
    assert compacted(target) == []
    # Killed before the old files were removed, it is done by the next run.
    for path, data in kept.items():
        path.write_bytes(data)
    for receipt in old:
        DiskTarget(target).write(receipt)
    assert all(run_all(reader_of(source, target, "lumberjack")))
    assert sequences(target) == list(range(20)) and len(list(target.rglob("*.parquet"))) == 3
    [receipt] = DiskTarget(target).contents().receipts
    assert (len(receipt.ways), receipt.total.messages) == (20, {"Data": 20, "Window": 20})


def test_files_with_other_columns_are_not_merged(tmp_path: Path) -> None:
    """A protocol that was changed between two conversions leaves them, with columns that no other file has or of other types."""
    source, target = written(tmp_path / "source", range(9)), tmp_path / "target"
    run_all(reader_of(source, target, "lumberjack"))
    files = sorted((target / "message=data").glob("*.parquet"))
    for number, path in enumerate(files):
        rows = pq.read_table(path)
        if number % 3 == 1:
            rows = rows.drop_columns("pairs")
        elif number % 3 == 2:
            rows = rows.set_column(
                rows.column_names.index("sequence"), "sequence", rows["sequence"].cast("float64")
            )
        pq.write_table(rows, path)
    before = sorted(map(repr, table(target, "message=data")))
    assert compacted(target) == [{"before": 9, "after": 3}] * 3
    assert sorted(map(repr, table(target, "message=data"))) == before
    assert len({str(pq.read_schema(path)) for path in (target / "message=data").glob("*.parquet")}) == 3
    assert compacted(target) == []


def test_a_compaction_gives_way_to_a_conversion(tmp_path: Path) -> None:
    source, target = written(tmp_path / "source", range(3)), tmp_path / "target"
    run_all(reader_of(source, target, "lumberjack"))
    reader = CompactReader(DiskTarget(target), divided({})[0])
    [group] = reader.partitions()
    (source / "001.writer.bin").write_bytes(streamed(lj.Data(7, [])))
    run_all(reader_of(source, target, "lumberjack"))
    assert merged_by(reader, group) == [{"before": 6, "after": 3}] and sequences(target) == [0, 2, 7]
    assert merged_by(reader, group) == [] and sequences(target) == [0, 2, 7]
    assert all(run_all(reader_of(source, target, "lumberjack")))
    assert not list(target.rglob("*.tmp"))


def merged_by(reader: CompactReader, group: InputPartition) -> list[dict[str, int]]:
    return [row for batch in reader.read(group) for row in batch.to_pylist()]


def test_a_task_that_is_tried_again_merges_the_rest(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The files that its first try has merged are gone."""
    source, target = written(tmp_path / "source", range(4)), tmp_path / "target"
    run_all(reader_of(source, target, "lumberjack"))
    for path in sorted((target / "message=data").glob("*.parquet"))[2:]:
        pq.write_table(pq.read_table(path).drop_columns("pairs"), path)
    reader = CompactReader(DiskTarget(target), divided({})[0])
    [group] = reader.partitions()
    merged: list[Rewrite] = []

    def failing(target: TargetStorage, rewrite: Rewrite, output: FileForm) -> Receipt | None:
        if merged:
            raise OSError("lost connection")
        merged.append(rewrite)
        return rewritten(target, rewrite, output)

    with monkeypatch.context() as patch, pytest.raises(OSError, match="lost connection"):
        patch.setattr(compacting, "rewritten", failing)
        merged_by(reader, group)
    assert len(merged) == 1 and merged_by(reader, group) == [{"before": 6, "after": 3}]
    assert sequences(target) == list(range(4)) and len(list(target.rglob("*.parquet"))) == 6


def test_the_command_merges_in_the_session_of_the_tests(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    source, target = written(tmp_path / "source", range(5)), tmp_path / "target"
    run_all(reader_of(source, target, "lumberjack"))
    monkeypatch.setattr(spark_session, "_session", lambda *given: spark)
    monkeypatch.setattr(spark, "stop", lambda: None)
    result = run("spark", "compact", str(target))
    assert (result.exit_code, result.stdout) == (0, "15 files became 3\n"), result.output
    result = run("spark", "compact", str(source))
    assert result.exit_code == 2 and "has no receipts\n  = help: give the target" in result.stderr


@pytest.mark.parametrize(
    ("given", "lacking"), [({}, "target and table"), ({"target": "/x"}, "table"), ({"table": "x"}, "target")]
)
def test_a_table_without_its_options_names_them(given: dict[str, str], lacking: str) -> None:
    source = TableSource(given)
    for asked in (source.schema, lambda: source.reader(StructType()), lambda: source.reader(LONG)):
        with pytest.raises(WireSparkError, match=f"^wire_table lacks the option {lacking}: "):
            asked()


@pytest.mark.parametrize(
    "given", [{"compression": "zip"}, {"partition": "hour"}, {"filesize": "1"}, {"frames": "maybe"}]
)
def test_wrong_options_of_the_output(given: dict[str, str]) -> None:
    with pytest.raises(WireSparkError, match=next(iter(given))):
        divided(given)


def test_tables_have_views_comments_and_a_place_in_a_catalogue(spark: SparkSession, tmp_path: Path) -> None:
    target = tmp_path / "it's"
    run_all(reader_of(CAPTURE, target, "lumberjack", partition="date", split="1MiB"))
    assert wirespark.compact(spark, target, filesize="64MiB") == wirespark.Compaction(before=0, after=0)
    found = wirespark.tables(spark, target, prefix="lj_")
    assert sorted(found) == ["lj__frames", "lj_ack", "lj_compressed", "lj_json", "lj_window"]
    assert spark.sql("select count(*) from lj_json where date = '2026-11-21'").collect()[0][0] == 60
    told = {row["col_name"]: row["comment"] for row in spark.sql("describe lj_json").collect()}
    assert told["_file"] == "The file from which the bytes were read." and told["document"]
    kept = wirespark.tables(spark, target, prefix="kept_", database="default")
    assert kept["kept_json"].count() == 60 and kept["kept_json"].where("date is null").count() == 0
    told = {row["col_name"]: row["comment"] for row in spark.sql("describe default.kept_json").collect()}
    assert told["_path"] == "The field that holds it, of the frame outside."
    for name in wirespark.tables(spark, target, prefix="kept_", database="default"):
        spark.sql(f"drop table default.`{name}`")
    assert len(list(target.rglob("*.parquet"))) == 5
    with pytest.raises(WireSparkError, match="has no tables"):
        wirespark.tables(spark, tmp_path / "nothing")


@pytest.mark.parametrize("partition", ["message", "date"])
def test_views_and_tables_have_the_files_of_the_last_run(
    spark: SparkSession, tmp_path: Path, partition: str
) -> None:
    """Spark keeps lists of files: rows were missing, and files that were merged were gone."""
    target = tmp_path / "target"

    def convert(numbers: range) -> None:
        source = written(tmp_path / "source", numbers)
        wirespark.convert(spark, source, target, protocol="lumberjack", partition=partition)

    def check(n_rows: int) -> None:
        for name in ("now_data", "default.now_data"):
            [row] = spark.sql(f"select count(*), count(distinct sequence) from {name}").collect()
            assert (row[0], row[1]) == (n_rows, n_rows), name

    convert(range(3))
    for database in (None, "default"):
        wirespark.tables(spark, target, prefix="now_", database=database)
    check(3)
    convert(range(3, 5))
    check(5)
    (tmp_path / "source" / "000.writer.bin").write_bytes(streamed(lj.Data(7, []), lj.Data(8, [])))
    convert(range(0))
    check(6)
    assert wirespark.compact(spark, target).after
    check(6)
    spark.sql("drop table default.now_data")
    convert(range(5, 6))  # what was dropped is not made again, and does not disturb
    assert spark.table("now_data").count() == 7 and not spark.catalog.tableExists("default.now_data")
    for name in ("now_window", "now__frames"):
        spark.sql(f"drop table default.{name}")


def test_a_table_of_the_catalogue_has_the_days_of_the_last_run(spark: SparkSession, tmp_path: Path) -> None:
    source, target = tmp_path / "source", tmp_path / "target"
    given = {"protocol": "lumberjack", "partition": "date"}
    source.mkdir()
    shutil.copy(CAPTURES / "npm-w10-plain.pcap", source)
    wirespark.convert(spark, source, target, **given)
    for database in (None, "default"):
        wirespark.tables(spark, target, prefix="days_", database=database)
    wirespark.convert(spark, written(source, range(1)), target, **given)
    for name in ("days_data", "default.days_data"):
        assert spark.table(name).where("date = '2026-11-21'").count() == 10
        assert spark.table(name).where("date is null").count() == 1
    for row in spark.sql("show tables in default like 'days_*'").collect():
        if not row["isTemporary"]:
            spark.sql(f"drop table default.{row['tableName']}")
