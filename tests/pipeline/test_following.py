"""Files that come and files that grow, followed: whatever a batch takes, all batches together are one reading."""

from __future__ import annotations

import asyncio
import gzip
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

pytest.importorskip("pyspark", reason="the extra `spark` is not installed")
pytestmark = pytest.mark.xdist_group("spark")

from lumberjack_receiver.spool import Spool  # noqa: E402
from pyspark.sql.streaming.datasource import (  # noqa: E402
    ReadAllAvailable,
    ReadLimit,
    ReadMaxBytes,
    ReadMaxFiles,
)
from tests.pipeline.damage import damaged  # noqa: E402
from tests.pipeline.rows import rows_of  # noqa: E402
from tests.pipeline.streams import STREAMS, stream_of  # noqa: E402
from tests.pipeline.test_long_flows import write  # noqa: E402

from wireproto import lumberjack as lj  # noqa: E402
from wirespark import WireSparkError, spark_schema  # noqa: E402
from wirespark.options import ReadOptions, Wishes  # noqa: E402
from wirespark.streaming import FollowReader  # noqa: E402

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

ROOT = Path(__file__).resolve().parents[2]
CAPTURES = ROOT / "examples" / "captures"
IS_SOAK = os.environ.get("HYPOTHESIS_PROFILE") == "soak"
N_KILLS = 20 if IS_SOAK else 1


def reader_of(folder: Path, protocol: str, **options: str) -> FollowReader:
    given = {"protocol": protocol, "path": str(folder), **options}
    return FollowReader(ReadOptions.of(given), spark_schema(protocol))


def batch(reader: FollowReader, start: dict[str, Any], end: dict[str, Any]) -> list[dict[str, Any]]:
    return [
        row
        for part in reader.partitions(start, end)
        for table in reader.read(part)
        for row in table.to_pylist()
    ]


def next_offset(
    reader: FollowReader, start: dict[str, Any], limit: ReadLimit | None = None
) -> dict[str, Any]:
    """Return the next offset as a checkpoint gives it back."""
    found: dict[str, Any] = json.loads(json.dumps(reader.latestOffset(start, limit or ReadAllAvailable())))
    return found


@pytest.mark.parametrize("protocol", STREAMS)
def test_a_file_that_grows_is_one_reading(protocol: str, tmp_path: Path) -> None:
    dice = random.Random(protocol)
    for seed in range(20 if IS_SOAK else 2):
        stream = stream_of(protocol, seed, 40)
        data = damaged(stream.data, dice) if seed % 2 else stream.data
        expected = rows_of(data, Wishes(protocol=protocol, role=stream.role), tmp_path)
        path = tmp_path / f"{seed}" / f"live.{stream.role}.bin"
        path.parent.mkdir()
        path.touch()
        reader = reader_of(path.parent, protocol, growing="true", idle="1000000")
        offsets, position, rows = [reader.initialOffset()], 0, []
        while position < len(data):
            size = dice.randrange(1, 400)
            with path.open("ab") as file:
                file.write(data[position : position + size])
            position += size
            limit = dice.choice([ReadAllAvailable(), ReadMaxBytes(dice.randrange(1, 300))])
            offsets.append(next_offset(reader, offsets[-1], limit))
            rows += batch(reader, offsets[-2], offsets[-1])
        offsets.append(next_offset(reader_of(path.parent, protocol), offsets[-1]))
        rows += batch(reader, offsets[-2], offsets[-1])
        assert plain(rows) == plain(expected)
        again = [row for a, b in pairwise(offsets) for row in batch(reader, a, b)]
        assert again == rows


