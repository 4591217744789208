"""The index of a source in its target: the same parts as without it, no file opened by the planner, and nothing believed that does not agree."""

from __future__ import annotations

import gzip
import os
import random
import shutil
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("pyspark", reason="the extra `spark` is not installed")

from tests.pipeline.damage import damaged
from tests.pipeline.objects import BUCKET, Objects
from tests.pipeline.streams import stream_of
from tests.pipeline.test_convert import reader_of

from wirespark import WireSparkError, divisions, remote_storage
from wirespark.convert_source import (
    ConvertPartition,
    ConvertReader,
    IndexPartition,
    is_preparation,
    results_of,
)
from wirespark.options import ReadOptions
from wirespark.planning import Part, parts_of
from wirespark.reading import columns_of
from wirespark.receipts import FOLDER, INDEX, BundleResult, Receipt, name_of
from wirespark.target_storage import TargetStorage, target_storage_of

ROOT = Path(__file__).resolve().parents[2]
CAPTURES = ROOT / "examples" / "captures"
SPLITS = {"kernels": "16KiB"}
PROTOCOLS = {"captures": "lumberjack", "compressed": "lumberjack", "contexts": "reactive_streams", "kernels": "pravega_documented"}  # fmt: skip


@pytest.fixture(autouse=True)
def small_tasks(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let two small files be enough for a task."""
    monkeypatch.setattr(divisions, "_TASK_SIZE", 2 * divisions._OPENING)


@pytest.fixture(params=["disk", "S3"])
def target(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    if request.param == "disk":
        return str(tmp_path / "target")
    request.getfixturevalue("objects")
    return f"s3a://{BUCKET}/divisions/{abs(hash(request.node.nodeid)):x}"


def write_source(folder: Path, kind: str) -> Path:
    """Write five files of a kind, all but one of them in several parts, if they can be."""
    folder.mkdir()
    for number, path in enumerate(sorted(CAPTURES.glob("*.pcap"))):
        if kind == "captures":
            shutil.copy(path, folder)
            shutil.copy(path, folder / f"again {number}.pcap")
        elif kind == "compressed":
            for name in (path.name, f"again {number}.pcap"):
                (folder / f"{name}.gz").write_bytes(gzip.compress(path.read_bytes(), 0))
    for seed in range(5 if kind in ("contexts", "kernels") else 0):
        made = stream_of(PROTOCOLS[kind], 7 + seed, 100 if seed else 1)
        data = damaged(made.data, random.Random(seed)) if seed else made.data
        if kind == "kernels" and seed:
            data = stream_of(PROTOCOLS[kind], 7 + seed).data * 30
        (folder / f"{seed}.{made.role}.bin").write_bytes(data)
    return folder


@pytest.fixture(params=list(PROTOCOLS))
def kind(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def source(tmp_path: Path, kind: str) -> Path:
    return write_source(tmp_path / "source", kind)


def reader(source: Path | str, target: str, kind: str, *, prepared: str = "none") -> ConvertReader:
    own = reader_of(source, target, PROTOCOLS[kind], index="true", split=SPLITS.get(kind, "1KiB"))
    return ConvertReader(own._target, prepared=prepared)


def divide(own: ConvertReader) -> list[IndexPartition]:
    """Run the tasks that divide the files, and return them."""
    tasks = [each for each in own.partitions() if isinstance(each, IndexPartition)]
    for task in tasks:
        [batch] = own.read(task)
        assert is_preparation(batch.to_pylist())
    return tasks


def planned(own: ConvertReader) -> list[Part]:
    found = own.partitions()
    assert not any(isinstance(each, IndexPartition) for each in found)
    return in_order(part for each in found if isinstance(each, ConvertPartition) for part in each.parts)


def in_order(parts: Iterable[Part]) -> list[Part]:
    """Return parts in one order: bundles that a run has begun with come first."""
    return sorted(parts, key=name_of)


def converted(own: ConvertReader) -> list[BundleResult]:
    """Convert, and return the results."""
    rows = [row for task in own.partitions() for batch in own.read(task) for row in batch.to_pylist()]
    return results_of(rows)


_opened: list[list[str]] = []
"""The lists that get the paths of opened files: hooks of audits cannot be removed."""


def _hear(event: str, given: tuple[Any, ...]) -> None:
    if _opened and event == "open" and isinstance(given[0], str):
        _opened[-1].append(given[0])


sys.addaudithook(_hear)


@contextmanager
def opened(folder: Path) -> Iterator[list[str]]:
    """Give the names of the files of a folder that are opened in the block."""
    heard: list[str] = []
    names: list[str] = []
    _opened.append(heard)
    try:
        yield names
    finally:
        _opened.pop()
        names += sorted({Path(path).name for path in heard if Path(path).parent == folder})


def index_of(place: TargetStorage, own: ConvertReader) -> list[str]:
    return list(place.index_texts(divisions.SourceIndex.of(place, own._options).key))


def test_parts_are_those_of_one_process_and_no_file_is_opened(source: Path, target: str, kind: str) -> None:
    own = reader(source, target, kind)
    expected = in_order(parts_of(own._options))
    assert kind == "compressed" or len(expected) > len(list(source.iterdir()))
    with opened(source) as names:
        tasks = own.partitions()
    assert len(tasks) > 2 and not names
    assert divide(own)
    for prepared in ("index", "none"):
        with opened(source) as names:
            found = planned(reader(source, target, kind, prepared=prepared))
        assert found == expected and not names


def test_tables_are_those_of_one_process_and_a_later_run_opens_nothing(
    source: Path, target: str, kind: str, tmp_path: Path
) -> None:
    divide(reader(source, target, kind))
    places = target, str(tmp_path / "other")
    in_place = reader_of(source, places[1], PROTOCOLS[kind], split=SPLITS.get(kind, "1KiB"))
    runs = [converted(in_place), converted(reader(source, target, kind))]
    told = sums_of if kind == "captures" else facts_of
    facts = [told(target_storage_of(place).contents().receipts) for place in places]
    assert facts[0] == facts[1] and len(runs[0]) == len(runs[1])
    with opened(source) as names:
        assert not planned(reader(source, target, kind))
    assert not names


def facts_of(receipts: Iterable[Receipt]) -> list[tuple[Any, ...]]:
    """Return the counts of each receipt."""
    totals = ((sorted(each.sources), each.total) for each in receipts)
    return sorted(
        (sources, total.rows, total.messages, total.errors, total.size) for sources, total in totals
    )


def sums_of(receipts: Iterable[Receipt]) -> dict[str, Counter[str]]:
    """Return what receipts count for each file; of a capture, long connections are in other parts if there is no index."""
    found: dict[str, Counter[str]] = {}
    for receipt in receipts:
        (path,) = set(receipt.sources.values())
        total = receipt.total
        counts = {"parts": len(receipt.sources), "rows": total.rows, "size": total.size}
        found.setdefault(path, Counter()).update({**counts, **total.messages, **total.errors})
    return found


@pytest.mark.parametrize("kind", ["contexts"], indirect=True)
def test_a_changed_file_and_a_new_one_are_divided_anew(source: Path, target: str, kind: str) -> None:
    divide(reader(source, target, kind))
    changed = source / "3.server.bin"
    changed.write_bytes(changed.read_bytes()[:-5])
    (source / "new.server.bin").write_bytes((source / "2.server.bin").read_bytes())
    own = reader(source, target, kind)
    with opened(source) as names:
        divide(own)
    assert names == ["3.server.bin", "new.server.bin"]
    assert planned(reader(source, target, kind)) == in_order(parts_of(own._options))


@pytest.mark.parametrize("kind", ["contexts"], indirect=True)
def test_a_file_that_was_removed_meanwhile_is_left_out(source: Path, target: str, kind: str) -> None:
    own = reader(source, target, kind)
    tasks = own.partitions()
    (source / "3.server.bin").unlink()
    for task in tasks:
        list(own.read(task))
    with opened(source) as names:
        found = planned(reader(source, target, kind))
    assert not names and {Path(part.path).name[0] for part in found} == set("0124")


@pytest.mark.parametrize("kind", ["contexts"], indirect=True)
def test_a_task_that_is_tried_twice_leaves_one_result(source: Path, target: str, kind: str) -> None:
    own, place = reader(source, target, kind), target_storage_of(target)
    tasks = divide(own)
    once = index_of(place, own)
    for task in tasks:
        list(own.read(task))
    assert index_of(place, own) == once and len(once) == len(tasks)


DAMAGES: dict[str, Callable[[str], str]] = {
    "empty": lambda text: "",
    "cut": lambda text: text[: len(text) // 2],
    "another division": lambda text: text.replace('"n_shares": 0', '"n_shares": 3'),
    "foreign": lambda text: f"{'0' * 64}\n[]",
}


@pytest.mark.parametrize("kind", ["contexts"], indirect=True)
@pytest.mark.parametrize("damage", list(DAMAGES))
def test_a_damaged_index_is_made_again(source: Path, target: str, kind: str, damage: str) -> None:
    own, place = reader(source, target, kind), target_storage_of(target)
    tasks = divide(own)
    expected, texts = planned(reader(source, target, kind)), index_of(place, own)
    key = divisions.SourceIndex.of(place, own._options).key
    for task in tasks:
        [text] = [each for each in texts if all(path in each for path in task.files)]
        place.keep_index(divisions.name_in_index(key, task.files), DAMAGES[damage](text))
    assert index_of(place, own) != texts
    again = reader(source, target, kind)
    assert {path for task in divide(again) for path in task.files} == {p for t in tasks for p in t.files}
    assert index_of(place, own) == texts and planned(reader(source, target, kind)) == expected


def test_an_index_of_other_options_is_not_believed(tmp_path: Path) -> None:
    source, target = write_source(tmp_path / "source", "contexts"), tmp_path / "target"
    own = reader(source, str(target), "contexts")
    divide(own)
    place = target_storage_of(str(target))
    for path in (target / FOLDER).glob(f"*{INDEX}"):
        rest = path.name.partition("-")[2]
        other = ConvertReader(
            reader_of(source, str(target), "reactive_streams", index="true", split="2KiB")._target
        )
        key = divisions.SourceIndex.of(place, other._options).key
        shutil.copy(path, path.with_name(f"{key}-{rest}"))
        (path.with_name(f"{key}-binary{INDEX}")).write_bytes(b"\xff\xfe")
    assert len(index_of(place, other)) > 2
    assert all(isinstance(each, IndexPartition) for each in other.partitions())


def test_few_files_and_those_without_an_index_are_divided_in_place(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    source, target = write_source(tmp_path / "source", "contexts"), str(tmp_path / "target")
    without = reader_of(source, target, "reactive_streams", index="false")
    assert all(isinstance(each, ConvertPartition) for each in without.partitions())
    monkeypatch.setattr(divisions, "_TASK_SIZE", 256 << 20)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    assert planned(reader(source, target, "contexts"))
    assert not list(Path(target).rglob(f"*{INDEX}"))


def test_files_up_to_the_split_are_opened_by_the_tasks_that_convert_them(tmp_path: Path) -> None:
    """Captures, also compressed, and streams share a task, which leaves one receipt for a later run."""
    source, target = tmp_path / "source", str(tmp_path / "target")
    source.mkdir()
    window = stream_of("lumberjack", 3, 5)
    for number in range(24):
        data = (CAPTURES / "golumber-async-pipelined.pcap").read_bytes()
        (source / f"{number}.pcap").write_bytes(data)
        (source / f"{number}.pcap.gz").write_bytes(gzip.compress(data))
        (source / f"{number}.{window.role}.bin").write_bytes(window.data)
    own = reader_of(source, target, "lumberjack", index="true", split="64MiB")
    with opened(source) as names:
        tasks = own.partitions()
    assert not names and len(tasks) == 1 and isinstance(tasks[0], ConvertPartition)
    [batch] = own.read(tasks[0])
    [result] = results_of(batch.to_pylist())
    assert result.n_parts == 72
    assert result.counts.rows == sum(map(n_rows_of, source.iterdir())) > 72
    [done] = own.partitions()
    assert isinstance(done, ConvertPartition) and not done.parts
    assert done.done == (replace(result, is_resumed=True),)


def n_rows_of(path: Path) -> int:
    """Return how many rows a file has that is read alone."""
    own = ReadOptions.of({"protocol": "lumberjack", "path": str(path)})
    return sum(columns.rows.num_rows for columns in columns_of(parts_of(own), own.wishes, own))


def test_a_target_that_is_refused_gets_no_index(tmp_path: Path) -> None:
    source, target = write_source(tmp_path / "source", "contexts"), tmp_path / "target"
    divide(reader(source, str(target), "contexts"))
    planned(reader(source, str(target), "contexts"))
    before = set(target.rglob("*"))
    other = reader_of(source, str(target), "reactive_streams", index="true", strict="true")
    with pytest.raises(WireSparkError, match="was filled with strict false"):
        other.partitions()
    assert set(target.rglob("*")) == before


def test_files_of_a_store_are_not_asked_one_by_one(
    objects: Objects, target: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    key = f"sources/{os.path.basename(target)}"
    there = objects.put_folder(write_source(tmp_path / "source", "contexts"), key)
    divide(reader(there, target, "contexts"))
    expected = in_order(parts_of(reader(there, target, "contexts")._options))
    asked: list[str] = []
    for name in ("open", "state"):
        monkeypatch.setattr(remote_storage.RemoteStorage, name, lambda own, path, *given: asked.append(path))
    assert planned(reader(there, target, "contexts")) == expected and not asked
