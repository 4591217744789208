"""A target in an object store: what counts after kills, tries at once and runs at once, and nothing that does not count stays."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("pyspark", reason="the extra `spark` is not installed")

from pyarrow import parquet as pq
from tests.pipeline.damage import damaged
from tests.pipeline.objects import BUCKET, Objects
from tests.pipeline.rows import rows_of
from tests.pipeline.streams import stream_of
from tests.pipeline.test_convert import N_KILLS, reader_of, run_all

from wirespark import WireSparkError, s3_objects, storage
from wirespark.compacting import CompactReader
from wirespark.convert_source import ConvertPartition, ConvertReader
from wirespark.object_targets import ObjectTarget
from wirespark.options import Wishes
from wirespark.output import divided
from wirespark.parquet import TableWriters, folder_of
from wirespark.stored_objects import ObjectFolder, object_folder_of
from wirespark.target_storage import Contents, Plan, target_storage_of

ROOT = Path(__file__).resolve().parents[2]
CAPTURE = ROOT / "examples" / "captures" / "golumber-async-pipelined.pcap"
CODE = [str(ROOT / each) for each in (".", "generator", "generated/python", "pipeline", "examples")]
N_CAPTURES = 12 if N_KILLS > 2 else 4
RECORD = "_receipts/_target"


@pytest.fixture
def key(objects: Objects, request: pytest.FixtureRequest) -> str:
    """Return the key of a folder of this test's own."""
    return f"targets/{abs(hash(request.node.nodeid)):x}"


@pytest.fixture
def target(key: str, objects: Objects) -> str:
    return f"{objects.root}{key}"


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> tuple[bytes, list[dict[str, Any]]]:
    """A stream with damages in it, and its rows."""
    data = damaged(stream_of("reactive_streams", 7, 130).data, random.Random(3))
    wishes = Wishes(protocol="reactive_streams", role="server")
    return data, rows_of(data, wishes, tmp_path_factory.mktemp("rows"))


@pytest.fixture
def stream(tmp_path: Path, made: tuple[bytes, list[dict[str, Any]]]) -> tuple[Path, list[dict[str, Any]]]:
    data, rows = made
    path = tmp_path / "stream.server.bin"
    path.write_bytes(data)
    return path, rows


def reader(path: Path, target: str, **options: str) -> ConvertReader:
    return reader_of(path, target, "reactive_streams", **options)


def table(target: str, name: str) -> list[dict[str, Any]]:
    place = ObjectTarget(target)
    files = (file for receipt in place.contents().receipts for file in receipt.files)
    found = [
        pq.ParquetFile(place.open(file)).read().to_pylist() for file in files if file.startswith(f"{name}/")
    ]
    return sorted((row for rows in found for row in rows), key=lambda row: (row["_file"], row["_offset"]))


def named(target: str) -> set[str]:
    """Return the objects that may be there: the record, the receipts that count with the notes of their parts, and what they name."""
    receipts = ObjectTarget(target).contents().receipts
    names = {f"_receipts/{receipt.name}.{kind}" for receipt in receipts for kind in ("json", "parts")}
    return {RECORD, *names, *(file for receipt in receipts for file in receipt.files)}


def check_target(target: str, rows: list[dict[str, Any]], objects: Objects) -> None:
    """Check that the tables hold these rows of the wide table, each once, and that no other object is there."""
    for name in ("_frames", *{row["_message"] for row in rows if row["_message"]}):
        own = [row for row in rows if name in ("_frames", row["_message"])]
        found = table(target, name if name == "_frames" else folder_of(name))
        assert [row["_offset"] for row in found] == [row["_offset"] for row in own]
    assert objects.names(target.removeprefix(objects.root)) <= named(target)


def test_every_row_is_there_once_and_a_second_run_knows_it(
    stream: tuple[Path, list[dict[str, Any]]], target: str, key: str, objects: Objects
) -> None:
    path, rows = stream
    runs = [run_all(reader(path, target)) for _ in range(2)]
    assert len(runs[0]) == len(runs[1]) > 3 and not any(runs[0]) and all(runs[1])
    check_target(target, rows, objects)


def test_no_object_has_the_credentials(
    stream: tuple[Path, list[dict[str, Any]]], target: str, key: str, objects: Objects
) -> None:
    run_all(reader(stream[0], target))
    assert objects.names(key)
    for name in objects.names(key):
        data = objects.client.get_object(Bucket=BUCKET, Key=f"{key}/{name}")["Body"].read()
        assert b"not-to-be-seen" not in data