def plain(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [{name: value for name, value in row.items() if name not in ("_file", "_flow")} for row in rows]


def test_files_come_whole_and_once(tmp_path: Path) -> None:
    reader = reader_of(tmp_path, "lumberjack", **{"from": "writer"})
    start = reader.initialOffset()
    assert next_offset(reader, start) == start
    (tmp_path / ".hidden").write_bytes(b"half")
    for number in range(3):
        (tmp_path / f"{number}.lumberjack").write_bytes(lj.encode(lj.Window(number)))
        os.utime(tmp_path / f"{number}.lumberjack", (number, number))
    first = next_offset(reader, start, ReadMaxFiles(2))
    assert [row["Window"]["size"] for row in batch(reader, start, first)] == [0, 1]
    (tmp_path / "0.lumberjack").unlink()
    second = next_offset(reader, first)
    assert [row["Window"]["size"] for row in batch(reader, first, second)] == [2]
    assert next_offset(reader, second) == second


def test_captures_come_whole(tmp_path: Path) -> None:
    reader = reader_of(tmp_path, "lumberjack", growing="true", idle="30")
    start = reader.initialOffset()
    path = tmp_path / "new.pcap"
    path.write_bytes((CAPTURES / "npm-w10-plain.pcap").read_bytes())
    assert next_offset(reader, start) == start
    os.utime(path, (1, 1))
    end = next_offset(reader, start)
    assert len(batch(reader, start, end)) == 12


GROWING = {
    "golumber-async-pipelined.pcap": "lumberjack",
    "pravega-write-read.pcap.gz": "pravega",
    **{f"damaged {protocol}": protocol for protocol in ("lumberjack", "pravega", "reactive_streams")},
}
"""Captures of the examples, and some with packets that are lost, late and repeated, by protocol."""


def told(row: dict[str, Any]) -> str:
    """Return a row as text, without the file and the time, which a packet that comes late changes."""
    return repr({name: value for name, value in row.items() if name not in ("_file", "_time")})


@pytest.mark.parametrize("name", GROWING)
def test_a_capture_that_goes_on_has_each_row_once(name: str, tmp_path: Path) -> None:
    """It was taken for complete at places by chance, within packets too. Only errors of its ends are more, and rows after their gaps."""
    dice = random.Random(name)
    for seed in range(20 if IS_SOAK else 1):
        path = tmp_path / f"{seed}" / "live.pcap"
        path.parent.mkdir()
        if name.startswith("damaged"):
            write(path, GROWING[name], seed)
        else:
            path.write_bytes((CAPTURES / name).read_bytes())
        data = path.read_bytes()
        reader = reader_of(path, GROWING[name], growing=dice.choice(["true", "false"]), idle="0")
        start = reader.initialOffset()
        whole = Counter(map(told, batch(reader, start, next_offset(reader, start))))
        offsets, rows = [start], list[dict[str, Any]]()
        for place in (*sorted(dice.sample(range(200, len(data)), 4)), len(data)):
            path.write_bytes(data[:place])
            offsets.append(next_offset(reader, offsets[-1]))
            rows += batch(reader, *offsets[-2:])
        found = Counter(map(told, rows))
        assert {row: found[row] for row in whole} == whole
        more = [row for row in rows if told(row) not in whole]
        with_gaps = {row["_flow"] for row in more if row["_error"] and row["_error"]["code"] == "gap"}
        assert all(row["_error"] or row["_flow"] in with_gaps for row in more)
        with path.open("ab") as file:  # what comes later does not belong to a batch that is read again
            file.write(data[-len(data) // 2 :])
        assert [row for pair in pairwise(offsets) for row in batch(reader, *pair)] == rows


@pytest.mark.parametrize("size", [None, 844, 100])
def test_a_capture_that_was_replaced_is_read_from_its_beginning(tmp_path: Path, size: int | None) -> None:
    """By a longer one: the first bytes tell, however few there were. The programs that rotate captures use their names again."""
    path, first, second = tmp_path / "live.pcap", "golumber-async-pipelined.pcap", "npm-w10-plain.pcap"
    reader = reader_of(tmp_path, "lumberjack")
    path.write_bytes((CAPTURES / first).read_bytes()[:size])
    offsets = [reader.initialOffset()]
    offsets.append(next_offset(reader, offsets[-1]))
    path.write_bytes((CAPTURES / second).read_bytes())
    offsets.append(next_offset(reader, offsets[-1]))
    own = reader_of(CAPTURES / second, "lumberjack")
    expected = batch(own, own.initialOffset(), next_offset(own, own.initialOffset()))
    assert plain(batch(reader, *offsets[-2:])) == plain(expected)
    assert (CAPTURES / second).stat().st_size > (CAPTURES / first).stat().st_size


def test_a_file_that_became_shorter_is_another_one(tmp_path: Path) -> None:
    path = tmp_path / "x.writer.bin"
    path.write_bytes(lj.encode(lj.Window(1)) + lj.encode(lj.Window(2)))
    reader = reader_of(tmp_path, "lumberjack", growing="true", idle="1000")
    offset, found = reader.initialOffset(), list[list[int]]()
    for numbers in ((1, 2), (), (3, 4, 5), (6,)):
        path.write_bytes(b"".join(lj.encode(lj.Window(number)) for number in numbers))
        if numbers == (6,):
            os.utime(path, (1, 1))
        start, offset = offset, next_offset(reader, offset)
        found.append(windows(reader, start, offset))
    assert found == [[1], [], [3, 4], [6]]


DAY = 86_400


def arrive(folder: Path, number: int, days: float) -> None:
    """Put a file into the folder, as it was modified so many days after the first one."""
    path = folder / f"{number}.lumberjack"
    path.write_bytes(lj.encode(lj.Window(number)))
    os.utime(path, (10**9 + days * DAY, 10**9 + days * DAY))


def windows(reader: FollowReader, start: dict[str, Any], end: dict[str, Any]) -> list[int]:
    return [row["Window"]["size"] for row in batch(reader, start, end)]


def test_many_small_files_are_few_tasks(tmp_path: Path) -> None:
    reader = reader_of(tmp_path, "lumberjack", **{"from": "writer"})
    for number in range(300):
        arrive(tmp_path, number, number / 1000)
    start = reader.initialOffset()
    end = next_offset(reader, start)
    assert len(reader.partitions(start, end)) == 1
    assert sorted(windows(reader, start, end)) == list(range(300))


def test_an_offset_does_not_grow_with_the_files_that_were_read(tmp_path: Path) -> None:
    reader = reader_of(tmp_path, "lumberjack", **{"from": "writer"})
    offset, found, sizes = reader.initialOffset(), list[int](), list[int]()
    for day in range(40):
        for number in range(5):
            arrive(tmp_path, 5 * day + number, day + number / 10)
        start, offset = offset, next_offset(reader, offset)
        found += windows(reader, start, offset)
        sizes.append(len(json.dumps(offset)))
    assert found == list(range(200))
    assert max(sizes) < 1.1 * sizes[8] and len(json.loads(offset["files"])) == 36
    assert next_offset(reader_of(tmp_path, "lumberjack"), offset) == offset


def test_a_late_file_is_read_up_to_an_age(tmp_path: Path) -> None:
    reader = reader_of(tmp_path, "lumberjack", **{"from": "writer", "maxfileage": "36h"})
    start = reader.initialOffset()
    arrive(tmp_path, 1, 10)
    first = next_offset(reader, start)
    arrive(tmp_path, 2, 9)
    arrive(tmp_path, 3, 8)
    second = next_offset(reader, first)
    assert (windows(reader, start, first), windows(reader, first, second)) == ([1], [2])
    (tmp_path / "3.lumberjack").write_bytes(lj.encode(lj.Window(4)))
    third = next_offset(reader, second)
    assert windows(reader, second, third) == [4]
    assert next_offset(reader, third) == third


def test_files_that_wait_for_their_batch_are_never_too_old(tmp_path: Path) -> None:
    reader = reader_of(tmp_path, "lumberjack", **{"from": "writer", "maxfileage": "0"})
    for number in range(6):
        arrive(tmp_path, number, 100 * number)
    offset, found = reader.initialOffset(), list[int]()
    for _ in range(4):
        start, offset = offset, next_offset(reader, offset, ReadMaxFiles(2))
        found += windows(reader, start, offset)
        assert len(json.loads(offset["files"])) <= 4
    assert found == list(range(6))


def test_a_file_that_was_removed_comes_again(tmp_path: Path) -> None:
    reader = reader_of(tmp_path, "lumberjack", **{"from": "writer"})
    arrive(tmp_path, 1, 1)
    arrive(tmp_path, 2, 1)
    offsets = [reader.initialOffset()]
    offsets.append(next_offset(reader, offsets[-1]))
    (tmp_path / "1.lumberjack").unlink()
    offsets.append(next_offset(reader, offsets[-1]))
    arrive(tmp_path, 1, 1.5)
    offsets.append(next_offset(reader, offsets[-1]))
    assert [windows(reader, *pair) for pair in pairwise(offsets)] == [[1, 2], [], [1]]


def test_a_file_from_the_future_makes_no_other_too_old(tmp_path: Path) -> None:
    reader = reader_of(tmp_path, "lumberjack", **{"from": "writer"})
    arrive(tmp_path, 1, 1_000_000)
    first = next_offset(reader, reader.initialOffset())
    (tmp_path / "2.lumberjack").write_bytes(lj.encode(lj.Window(2)))
    assert windows(reader, first, next_offset(reader, first)) == [2]


def test_a_growing_file_goes_on_at_any_age(tmp_path: Path) -> None:
    reader = reader_of(tmp_path, "lumberjack", **{"from": "writer", "growing": "true"})
    arrive(tmp_path, 1, 1)
    first = next_offset(reader, reader.initialOffset())
    arrive(tmp_path, 2, 100)
    second = next_offset(reader, first)
    with (tmp_path / "1.lumberjack").open("ab") as file:
        file.write(lj.encode(lj.Window(3)))
    os.utime(tmp_path / "1.lumberjack", (10**9 + 200 * DAY, 10**9 + 200 * DAY))
    third = next_offset(reader, second)
    assert [windows(reader, first, second), windows(reader, second, third)] == [[2], [3]]


def test_the_offset_of_an_earlier_version_goes_on(tmp_path: Path) -> None:
    reader = reader_of(tmp_path, "lumberjack", **{"from": "writer"})
    arrive(tmp_path, 1, 1)
    told = {str(tmp_path / "1.lumberjack"): {"at": 6, "whole": True}}
    before = {"files": json.dumps(told)}
    arrive(tmp_path, 2, 0)
    assert windows(reader, before, next_offset(reader, before)) == [2]


@pytest.mark.parametrize("text", ["", "h", "-1", "1w", "1e3", "１d"])
def test_an_age_is_a_duration(text: str, tmp_path: Path) -> None:
    with pytest.raises(WireSparkError, match=r"maxfileage is .*: give a duration, such as 3600, 12h or 7d"):
        reader_of(tmp_path, "lumberjack", maxFileAge=text)


# ---- on Spark


async def stored(folder: Path, data: bytes) -> None:
    """Store bytes as the receiver of the examples does."""
    spool = Spool(folder, max_file=1 << 20)
    await spool.store(data)
    await spool.close()


def run_query(spark: SparkSession, source: Path, target: Path, **options: str) -> None:
    table = (
        spark.readStream.format("wire").option("protocol", "lumberjack").options(**options).load(str(source))
    )
    query = (
        table.select("_file", "_offset", "_size", "_message", "_error")
        .writeStream.format("parquet")
        .option("checkpointLocation", str(target / "checkpoint"))
        .trigger(availableNow=True)
        .start(str(target / "table"))
    )
    query.awaitTermination()


def test_what_the_receiver_stores_flows_in(spark: SparkSession, tmp_path: Path) -> None:
    """Files under their last names are whole; each is taken once, over restarts of the query."""
    source, target = tmp_path / "spool", tmp_path / "target"
    for number in range(2):
        asyncio.run(stored(source, lj.encode(lj.Window(number + 1)) + lj.encode(lj.Json(1, b"{}"))))
        run_query(spark, source, target, maxFilesPerTrigger="1", **{"from": "writer"})
    found = spark.read.parquet(str(target / "table"))
    assert found.where("_message = 'Window'").count() == 2
    assert found.where("_error is not null").count() == 0
    sizes = found.groupBy("_file").sum("_size").collect()
    assert sorted(row[1] for row in sizes) == sorted(
        path.stat().st_size for path in source.glob("*.lumberjack")
    )


PROGRAM = """
import sys
from pathlib import Path
import wirespark
from tests.pipeline.conftest import CONFIG
from tests.pipeline.test_following import run_query
spark = wirespark.session("killed", master="local[2]", config=CONFIG)
print("ready", flush=True)
run_query(spark, Path(sys.argv[1]), Path(sys.argv[2]), maxFilesPerTrigger="2", **{"from": "writer"})
"""


def test_killed_queries_lose_and_double_nothing(
    spark: SparkSession, tmp_path: Path, evidence: Callable[..., None]
) -> None:
    """Killed at moments by chance, Java and all, and started again from its checkpoint."""
    source, target, dice = tmp_path / "source", tmp_path / "target", random.Random(3)
    source.mkdir()
    for number in range(10):
        frames = [lj.encode(lj.Json(n, b"{}" * dice.randrange(9))) for n in range(dice.randrange(1, 30))]
        (source / f"{number:04}.lumberjack").write_bytes(b"".join(frames))
    for _ in range(N_KILLS):
        killed(source, target, dice.random() * 6)
        forget_what_never_began(target)
    run_query(spark, source, target, **{"from": "writer"})
    table = spark.read.parquet(str(target / "table"))
    rows = sorted((Path(row["_file"]).name, row["_offset"], row["_size"]) for row in table.collect())
    expected = [
        (path.name, row["_offset"], row["_size"])
        for path in sorted(source.iterdir())
        for row in rows_of(path.read_bytes(), Wishes(protocol="lumberjack", role="writer"), tmp_path)
    ]
    assert rows == expected
    evidence("query_kills", count=N_KILLS, failures=0, rows=len(rows), rows_lost_or_doubled=0)


def killed(source: Path, target: Path, seconds: float) -> None:
    """Run a query in a process of its own, and kill that with all that it has started."""
    places = [str(ROOT / each) for each in (".", "generator", "generated/python", "pipeline", "examples")]
    process = subprocess.Popen(
        [sys.executable, "-c", PROGRAM, str(source), str(target)],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(places)},
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        cwd=ROOT,
        start_new_session=True,
    )
    assert process.stdout is not None and process.stdout.readline() == b"ready\n"
    time.sleep(seconds)
    os.killpg(process.pid, signal.SIGKILL)
    process.wait()
    process.stdout.close()


def forget_what_never_began(target: Path) -> None:
    """Delete a checkpoint without a first batch, as Spark asks for: it was killed while it wrote its first entry."""
    offsets = target / "checkpoint" / "offsets"
    if offsets.is_dir() and any(offsets.iterdir()) and not (offsets / "0").exists():
        assert not list(target.glob("table/*.parquet"))
        shutil.rmtree(target / "checkpoint")


def test_a_capture_of_a_stream_is_shared_among_tasks_unless_it_is_compressed(tmp_path: Path) -> None:
    packed = CAPTURES / "pravega-write-read.pcap.gz"
    found = []
    for name, data in (
        ("whole.pcap.gz", packed.read_bytes()),
        ("whole.pcap", gzip.decompress(packed.read_bytes())),
    ):
        path = tmp_path / name
        path.write_bytes(data)
        reader = reader_of(path, "pravega", split="1KiB")
        start = reader.initialOffset()
        end = next_offset(reader, start)
        assert (len(reader.partitions(start, end)) == 1) == (path.suffix == ".gz")
        rows = batch(reader, start, end)
        found.append(sorted(({**row, "_file": None} for row in rows), key=repr))
    assert found[0] == found[1] and len(found[0]) == 49
