"""`convert`: a table for each message, receipts, and the state after a run is killed."""

from __future__ import annotations

import json
import os
import random
import signal
import struct
import subprocess
import sys
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

pytest.importorskip("pyspark", reason="the extra `spark` is not installed")
pytestmark = pytest.mark.xdist_group("spark")

from pyarrow import parquet as pq  # noqa: E402
from pyspark.sql.types import StructType  # noqa: E402
from tests.pipeline.damage import damaged  # noqa: E402
from tests.pipeline.rows import rows_of  # noqa: E402
from tests.pipeline.streams import stream_of  # noqa: E402

from wiregen.tools.cli import spark_session  # noqa: E402
from wiregen.tools.cli.spark import print_summary  # noqa: E402
from wirespark import WireSparkError, convert  # noqa: E402
from wirespark.batches import Slice  # noqa: E402
from wirespark.conversion import summary_of  # noqa: E402
from wirespark.convert_source import ConvertPartition, ConvertReader, ConvertSource, results_of  # noqa: E402
from wirespark.disk_targets import DiskTarget  # noqa: E402
from wirespark.options import ReadOptions, Wishes  # noqa: E402
from wirespark.output import divided  # noqa: E402
from wirespark.parquet import TableWriters, folder_of  # noqa: E402
from wirespark.planning import parts_of  # noqa: E402
from wirespark.receipts import FOLDER, BundleResult, Counts  # noqa: E402
from wirespark.targets import target_of  # noqa: E402
from wirespark.task_groups import packed, shared_if_many  # noqa: E402

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

ROOT = Path(__file__).resolve().parents[2]
CAPTURES = ROOT / "examples" / "captures"
N_KILLS = 20 if os.environ.get("HYPOTHESIS_PROFILE") == "soak" else 2


def table(target: Path, folder: str) -> list[dict[str, Any]]:
    files = sorted((target / folder).glob("*.parquet"))
    return [row for file in files for row in pq.ParquetFile(file).read().to_pylist()]


def check_target(target: Path, rows: list[dict[str, Any]]) -> None:
    """Check that the tables hold these rows of the wide table, each once."""
    frames = sorted(table(target, "_frames"), key=lambda row: row["_offset"])
    assert [(row["_offset"], row["_size"], row["_message"]) for row in frames] == [
        (row["_offset"], row["_size"], row["_message"]) for row in rows
    ]
    names = {row["_message"] for row in rows if row["_message"]}
    assert {path.name for path in target.glob("message=*")} == {folder_of(name) for name in names}
    for name in names:
        own = [row for row in rows if row["_message"] == name]
        found = sorted(table(target, folder_of(name)), key=lambda row: row["_offset"])
        assert [row["_offset"] for row in found] == [row["_offset"] for row in own]
        for row, wide in zip(found, own, strict=True):
            assert {key: row[key] for key in wide.get(name) or {}} == (wide.get(name) or {})
    assert not list(target.rglob("*.tmp"))


