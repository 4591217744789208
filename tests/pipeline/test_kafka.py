"""Frames from a Kafka topic, by the programs of `docs/recipes.md` and a real broker: each frame and each error once."""

from __future__ import annotations

import json
import os
import random
import signal
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from subprocess import TimeoutExpired
from typing import Any

import pytest

pytest.importorskip("pyspark", reason="the extra `spark` is not installed")
pytestmark = pytest.mark.xdist_group("spark")

from tests.pipeline.brokers import served_topics  # noqa: E402
from tests.pipeline.maven import class_path  # noqa: E402
from tests.pipeline.recipes import program, run, started  # noqa: E402
from tests.pipeline.rows import rows_of  # noqa: E402

from wireproto import lumberjack as lj  # noqa: E402
from wirespark.options import Wishes  # noqa: E402

IS_SOAK = os.environ.get("HYPOTHESIS_PROFILE") == "soak"
N_KILLS = 8
CONNECTOR = "org.apache.spark:spark-sql-kafka-0-10_2.13:4.2.0"
ADDRESS = "127.0.0.1:9092"
"""The broker of the page."""
Place = tuple[int, int, int, int, str]
"""A row: the partition and offset of its record, its own offset and size, the message or the error's code."""
SEND = f"""
import json
import wirespark
spark = wirespark.session(packages=["wireproto"], config={{"spark.jars.packages": "{CONNECTOR}"}})
for topic, records in json.load(open("records.json")).items():
    rows = [(key, bytes.fromhex(value)) for key, value in records]
    table = spark.createDataFrame(rows, "key string, value binary").coalesce(1)
    table.write.format("kafka").option("kafka.bootstrap.servers", "{ADDRESS}").option("topic", topic).save()
    topics = spark.read.format("kafka").option("kafka.bootstrap.servers", "{ADDRESS}").option("subscribe", topic)
    found = topics.load().select("partition", "offset", "value").collect()
    with open(topic + ".json", "w") as file:
        json.dump([(row.partition, row.offset, bytes(row.value).hex()) for row in found], file)
"""
FOUND = f"""
import json
places = []
for name, label in (("frames", "_message"), ("dead_letters", "_error.code")):
    table = spark.read.parquet(f"kafka/{{name}}")
    places += table.select("_record.partition", "_record.offset", "_offset", "_size", label).collect()
topics = spark.read.format("kafka").option("kafka.bootstrap.servers", "{ADDRESS}").option("subscribe", "frames.dead")
letters = topics.load().selectExpr("cast(key as string) as key").collect()
print("found", json.dumps({{"places": places, "letters": [row.key for row in letters]}}))
"""
CHUNKS = """
import json
found = spark.read.parquet("kafka/chunks").select("_flow", "_offset", "_size", "_message").collect()
print("found", json.dumps(found))
"""


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    class_path(CONNECTOR)
    with served_topics(tmp_path_factory.mktemp("broker")) as found:
        yield found


def frames_by_chance(dice: random.Random) -> bytes:
    """Return one frame or a few; in some records a byte of a header is wrong, or bytes follow that are not a frame."""
    frames = b"".join(
        lj.encode(lj.Json(dice.randrange(999), b"{}")) for _ in range(dice.choice([1, 1, 1, 2, 5]))
    )
    match dice.randrange(10):
        case 0:
            return b"9" + frames[1:]
        case 1:
            return frames + dice.randbytes(3)
        case _:
            return frames


def send(folder: Path, address: str, **topics: list[tuple[str, bytes]]) -> None:
    """Write records to topics, and their places to files."""
    records = {topic: [(key, data.hex()) for key, data in rows] for topic, rows in topics.items()}
    (folder / "records.json").write_text(json.dumps(records))
    run(SEND.replace(ADDRESS, address), folder)


def expected(folder: Path, tmp_path: Path) -> list[Place]:
    """Return the rows of all records in their places."""
    wishes = Wishes(protocol="lumberjack", role="writer")
    return sorted(
        (partition, offset, row["_offset"], row["_size"], row["_message"] or row["_error"]["code"])
        for partition, offset, value in json.loads((folder / "frames.json").read_text())
        for row in rows_of(bytes.fromhex(value), wishes, tmp_path)
    )