def test_other_cuts_and_a_changed_file_replace_what_was_there(
    stream: tuple[Path, list[dict[str, Any]]], target: str, objects: Objects, tmp_path: Path
) -> None:
    path, rows = stream
    for split in ("1024", "1500", "1MiB"):
        assert not any(run_all(reader(path, target, split=split))[1:])
        check_target(target, rows, objects)
    path.write_bytes(path.read_bytes()[: rows[50]["_offset"]])
    assert run_all(reader(path, target, split="1MiB")) == [False]
    wishes = Wishes(protocol="reactive_streams", role="server")
    check_target(target, rows_of(path.read_bytes(), wishes, tmp_path), objects)


def test_a_part_that_fails_leaves_nothing(
    stream: tuple[Path, list[dict[str, Any]]], target: str, key: str, objects: Objects
) -> None:
    with pytest.raises(WireSparkError):
        run_all(reader(stream[0], target, mode="FAILFAST", split="1MiB"))
    [note] = objects.names(key) - {RECORD}
    assert note.endswith(".parts")


def test_an_object_that_is_gone_is_made_again(
    stream: tuple[Path, list[dict[str, Any]]], target: str, key: str, objects: Objects
) -> None:
    path, rows = stream
    run_all(reader(path, target))
    file = ObjectTarget(target).contents().receipts[0].files[0]
    objects.remove(f"{key}/{file}")
    assert run_all(reader(path, target)).count(False) == 1
    check_target(target, rows, objects)


# ---- tries and runs at once


def during_finish(monkeypatch: pytest.MonkeyPatch, action: Callable[[], None]) -> None:
    """Do something once, when a try has written all its objects and not yet its receipt."""
    finish, waiting = TableWriters.finish, [action]

    def finished(writers: TableWriters) -> None:
        finish(writers)
        if waiting:
            waiting.pop()()

    monkeypatch.setattr(TableWriters, "finish", finished)