def test_captures_become_a_table_for_each_message(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    target = tmp_path / "target"
    summary = convert(spark, CAPTURES / "*.pcap", target, protocol="lumberjack")
    assert summary.messages == {"Compressed": 7, "Ack": 8, "Data": 10, "Window": 8} and not summary.errors
    assert (summary.parts, summary.resumed, summary.rows) == (3, 0, 33)
    data = spark.read.parquet(str(target / "message=data"))
    assert data.selectExpr("sum(size(pairs))").collect()[0][0] == 30
    assert summary.inner == {"Json": 68} and spark.read.parquet(str(target / "message=json")).count() == 68
    monkeypatch.chdir(tmp_path)  # where Java is not
    again = convert(spark, CAPTURES / "*.pcap", "target", protocol="lumberjack")
    assert (again.parts, again.resumed, again.rows, again.new_size) == (3, 3, 33, 0)
    assert spark.read.parquet(str(target / "_frames")).count() == 33


def test_wrong_wishes_are_refused_at_once(spark: SparkSession, tmp_path: Path) -> None:
    with pytest.raises(WireSparkError, match="no protocol"):
        convert(spark, CAPTURES, tmp_path / "target", protocol="nothing")
    (tmp_path / "empty").mkdir()
    (tmp_path / "empty" / "_hidden.writer.bin").write_bytes(b"")
    with pytest.raises(WireSparkError, match="no files below .*empty, hidden ones apart: give a folder"):
        convert(spark, tmp_path / "empty", tmp_path / "target", protocol="lumberjack")
    assert not (tmp_path / "target").exists()


def test_what_a_task_says_is_said_without_stacks(
    spark: SparkSession, stream: tuple[Path, list[dict[str, Any]]], tmp_path: Path
) -> None:
    path, rows = stream
    bad = next(row for row in rows if row["_error"] is not None)
    with pytest.raises(WireSparkError) as caught:
        convert(spark, path, tmp_path / "target", protocol="reactive_streams", mode="FAILFAST")
    assert str(caught.value).startswith(f"{bad['_error']['code']} at ")
    assert f" in the frame at {bad['_offset']} of {path}" in str(caught.value)
    assert "\n" not in str(caught.value)
    with pytest.raises(WireSparkError, match="no file is named"):
        convert(spark, tmp_path / "nothing", tmp_path / "target", protocol="reactive_streams")


# ---- without Spark: the work of a task


def test_many_small_parts_share_tasks(tmp_path: Path) -> None:
    for number in range(100):
        (tmp_path / f"{number:03}.server.bin").write_bytes(bytes(40_000))
    given = {"protocol": "reactive_streams", "path": str(tmp_path), "index": "false"}
    parts = parts_of(ReadOptions.of(given))
    sizes = [40_000] * len(parts)
    bundles = list(shared_if_many(parts, sizes))
    assert [part for bundle in bundles for part in bundle] == list(parts) and len(bundles) == 1
    assert [len(each) for each in shared_if_many(parts, [10 << 20] * len(parts))][:2] == [6, 6]
    assert list(shared_if_many(parts[:10], sizes[:10])) == [(part,) for part in parts[:10]]
    assert list(packed((), (), 1 << 27)) == []
    sizes = [120 << 20, *[100 << 10] * 5000]
    assert max(map(len, packed(range(5001), sizes, 1 << 40))) < 1500


def reader_of(path: Path | str, target: Path | str, protocol: str, **options: str) -> ConvertReader:
    given = {
        "protocol": protocol,
        "path": str(path),
        "index": "false",
        "split": "1KiB",
        "batch": "512",
        **options,
    }
    output, read = divided(given)
    return ConvertReader(target_of(str(target), ReadOptions.of(read), output))


def run_all(reader: ConvertReader) -> list[bool]:
    """Convert, and return which of the results are of earlier runs."""
    return [result.is_resumed for result in results_in(reader) if result.n_parts]


def results_in(reader: ConvertReader) -> list[BundleResult]:
    return results_of(
        [row for each in reader.partitions() for batch in reader.read(each) for row in batch.to_pylist()]
    )


@pytest.fixture
def stream(tmp_path: Path) -> tuple[Path, list[dict[str, Any]]]:
    """A stream with damages in it, in a file, and its rows."""
    made = stream_of("reactive_streams", 7, 1000)
    path = tmp_path / f"stream.{made.role}.bin"
    path.write_bytes(damaged(made.data, random.Random(1)))
    return path, rows_of(path.read_bytes(), Wishes(protocol=made.protocol, role=made.role), tmp_path)


def test_other_cuts_replace_what_was_there(stream: tuple[Path, list[dict[str, Any]]], tmp_path: Path) -> None:
    path, rows = stream
    target = tmp_path / "target"
    for split in ("1024", "1500", "1MiB", "1100"):
        assert not any(run_all(reader_of(path, target, "reactive_streams", split=split))[1:])
        check_target(target, rows)
    assert all(run_all(reader_of(path, target, "reactive_streams", split="1100")))


def test_a_changed_file_is_converted_again(stream: tuple[Path, list[dict[str, Any]]], tmp_path: Path) -> None:
    path, rows = stream
    target = tmp_path / "target"
    run_all(reader_of(path, target, "reactive_streams", split="1MiB"))
    path.write_bytes(path.read_bytes()[: rows[50]["_offset"]])
    *_, taken_out, new = results_in(reader_of(path, target, "reactive_streams", split="1MiB"))
    assert (taken_out.n_parts, taken_out.counts.replaced) == (0, len(rows))
    assert (new.n_parts, new.counts.replaced, new.is_resumed) == (1, 0, False)
    check_target(
        target, rows_of(path.read_bytes(), Wishes(protocol="reactive_streams", role="server"), tmp_path)
    )


def test_a_file_that_is_read_otherwise_is_converted_again(tmp_path: Path) -> None:
    """As a stream, or as a capture."""
    target = tmp_path / "target"

    def converted(capture: str) -> list[BundleResult]:
        options = {"capture": capture, "from": "writer", "split": "64MiB"}
        return results_in(reader_of(CAPTURES / "npm-w10-plain.pcap", target, "lumberjack", **options))

    (as_stream,) = converted("false")
    taken_out, as_capture = converted("true")
    assert (taken_out.counts.replaced, as_capture.is_resumed) == (as_stream.counts.rows, False)
    assert as_capture.counts.messages and not as_stream.counts.messages
    assert [each.is_resumed for each in converted("true")] == [True]


def test_the_summary_tells_what_was_replaced(capsys: pytest.CaptureFixture[str]) -> None:
    counts = Counts(size=7, rows=2, replaced=1897)
    summary = summary_of([BundleResult(n_parts=1, counts=counts, is_resumed=False)], 1.0)
    print_summary(summary)
    printed = capsys.readouterr().out
    assert "replaced           1,897 frames and errors of earlier runs" in printed
    assert "--port" not in printed


def test_the_summary_says_what_to_do_about_no_rows(capsys: pytest.CaptureFixture[str]) -> None:
    print_summary(summary_of([BundleResult(n_parts=1, counts=Counts(size=7), is_resumed=False)], 1.0))
    assert "no frames          try another --port or --protocol\n" in capsys.readouterr().out


def test_failfast_leaves_nothing_of_the_part(
    stream: tuple[Path, list[dict[str, Any]]], tmp_path: Path
) -> None:
    path, _ = stream
    target = tmp_path / "target"
    with pytest.raises(WireSparkError):
        run_all(reader_of(path, target, "reactive_streams", mode="FAILFAST", split="1MiB"))
    assert {p.name for p in target.rglob("*") if p.is_file()} == {"_target", "_bundles"}


def test_two_runs_at_once_end_well(stream: tuple[Path, list[dict[str, Any]]], tmp_path: Path) -> None:
    """Each returns its rows, whichever cleans while the other writes; and rows are not doubled."""
    path, rows = stream
    target = tmp_path / "target"
    readers = [reader_of(path, target, "reactive_streams") for _ in range(3)]
    with ThreadPoolExecutor(len(readers)) as threads:
        runs = [each.result() for each in [threads.submit(run_all, reader) for reader in readers]]
    assert len({len(run) for run in runs}) == 1 and len(runs[0]) > 3
    check_target(target, rows)


def test_what_is_being_written_is_hidden_and_stays(
    stream: tuple[Path, list[dict[str, Any]]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A run that comes while another one is between two batches removes nothing of that, and nobody reads it."""
    path, rows = stream
    target = tmp_path / "target"
    seen: list[str] = []
    write = TableWriters.write

    def written(writers: TableWriters, folder: str, batch: Any) -> None:
        write(writers, folder, batch)
        if not seen:
            files = [file for file in target.rglob("*") if file.suffix == ".tmp"]
            seen.extend(file.name for file in files)
            run_all(reader_of(path, target, "reactive_streams"))
            assert all(file.is_file() for file in files)

    monkeypatch.setattr(TableWriters, "write", written)
    run_all(reader_of(path, target, "reactive_streams"))
    assert seen and all(name.startswith((".", "_")) for name in seen)
    check_target(target, rows)


def test_a_run_with_other_cuts_stops_the_one_before(
    stream: tuple[Path, list[dict[str, Any]]], tmp_path: Path
) -> None:
    path, rows = stream
    target = tmp_path / "target"
    first = reader_of(path, target, "reactive_streams")
    parts = first.partitions()
    run_all(reader_of(path, target, "reactive_streams", split="1500"))
    with pytest.raises(WireSparkError, match="wait for it to end"):
        list(first.read(parts[1]))
    check_target(target, rows)


def test_a_changed_file_leaves_no_other_message(
    stream: tuple[Path, list[dict[str, Any]]], tmp_path: Path
) -> None:
    """Rows that a killed run has named, but has no receipt of, are not kept for the changed content of the file."""
    path, rows = stream
    target = tmp_path / "target"
    run_all(reader_of(path, target, "reactive_streams", split="1MiB"))
    for receipt in (target / FOLDER).glob("*.json"):
        receipt.unlink()
    path.write_bytes(path.read_bytes()[: rows[1]["_offset"]])
    run_all(reader_of(path, target, "reactive_streams", split="1MiB"))
    files = list(target.glob("message=*/*.parquet"))
    assert [file.parent.name for file in files] == [folder_of(rows[0]["_message"])]


def test_a_file_that_changes_meanwhile_is_not_taken(
    stream: tuple[Path, list[dict[str, Any]]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, _ = stream
    target = tmp_path / "target"
    finish = TableWriters.finish

    def finished(writers: TableWriters) -> None:
        finish(writers)
        os.utime(path, ns=(1, 1))

    monkeypatch.setattr(TableWriters, "finish", finished)
    with pytest.raises(WireSparkError, match="changed while it was converted"):
        run_all(reader_of(path, target, "reactive_streams", split="1MiB"))
    assert not list(target.rglob("*.parquet")) and not list(target.rglob("*.tmp"))


def test_a_target_is_for_one_protocol_and_one_way_of_reading(
    stream: tuple[Path, list[dict[str, Any]]], tmp_path: Path
) -> None:
    path, rows = stream
    target = tmp_path / "target"
    run_all(reader_of(path, target, "reactive_streams"))
    for protocol, options, said in (
        ("lumberjack", {}, "was filled with protocol reactive_streams, not with protocol lumberjack"),
        ("reactive_streams", {"mode": "DROPMALFORMED"}, "mode PERMISSIVE, not with mode DROPMALFORMED"),
        ("reactive_streams", {"limit.frame": "1MiB"}, "limits as they are, not with limits frame=1048576"),
        ("reactive_streams", {"strict": "true"}, "strict false, not with strict true: give another target"),
    ):
        with pytest.raises(WireSparkError, match=said):
            reader_of(path, target, protocol, **options).partitions()
    assert all(run_all(reader_of(path, target, "reactive_streams")))
    check_target(target, rows)


def test_a_target_in_the_source_or_a_file_is_refused(tmp_path: Path) -> None:
    (tmp_path / "source").mkdir()
    (tmp_path / "source" / "x.server.bin").write_bytes(b"")
    for source, target in (("source", "source"), ("source", "source/tables"), ("sour*", "source/tables/a")):
        given = {"protocol": "lumberjack", "path": str(tmp_path / source), "target": str(tmp_path / target)}
        with pytest.raises(WireSparkError, match="is inside of the source"):
            ConvertSource(given).reader(StructType())
    with pytest.raises(WireSparkError, match="give an existing or a new folder"):
        reader_of(
            tmp_path / "source/x.server.bin", tmp_path / "source/x.server.bin", "lumberjack"
        ).partitions()


def test_what_is_dropped_is_no_row(stream: tuple[Path, list[dict[str, Any]]], tmp_path: Path) -> None:
    path, rows = stream
    target = tmp_path / "target"
    run_all(reader_of(path, target, "reactive_streams", mode="DROPMALFORMED", split="1MiB"))
    [receipt] = DiskTarget(target).contents().receipts
    n_bad = sum(row["_error"] is not None for row in rows)
    assert 0 < n_bad == receipt.total.dropped == sum(receipt.total.errors.values())
    assert receipt.total.rows == len(rows) - n_bad == len(table(target, "_frames"))


@pytest.mark.parametrize("split", ["64MiB", "1KiB"], ids=["whole", "in shares"])
def test_what_a_capture_lacks_is_in_the_receipts(
    tmp_path: Path, split: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """The first 120 bytes of each packet were captured, and the last record is cut."""
    data = (CAPTURES / "npm-w10-plain.pcap").read_bytes()
    cut, place = data[:24], 24
    while place < len(data):
        seconds, ticks, captured, size = struct.unpack_from("<4I", data, place)
        kept = min(captured, 120)
        cut += struct.pack("<4I", seconds, ticks, kept, size) + data[place + 16 : place + 16 + kept]
        place += 16 + captured
    (tmp_path / "cut.pcap").write_bytes(cut[:-5])
    target = tmp_path / "target"
    run_all(reader_of(tmp_path / "cut.pcap", target, "lumberjack", split=split))
    receipts = DiskTarget(target).contents().receipts
    summary = summary_of([each.result(is_resumed=False) for each in receipts], 1.0)
    assert (summary.missing, summary.issues) == (260, {"cut_packet": 10, "truncated_file": 1})
    assert sum(row["_size"] for row in table(target, "_frames")) == summary.size + summary.missing
    print_summary(summary)
    assert (
        "\nmissing            260 bytes in captures (cut_packet 10, truncated_file 1)\n"
        in capsys.readouterr().out
    )


def test_a_receipt_names_no_file_elsewhere(stream: tuple[Path, list[dict[str, Any]]], tmp_path: Path) -> None:
    path, _ = stream
    target, other = tmp_path / "target", tmp_path / "other.parquet"
    other.write_bytes(b"mine")
    run_all(reader_of(path, target, "reactive_streams"))
    receipt = next((target / FOLDER).glob("*.json"))
    told = json.loads(receipt.read_text()) | {"files": ["../other.parquet"]}
    receipt.write_text(json.dumps(told))
    with pytest.raises(ValueError, match="is not below"):
        run_all(reader_of(path, target, "reactive_streams", split="1MiB"))
    assert other.read_bytes() == b"mine"


TASK = """
import sys
from pathlib import Path
from tests.pipeline.test_convert import reader_of, run_all
print("ready", flush=True)
run_all(reader_of(Path(sys.argv[1]), Path(sys.argv[2]), "reactive_streams"))
"""


@pytest.mark.parametrize("number", range(N_KILLS))
def test_a_killed_run_is_taken_up(
    stream: tuple[Path, list[dict[str, Any]]],
    tmp_path: Path,
    number: int,
    evidence: Callable[..., None],
) -> None:
    """Killed at a moment by chance, a run has lost nothing and doubled nothing once another one is through."""
    path, rows = stream
    target = tmp_path / "target"
    dice = random.Random(number)
    places = [str(ROOT / each) for each in (".", "generator", "generated/python", "pipeline", "examples")]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(places)}
    process = subprocess.Popen(
        [sys.executable, "-c", TASK, str(path), str(target)],
        env=environment,
        stdout=subprocess.PIPE,
        cwd=ROOT,
    )
    assert process.stdout is not None and process.stdout.readline() == b"ready\n"
    time.sleep(dice.random() * 0.25)
    process.send_signal(signal.SIGKILL)
    process.wait()
    process.stdout.close()
    run_all(reader_of(path, target, "reactive_streams", split=dice.choice(("1KiB", "1100"))))
    check_target(target, rows)
    evidence("convert_kills", count=1, failures=0, rows=len(rows), rows_lost_or_doubled=0)


def test_partitions_travel(stream: tuple[Path, list[dict[str, Any]]], tmp_path: Path) -> None:
    from pyspark import cloudpickle

    reader = reader_of(stream[0], tmp_path / "target", "reactive_streams")
    dumps: Any = cloudpickle.dumps
    for partition in cloudpickle.loads(dumps(reader.partitions())):
        assert isinstance(partition, ConvertPartition) and isinstance(partition.parts[0], Slice)


def test_a_protocol_is_the_same_one_by_each_of_its_names(
    stream: tuple[Path, list[dict[str, Any]]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By its module, by the package around it, and in the package that the command builds."""
    path, rows = stream
    target = tmp_path / "target"
    built = spark_session._build("reactive_streams", tmp_path / "built")
    monkeypatch.syspath_prepend(str(tmp_path / "built" / "python"))
    assert not any(run_all(reader_of(path, target, "reactive_streams")))
    for name in ("wireproto.reactive_streams", built):
        assert all(run_all(reader_of(path, target, name)))
    spark_session._forget()
    check_target(target, rows)