def followed(address: str, n_records: int) -> str:
    """Return the program of the page, for this broker and for small batches."""
    page = program("kafka")
    assert ADDRESS in page and "100_000" in page
    return page.replace(ADDRESS, address).replace("100_000", str(n_records))


def check_tables(output: str, rows: list[Place]) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(output.split("found ")[-1])
    assert sorted(map(tuple, found["places"])) == rows
    codes = {"unknown_code", *(row[4] for row in rows)} - {"Json"}
    dead = {f"frames/{row[0]}/{row[1]}/{row[2]}" for row in rows if row[4] in codes}
    assert dead and set(found["letters"]) == dead
    return found


@pytest.mark.skipif(not IS_SOAK, reason="it fetches jars and takes four Javas: `make soak` does it")
def test_a_topic_becomes_tables_and_letters(address: str, tmp_path: Path) -> None:
    """Frames, several in a record or one, errors, and frames that cross records."""
    dice = random.Random(1)
    records = [("", frames_by_chance(dice)) for _ in range(100)]
    streams = {
        flow: b"".join(lj.encode(lj.Json(n, b"{}" * n)) for n in range(20))
        for flow in ("10.0.0.1:4", "10.0.0.2:5")
    }
    chunks = [(flow, data[at : at + 37]) for flow, data in streams.items() for at in range(0, len(data), 37)]
    send(tmp_path, address, frames=records, chunks=chunks)
    found = check_tables(
        run(followed(address, 100_000) + FOUND.replace(ADDRESS, address), tmp_path),
        expected(tmp_path, tmp_path),
    )
    assert len(found["letters"]) == len(set(found["letters"]))
    page = program("chunks").replace(ADDRESS, address).replace("100_000", "20")
    rows = json.loads(run(page + CHUNKS, tmp_path).split("found ")[-1])
    wishes = Wishes(protocol="lumberjack", role="writer")
    assert sorted(map(tuple, rows)) == sorted(
        (flow, row["_offset"], row["_size"], row["_message"])
        for flow, data in streams.items()
        for row in rows_of(data, wishes, tmp_path)
    )


@pytest.mark.skipif(not IS_SOAK, reason="each kill takes a Spark of its own: `make soak` does it")
def test_killed_queries_of_a_topic_lose_and_double_nothing(
    tmp_path: Path, evidence: Callable[..., None]
) -> None:
    """Killed at moments by chance, with all processes, and started again."""
    class_path(CONNECTOR)
    dice = random.Random(2)
    folder = tmp_path / "broker"
    folder.mkdir()
    with served_topics(folder) as address:
        send(tmp_path, address, frames=[("", frames_by_chance(dice)) for _ in range(2_000)])
        text = followed(address, 50)
        n_done = sum(killed(text, tmp_path, dice) for _ in range(N_KILLS))
        rows = expected(tmp_path, tmp_path)
        found = check_tables(run(text + FOUND.replace(ADDRESS, address), tmp_path), rows)
    n_letters = len(set(found["letters"]))
    evidence(
        "kafka_kills",
        count=N_KILLS,
        failures=0,
        rows=len(rows),
        rows_lost_or_doubled=0,
        letters=n_letters,
        letters_doubled=len(found["letters"]) - n_letters,
        kills_in_batches=n_done,
    )


def killed(text: str, folder: Path, dice: random.Random) -> bool:
    """Run a program until a moment after its queries began, and kill it with all that it has started.

    Return whether a query had begun and not ended.
    """
    signal_ = 'print("begun", flush=True)\nfor query in queries:'
    assert text.count("for query in queries:") == 1
    with started(text.replace("for query in queries:", signal_), folder) as process:
        assert process.stdout is not None
        has_begun = process.stdout.readline() == "begun\n"
        with suppress(TimeoutExpired):
            process.wait(dice.random() * 25)
        is_running = process.poll() is None
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
    return has_begun and is_running
