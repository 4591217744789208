"""`df.write.format("wire")`: rows are written to their original bytes, wherever they have been meanwhile;
all of them or none.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

pytest.importorskip("pyspark", reason="the extra `spark` is not installed")
pytestmark = pytest.mark.xdist_group("spark")

import pyarrow as pa  # noqa: E402
from pyspark.sql import functions as F  # noqa: E402
from tests.pipeline.streams import stream_of  # noqa: E402

from wireproto import lumberjack as lj  # noqa: E402
from wirespark import WireSparkError, in_order, stream_writing  # noqa: E402
from wirespark.encoding import encoder_of  # noqa: E402
from wirespark.writing import WriteOptions  # noqa: E402

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

CAPTURES = Path(__file__).resolve().parents[2] / "examples" / "captures"


def read(spark: SparkSession, path: Path | str, protocol: str, **options: Any) -> DataFrame:
    reader = spark.read.format("wire").option("protocol", protocol).option("index", "false")
    return reader.options(**options).load(str(path))


def write(table: DataFrame, path: Path, protocol: str, mode: str = "append", **options: Any) -> None:
    table.write.format("wire").option("protocol", protocol).options(**options).mode(mode).save(str(path))


def rows(table: DataFrame) -> list[Any]:
    """Return the rows of a table, without the columns of their place."""
    kept = table.drop("_file", "_flow", "_time")
    return sorted(
        (row.asDict(recursive=True) for row in kept.collect()),
        key=lambda row: (row["_from"] or "", row["_offset"], str(row)),
    )


def files(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.rglob("*.bin")}


@pytest.mark.parametrize("protocol", ["pravega", "lumberjack"])
def test_a_stream_is_written_as_it_was(spark: SparkSession, tmp_path: Path, protocol: str) -> None:
    """Cut into many tasks, shuffled, with bad bytes in it."""
    stream = stream_of(protocol, 2, 24)
    data = stream.data[: stream.ends[5]] + b"\xff\xfe\xfd" + stream.data[stream.ends[5] :]
    path = tmp_path / f"stream.{stream.role}.bin"
    path.write_bytes(data)
    table = read(spark, path, protocol, split="1500")
    for number, shuffled in enumerate((table, table.repartition(3, F.rand(7)))):
        target = tmp_path / f"target{number}"
        write(shuffled, target, protocol)
        (found,) = files(target).values()
        assert found == data
        assert rows(read(spark, target, protocol)) == rows(table)
    assert not list(tmp_path.glob(".*"))


def test_rows_without_offsets_are_joined_task_by_task(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each task's frames are one piece of the stream: a piece for each frame would be a call of the system each."""
    encoder, copies = encoder_of("lumberjack", role="writer"), list[int]()
    copy = stream_writing._copy

    def counted(run: stream_writing.StreamRun, start: int, size: int, target: int) -> None:
        copies.append(size)
        copy(run, start, size, target)

    monkeypatch.setattr(stream_writing, "_copy", counted)
    found: list[stream_writing.StreamRun] = []
    for sizes in ([1, 2, 3], [4, 5]):
        runs = stream_writing.Runs(tmp_path, encoder, "writer")
        runs.take({"Window": pa.array([{"size": size} for size in sizes])}, len(sizes))
        found += runs.finish()
    [path] = stream_writing.merged(found, tmp_path, is_one=False)
    assert path.read_bytes() == b"".join(lj.encode(lj.Window(size)) for size in range(1, 6))
    assert copies == [18, 12]


def test_what_frames_say_of_later_ones_needs_their_order(spark: SparkSession, tmp_path: Path) -> None:
    stream = stream_of("reactive_streams", 2, 800)
    path = tmp_path / "stream.server.bin"
    path.write_bytes(stream.data)
    table = read(spark, path, "reactive_streams", split="1KiB")
    write(in_order(table.repartition(4)), tmp_path / "target", "reactive_streams")
    (found,) = files(tmp_path / "target").values()
    assert found == stream.data
    with pytest.raises(Exception, match="in_order"):
        write(table, tmp_path / "other", "reactive_streams")
    assert not (tmp_path / "other").exists()


def test_a_capture_becomes_a_file_for_each_direction(spark: SparkSession, tmp_path: Path) -> None:
    table = read(spark, CAPTURES / "npm-w10-plain.pcap", "lumberjack")
    write(table, tmp_path / "target", "lumberjack")
    assert {name.split(".")[1] for name in files(tmp_path / "target")} == {"reader", "writer"}
    assert rows(read(spark, tmp_path / "target", "lumberjack")) == rows(table)


def test_append_and_overwrite(spark: SparkSession, tmp_path: Path) -> None:
    table = spark.createDataFrame([(3,), (4,)], "size int").coalesce(1)
    target = tmp_path / "target"
    for _ in range(2):
        write(table, target, "lumberjack", message="Window", **{"from": "writer"})
    assert read(spark, target, "lumberjack").count() == 4
    write(table.where("size = 3"), target, "lumberjack", "overwrite", message="Window", **{"from": "writer"})
    assert list(files(target).values()) == [lj.encode(lj.Window(3))]
    assert [path.name for path in tmp_path.iterdir()] == ["target"]


def test_another_backend(spark: SparkSession, tmp_path: Path) -> None:
    pytest.importorskip("msgspec", reason="the extra `msgpack` is not installed")
    from wireproto.lumberjack import msgpack

    write(
        spark.createDataFrame([(3,)], "size int"),
        tmp_path / "t",
        "lumberjack",
        message="Window",
        backend="msgpack",
    )
    assert b"".join(files(tmp_path / "t").values()) == msgpack.encode(lj.Window(3))


def test_nothing_is_left_of_what_fails(spark: SparkSession, tmp_path: Path) -> None:
    table = spark.createDataFrame([(3,), (-4,)], "size int").coalesce(1)
    with pytest.raises(Exception, match="cannot be written"):
        write(table, tmp_path / "target", "lumberjack", message="Window")
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("options", "message"),
    [
        pytest.param({"path": "x"}, "the protocol is missing: give its name", id="no protocol"),
        pytest.param({"protocol": "lumberjack"}, "the target is missing: give a folder", id="no target"),
        pytest.param(
            {"protocol": "lumberjack", "path": "x", "split": "3"},
            "unknown option 'split'",
            id="another option",
        ),
        pytest.param(
            {"protocol": "lumberjack", "path": "x", "backend": "y"}, "no backend 'y'", id="no backend"
        ),
    ],
)
def test_wrong_options_say_what_is_right(options: dict[str, str], message: str) -> None:
    with pytest.raises(WireSparkError, match=message):
        WriteOptions.of(options)