def test_a_part_that_is_tried_twice_has_its_rows_once(
    stream: tuple[Path, list[dict[str, Any]]],
    target: str,
    objects: Objects,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The first receipt wins, and the later try ends with it; so Spark's speculation doubles nothing."""
    path, rows = stream
    own = reader(path, target, split="1MiB")
    [part] = own.partitions()
    told: list[Any] = []
    during_finish(monkeypatch, lambda: told.extend(own.read(part)))
    told += own.read(part)
    assert len(told) == 2 and told[0].equals(told[1])
    check_target(target, rows, objects)


def test_objects_of_a_live_run_stay(
    stream: tuple[Path, list[dict[str, Any]]],
    target: str,
    key: str,
    objects: Objects,
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
) -> None:
    """Runs of the same and of other files begin while a try has written its objects; they are older than these runs."""
    path, rows = stream
    (tmp_path / "other").mkdir()
    other = tmp_path / "other" / "x.server.bin"
    other.write_bytes(b"")
    own = reader(path, target, split="1MiB")
    [part] = own.partitions()

    def begin_others() -> None:
        before = objects.names(key)
        assert any(name.endswith(".parquet") for name in before)
        reader(path, target, split="1MiB").partitions()
        run_all(reader(other, target, split="1MiB"))
        assert objects.names(key) > before

    during_finish(monkeypatch, begin_others)
    assert len(list(own.read(part))) == 1
    check_target(target, rows, objects)


def test_runs_at_once_end_well_or_are_refused(
    stream: tuple[Path, list[dict[str, Any]]], target: str, objects: Objects
) -> None:
    path, rows = stream

    def ended(number: int) -> bool:
        try:
            run_all(reader(path, target))
        except WireSparkError as error:
            assert target in str(error) and "another run has begun" in str(error)
            return False
        return True

    with ThreadPoolExecutor(3) as threads:
        assert any(threads.map(ended, range(3)))
    run_all(reader(path, target))
    check_target(target, rows, objects)


def test_of_two_runs_that_begin_at_once_one_is_refused(
    stream: tuple[Path, list[dict[str, Any]]],
    target: str,
    objects: Objects,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    path, rows = stream
    begin = ObjectTarget.begin

    def begun(place: ObjectTarget, planned: Callable[[Contents], Plan]) -> Plan:
        def after_another(contents: Contents) -> Plan:
            patch.undo()
            run_all(reader(path, target, split="1MiB"))
            return planned(contents)

        return begin(place, after_another)

    for _ in range(2):  # the record is new, and then it is replaced
        with monkeypatch.context() as patch:
            patch.setattr(ObjectTarget, "begin", begun)
            with pytest.raises(WireSparkError, match="another run has begun to write to") as caught:
                reader(path, target, split="1MiB").partitions()
        assert target in str(caught.value)
        check_target(target, rows, objects)


def test_a_run_with_other_cuts_stops_the_one_before(
    stream: tuple[Path, list[dict[str, Any]]], target: str, objects: Objects
) -> None:
    """Its receipts may still come, and do not count."""
    path, rows = stream
    first = reader(path, target)
    parts = first.partitions()
    run_all(reader(path, target, split="1500"))
    with pytest.raises(WireSparkError, match="wait for it to end") as caught:
        list(first.read(parts[1]))
    assert target in str(caught.value)
    n_named = len(table(target, "_frames"))
    assert n_named == len(rows)
    assert all(run_all(reader(path, target, split="1500")))
    check_target(target, rows, objects)


@pytest.mark.parametrize("begin", [RECORD, "_receipts/"])
def test_a_write_whose_answer_was_lost_is_known_again(
    stream: tuple[Path, list[dict[str, Any]]],
    target: str,
    objects: Objects,
    monkeypatch: pytest.MonkeyPatch,
    begin: str,
) -> None:
    """Then the library repeats the request, and the condition does not hold any more."""
    path, rows = stream
    folder_class = type(object_folder_of(target))
    write = folder_class.write

    def lost(folder: ObjectFolder, name: str, text: str, version: str | None = None) -> bool:
        is_done = write(folder, name, text, version)
        return is_done and not name.startswith(begin)

    with monkeypatch.context() as patch:
        patch.setattr(folder_class, "write", lost)
        assert not any(run_all(reader(path, target)))
    check_target(target, rows, objects)


def test_a_server_that_ignores_conditions_is_refused(
    stream: tuple[Path, list[dict[str, Any]]], target: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(type(object_folder_of(target)), "write", lambda *given: True)
    with pytest.raises(WireSparkError, match="ignores conditions of writes"):
        reader(stream[0], target).partitions()


# ---- kills

TASK = """
import sys
from tests.pipeline.test_convert import reader_of, run_all
print("ready", flush=True)
run_all(reader_of(sys.argv[1], sys.argv[2], "reactive_streams"))
"""


@pytest.mark.parametrize("number", range(N_KILLS))
def test_a_killed_run_is_taken_up(
    stream: tuple[Path, list[dict[str, Any]]],
    target: str,
    key: str,
    objects: Objects,
    number: int,
    evidence: Callable[..., None],
) -> None:
    """Killed at a moment by chance, a run has lost nothing and doubled nothing, and the next one removes what it left."""
    path, rows = stream
    dice = random.Random(number)
    process = subprocess.Popen(
        [sys.executable, "-c", TASK, str(path), target],
        env={**objects.environment, "PYTHONPATH": os.pathsep.join(CODE)},
        stdout=subprocess.PIPE,
        cwd=ROOT,
    )
    assert process.stdout is not None and process.stdout.readline() == b"ready\n"
    least = dice.randrange(8)  # objects that are there when it is killed
    while process.poll() is None and len(objects.names(key)) < least:
        time.sleep(0.01)
    time.sleep(dice.random() * 0.1)
    process.send_signal(signal.SIGKILL)
    process.wait()
    process.stdout.close()
    run_all(reader(path, target, split=dice.choice(("1KiB", "1100"))))
    check_target(target, rows, objects)
    store = {f"count_{target.partition(':')[0]}": 1}
    evidence("object_store_kills", count=1, failures=0, rows=len(rows), rows_lost_or_doubled=0, **store)


def test_what_a_killed_task_left_is_removed(
    stream: tuple[Path, list[dict[str, Any]]], target: str, key: str, objects: Objects
) -> None:
    """By the next run of these files, also if it cuts them elsewhere."""
    path, rows = stream
    for split in ("1KiB", "1MiB"):
        parts = [each for each in reader(path, target).partitions() if isinstance(each, ConvertPartition)]
        left = [f"_frames/{each.name}-0123.parquet" for each in parts]
        for name in left:
            objects.put(f"{key}/{name}", b"half a file")
        assert objects.names(key) > set(left)
        run_all(reader(path, target, split=split))
        check_target(target, rows, objects)


# ---- compaction


def compacted(target: str, **given: str) -> list[dict[str, int]]:
    own = CompactReader(ObjectTarget(target), divided(given)[0])
    return [row for each in own.partitions() for batch in own.read(each) for row in batch.to_pylist()]


def test_compaction_keeps_rows_and_what_is_done(
    stream: tuple[Path, list[dict[str, Any]]],
    target: str,
    key: str,
    objects: Objects,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    path, rows = stream
    run_all(reader(path, target))
    with monkeypatch.context() as patch, pytest.raises(KeyboardInterrupt):  # killed before it counts
        patch.setattr(ObjectTarget, "_replace", interrupted)
        compacted(target)
    assert objects.names(key) - named(target) and len(table(target, "_frames")) == len(rows)
    [done] = compacted(target)
    assert done["before"] > done["after"] == len({row["_message"] for row in rows if row["_message"]}) + 1
    assert len(table(target, "_frames")) == len(rows)
    assert run_all(reader(path, target)) == [True] and compacted(target) == []
    check_target(target, rows, objects)


def interrupted(*given: object) -> bool:
    raise KeyboardInterrupt


def test_a_compaction_gives_way_to_a_conversion(
    stream: tuple[Path, list[dict[str, Any]]], target: str, objects: Objects
) -> None:
    path, rows = stream
    run_all(reader(path, target))
    own = CompactReader(ObjectTarget(target), divided({})[0])
    [group] = own.partitions()
    run_all(reader(path, target, split="1MiB"))
    with pytest.raises(FileNotFoundError):
        ObjectTarget(target).open("_frames/none.parquet")
    assert list(own.read(group)) == []
    check_target(target, rows, objects)


# ---- with Spark

SESSION = """
import json, sys
import wirespark

config = {"spark.ui.enabled": "false", "spark.driver.host": "127.0.0.1", "spark.driver.bindAddress": "127.0.0.1"}
spark = wirespark.session("targets", master="local[2]", config=config)
source, target = sys.argv[1:]
given = {"protocol": "lumberjack", "partition": "date"}
"""
CONVERT = f"""{SESSION}
wirespark.convert(spark, source, target, **given)
"""
READ = f"""{SESSION}
from pyspark.sql import functions as F

run = wirespark.convert(spark, source, target, **given)
done = wirespark.compact(spark, target)
tables = wirespark.tables(spark, target, prefix="t_")
rows = spark.sql("select _file, _from, _offset, date from t__frames").collect()
json_ = tables["t_json"]
comments = {{row["col_name"]: row["comment"] for row in spark.sql("describe t_json").collect()}}
kept = wirespark.tables(spark, target, prefix="k_", database="default")
told = {{row["col_name"]: row["comment"] for row in spark.sql("describe default.k_json").collect()}}
kept_days = spark.sql("select date, count(*) n from default.k__frames where _offset >= 0 group by date").collect()
found = {{
    "parts": run.parts, "resumed": run.resumed, "rows": run.rows, "before": done.before, "after": done.after, "names": sorted(tables),
    "frames": [[row["_file"], row["_from"], row["_offset"]] for row in rows], "days": sorted({{str(row["date"]) for row in rows}}),
    "json": json_.count(), "inner": run.inner["Json"], "deep": json_.where(F.col("_depth") == 1).count(),
    "some": spark.read.format("wire_table").options(target=target, table="_frames").schema("_offset long").load().count(),
    "comments": [comments["_path"], told["_path"]], "kept": [[str(row["date"]), row["n"]] for row in kept_days],
}}
print(json.dumps(found))
spark.stop()
"""


def test_spark_converts_into_a_store_is_killed_and_reads_what_counts(
    target: str, key: str, objects: Objects, tmp_path: Path, evidence: Callable[..., None]
) -> None:
    """Killed when the first receipt is there. Objects that do not count are not read."""
    (tmp_path / "in").mkdir()
    for number in range(N_CAPTURES):
        (tmp_path / "in" / f"{number:02}.pcap").write_bytes(CAPTURE.read_bytes())
    environment = {**objects.environment, "PYTHONPATH": os.pathsep.join(CODE)}
    own = [str(tmp_path / "in"), target]
    killed = subprocess.Popen(
        [sys.executable, "-c", CONVERT, *own],
        env=environment,
        cwd=ROOT,
        stdout=subprocess.DEVNULL,
        start_new_session=True,
    )
    while killed.poll() is None and not any(name.endswith(".json") for name in objects.names(key)):
        time.sleep(0.05)
    os.killpg(killed.pid, signal.SIGKILL)
    killed.wait()
    frames = next(name for name in named(target) if name.startswith("_frames"))
    objects.put(f"{key}/{frames[:-9]}.parquet", ObjectTarget(target).open(frames).read())
    run = subprocess.run(
        [sys.executable, "-c", READ, *own],
        env=environment,
        cwd=ROOT,
        stdout=subprocess.PIPE,
        timeout=300,
        check=False,
    )
    assert run.returncode == 0
    found = json.loads(run.stdout.splitlines()[-1])
    assert found["parts"] == N_CAPTURES > found["resumed"] >= 1
    assert (
        len(found["frames"]) == len({tuple(row) for row in found["frames"]}) == found["rows"] == found["some"]
    )
    assert found["json"] == found["deep"] == found["inner"] == N_CAPTURES * 60 and found["days"] == [
        "2026-11-21"
    ]
    assert found["before"] > found["after"] == len(found["names"]) == 5
    assert found["names"] == ["t__frames", "t_ack", "t_compressed", "t_json", "t_window"]
    assert found["comments"] == ["The field that holds it, of the frame outside."] * 2
    assert found["kept"] == [["2026-11-21", found["rows"]]]
    assert objects.names(key) <= named(target)
    evidence(
        "object_store_spark_kills", count=1, failures=0, rows=found["rows"], parts=found["parts"], rows_lost_or_doubled=0
    )  # fmt: skip


# ---- what is refused


def test_a_target_that_cannot_be_is_refused_in_one_sentence(
    objects: Objects, target: str, key: str, tmp_path: Path
) -> None:
    path = tmp_path / "x.server.bin"
    path.write_bytes(b"")
    objects.put(f"{key}/copied/{RECORD}", json.dumps({"rows": {}, "cuts": {}}).encode())
    for place, said in (
        ("ftp://bucket/tables", "on a disk or in a storage"),
        ("s3a://reader:not-to-be-seen@bucket/tables", "in the environment"),
        ("s3a://no-such-bucket/tables", "cannot use s3a://no-such-bucket/tables: NoSuchBucket"),
        (f"{target}/copied", "it was copied from a disk"),
    ):
        with pytest.raises(WireSparkError, match=said) as caught:
            reader(path, place)._target.look()
        assert "not-to-be-seen" not in str(caught.value) and "\n" not in str(caught.value)
    run_all(reader(path, target))
    with pytest.raises(WireSparkError, match="was filled with mode PERMISSIVE, not with mode DROPMALFORMED"):
        reader(path, target, mode="DROPMALFORMED").partitions()


@pytest.mark.parametrize("source", ["", "/", "/tab*", "/tables", "/*/deep"])
def test_a_target_in_its_source_is_refused(objects: Objects, target: str, source: str) -> None:
    root = target.replace("s3a:", "s3:")
    objects.put(f"{target.removeprefix(objects.root)}/tables/x.bin", b"")
    with pytest.raises(WireSparkError, match="is inside of the source"):
        reader_of(f"{root}{source}", f"{target}/tables/deep", "lumberjack")
    assert storage.folder_around(f"{target}/_tables", root) is None
    assert storage.folder_around("/tables", root) is None


def test_the_package_that_is_missing_is_named(target: str, monkeypatch: pytest.MonkeyPatch) -> None:
    s3_objects._client.cache_clear()
    monkeypatch.setitem(sys.modules, "boto3", None)
    with pytest.raises(WireSparkError, match=r"pip install 'wiregen\[spark-s3\]'"):
        target_storage_of(target).check()
    s3_objects._client.cache_clear()


def test_missing_credentials_are_told_with_their_variables(monkeypatch: pytest.MonkeyPatch) -> None:
    boto3 = pytest.importorskip("boto3", reason="boto3 is not installed")
    monkeypatch.setattr(boto3, "DEFAULT_SESSION", None)  # it remembers credentials
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_PROFILE"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    monkeypatch.setenv("AWS_SHARED_CREDENTIALS_FILE", os.devnull)
    monkeypatch.setenv("AWS_CONFIG_FILE", os.devnull)
    monkeypatch.setenv("AWS_DEFAULT_REGION", "us-east-1")
    s3_objects._client.cache_clear()
    with pytest.raises(WireSparkError, match="the environment has no credentials .AWS_PROFILE, or AWS_ACC"):
        target_storage_of("s3a://bucket/tables").record()
    s3_objects._client.cache_clear()
