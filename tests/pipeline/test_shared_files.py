"""Sources that share files of tables: one that changes is converted again, and the rows of absent ones stay."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator
from itertools import islice
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("pyspark", reason="the extra `spark` is not installed")

from pyarrow import parquet as pq
from pyspark.sql.types import StructType
from tests.pipeline.objects import Objects
from tests.pipeline.test_convert import reader_of
from tests.pipeline.test_output import streamed, written

from wireproto import lumberjack as lj
from wirespark import WireSparkError
from wirespark.compacting import CompactReader
from wirespark.conversion import Summary, summary_of
from wirespark.convert_source import (
    PREPARATIONS,
    ConvertReader,
    RewritePartition,
    is_preparation,
    results_of,
)
from wirespark.disk_targets import DiskTarget
from wirespark.object_targets import ObjectTarget
from wirespark.output import divided
from wirespark.receipts import BundleResult, Receipt
from wirespark.stored_tables import TableReader
from wirespark.target_storage import target_storage_of

N_FILES = 90
"""More than have files of their own."""


class Killed(BaseException):
    """The end of a process."""


@pytest.fixture(params=["disk", "objects"])
def target(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    if request.param == "disk":
        return str(tmp_path / "target")
    found: Objects = request.getfixturevalue("objects")
    return f"{found.root}shared/{abs(hash(request.node.nodeid)):x}"


@pytest.fixture
def source(tmp_path: Path) -> Path:
    return written(tmp_path / "source", range(N_FILES))


def reader(source: Path, target: str, prepared: str = "none", **given: str) -> ConvertReader:
    own = reader_of(source, target, "lumberjack", **{"split": "1MiB", **given})
    return ConvertReader(own._target, prepared=prepared)


def converted(source: Path, target: str, *, changing: Iterable[int] = (), **given: str) -> Summary:
    """Convert as `wirespark.convert` does. `changing`: files that change before one read each."""
    changes, results = iter(changing), list[BundleResult]()
    for prepared in PREPARATIONS:
        for number in islice(changes, 1):
            change(source, number)
        own = reader(source, target, prepared, **given)
        found = [row for each in own.partitions() for batch in own.read(each) for row in batch.to_pylist()]
        results += results_of(found)
        if not is_preparation(found):
            break
    return summary_of(results, 1.0)


def compacted(target: str) -> None:
    own = CompactReader(target_storage_of(target), divided({})[0])
    assert [row for each in own.partitions() for batch in own.read(each) for row in batch.to_pylist()]


def files_in(target: str, table: str) -> Iterator[Any]:
    """Yield the files that a reader of a table opens: on a disk all that are there."""
    if "://" not in target:
        yield from sorted(Path(target, table).glob("*.parquet"))
        return
    place = ObjectTarget(target)
    for receipt in place.contents().receipts:
        yield from (place.open(file) for file in receipt.files if file.startswith(f"{table}/"))


def rows_by_file(target: str) -> Counter[str]:
    """Return the number of rows by file; those of all tables agree."""
    found = {name: Counter[str]() for name in ("_frames", "message=data", "message=window")}
    for name, counts in found.items():
        for file in files_in(target, name):
            counts.update(Path(row).name for row in pq.ParquetFile(file).read().column("_file").to_pylist())
    assert found["_frames"] == found["message=data"] + found["message=window"]
    return found["_frames"]


def rows_that_count(target: str) -> Counter[str]:
    """Return the number of rows by file in the files that count."""
    own = TableReader(target_storage_of(target), "_frames", StructType().add("_file", "string"))
    batches = [batch for each in own.partitions() for batch in own.read(each)]
    return Counter(Path(row).name for batch in batches for row in batch.column("_file").to_pylist())


def wanted(*ranges: Collection[int]) -> Counter[str]:
    return Counter(2 * [f"{number:03}.writer.bin" for numbers in ranges for number in numbers])


def rotated(source: Path, numbers: Collection[int]) -> None:
    for number in numbers:
        (source / f"{number:03}.writer.bin").unlink()


def change(source: Path, number: int) -> None:
    """Let a file have two rows more."""
    path = source / f"{number:03}.writer.bin"
    path.write_bytes(path.read_bytes() + streamed(lj.Window(3), lj.Data(number, [])))


@pytest.mark.parametrize("is_compacted", [False, True])
def test_rows_of_absent_sources_stay_when_another_one_changes(
    source: Path, target: str, is_compacted: bool
) -> None:
    converted(source, target)
    rotated(source, range(2, N_FILES))
    written(source, range(200, 201))
    converted(source, target)
    if is_compacted:
        compacted(target)
    os.utime(source / "000.writer.bin", ns=(1, 1))
    first = converted(source, target)
    assert rows_by_file(target) == wanted(range(N_FILES), [200])
    assert (first.parts, first.resumed, first.rows, first.replaced) == (3, 2, 6, 2)
    change(source, 1)
    converted(source, target)
    assert rows_by_file(target) == wanted(range(N_FILES), [200], [1])
    again = converted(source, target)
    assert (again.parts, again.resumed, again.rows, again.replaced) == (3, 3, 8, 0)


def test_sources_may_change_while_others_are_prepared(source: Path, target: str) -> None:
    converted(source, target)
    rotated(source, range(4, N_FILES))
    converted(source, target, changing=range(4))
    assert rows_by_file(target) == wanted(range(N_FILES), range(4))


def test_sources_that_never_rest_are_told_in_a_sentence(source: Path, target: str) -> None:
    converted(source, target)
    rotated(source, range(9, N_FILES))
    with pytest.raises(WireSparkError, match="sources change, or another run changes") as caught:
        converted(source, target, changing=range(9))
    assert type(caught.value) is WireSparkError
    assert rows_by_file(target)["089.writer.bin"] == 2
    converted(source, target)
    assert set(rows_by_file(target)) == set(wanted(range(N_FILES)))


def test_other_cuts_and_a_lost_file_cost_no_row_of_an_absent_source(source: Path, target: str) -> None:
    """A table's file that somebody removed is not made again for absent sources; the other tables keep their rows."""
    converted(source, target)
    rotated(source, range(1, N_FILES))
    [receipt] = target_storage_of(target).contents().receipts
    lost = next(file for file in receipt.files if file.startswith("message=window"))
    if "://" in target:
        ObjectTarget(target)._objects.remove([lost])
    else:
        Path(target, lost).unlink()
    converted(source, target, split="1KiB")
    kept = [
        row for file in files_in(target, "message=data") for row in pq.ParquetFile(file).read().to_pylist()
    ]
    assert sorted(row["sequence"] for row in kept) == list(range(N_FILES))
    assert converted(source, target, split="1KiB").resumed == 1


def test_the_summary_is_of_the_files_of_the_run(source: Path, target: str) -> None:
    """Whatever else shares files with them."""
    change(source, 0)
    first = converted(source, target)
    assert (first.parts, first.rows, first.messages) == (90, 182, {"Data": 91, "Window": 91})
    rotated(source, range(2, N_FILES))
    second = converted(source, target)
    assert (second.parts, second.resumed, second.rows) == (2, 2, 6)
    assert second.messages == {"Data": 3, "Window": 3} and second.size < first.size
    written(source, range(200, 201))
    before = converted(source, target)
    compacted(target)
    after = converted(source, target)
    assert (before.rows, before.size) == (after.rows, after.size) == (8, before.size)
    assert (after.parts, after.resumed) == (3, 3)


@pytest.mark.parametrize("moment", ["before", "after"])
def test_a_run_that_is_killed_while_it_takes_rows_out_loses_none(
    source: Path, target: str, moment: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    converted(source, target)
    rotated(source, range(1, N_FILES))
    change(source, 0)
    with monkeypatch.context() as patch, pytest.raises(Killed):
        _kill(patch, target, moment)
        converted(source, target)
    assert rows_by_file(target) >= wanted(range(1, N_FILES))
    assert rows_that_count(target) == wanted(range(int(moment == "after"), N_FILES))
    converted(source, target)
    assert rows_by_file(target) == wanted(range(N_FILES), [0])
    assert len(target_storage_of(target).contents().receipts) == 2


def _kill(patch: pytest.MonkeyPatch, target: str, moment: str) -> None:
    """Kill the process before a rewritten receipt counts, or before what it replaces is removed."""

    def killed(*given: object) -> None:
        raise Killed

    if "://" not in target:
        patch.setattr(DiskTarget, "_named" if moment == "before" else "_remove", killed)
    elif moment == "before":
        patch.setattr(ObjectTarget, "_first", killed)
    else:
        patch.setattr(type(ObjectTarget(target)._objects), "remove", killed)


def test_receipts_that_a_killed_compaction_left_are_not_merged_twice(source: Path, tmp_path: Path) -> None:
    """Killed before it removed a receipt of two sources, of which one changes and one is absent."""
    target = tmp_path / "target"
    converted(source, str(target))
    written(source, range(200, 202))
    converted(source, str(target))
    old = {path: path.read_bytes() for path in target.rglob("*") if path.is_file()}
    receipts = DiskTarget(target).contents().receipts
    compacted(str(target))
    for path, data in old.items():
        path.write_bytes(data)
    assert len(DiskTarget(target).contents().receipts) == len(receipts) + 1
    assert rows_that_count(str(target)) == wanted(range(N_FILES), [200, 201])
    [merged] = (path for path in (target / "_frames").glob("*.parquet") if path not in old)
    merged.rename(target / "elsewhere")
    with pytest.raises(WireSparkError, match="parquet of .* is gone"):
        rows_that_count(str(target))
    (target / "elsewhere").rename(merged)
    own = CompactReader(DiskTarget(target), divided({})[0])
    assert not [row for each in own.partitions() for row in own.read(each)]
    rotated(source, range(1, N_FILES))
    change(source, 0)
    converted(source, str(target))
    assert rows_by_file(str(target)) == wanted(range(N_FILES), [200, 201], [0])
    change(source, 200)
    converted(source, str(target))
    rotated(source, [0, 200])
    converted(source, str(target))
    assert rows_by_file(str(target)) == wanted(range(N_FILES), [200, 201], [0, 200])


def during(run: Callable[[], object], monkeypatch: pytest.MonkeyPatch) -> None:
    """Do something once, when a rewritten bundle has all its files and no receipt yet."""
    replace, waiting = ObjectTarget.replace, [run]

    def replaced(storage: ObjectTarget, *given: Any) -> Receipt | None:
        if waiting:
            waiting.pop()()
        return replace(storage, *given)

    monkeypatch.setattr(ObjectTarget, "replace", replaced)


@pytest.mark.parametrize("is_compaction", [False, True])
def test_files_that_another_run_may_have_removed_do_not_count(
    source: Path, objects: Objects, is_compaction: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A run of other files begins while they wait for their receipt: rather nothing is changed, and that is said."""
    target = f"{objects.root}shared/removed-{is_compaction}"
    converted(source, target)
    written(source, range(200, 201))
    converted(source, target)
    rotated(source, range(1, N_FILES))
    other = written(tmp_path / "other", range(300, 301))
    if is_compaction:
        during(lambda: converted(other, target), monkeypatch)
        own = CompactReader(ObjectTarget(target), divided({})[0])
        assert not [row for each in own.partitions() for row in own.read(each)]
        assert rows_by_file(target) == wanted(range(N_FILES), [200], [300])
        return
    change(source, 0)
    first = reader(source, target)
    [part] = first.partitions()
    assert isinstance(part, RewritePartition)
    during(lambda: converted(other, target), monkeypatch)
    list(first.read(part))
    with pytest.raises(WireSparkError, match="which is absent: wait for it to end, and start this one again"):
        reader(source, target, "all").partitions()
    assert rows_by_file(target) == wanted(range(N_FILES), [200], [300])
    converted(source, target)
    assert rows_by_file(target) == wanted(range(N_FILES), [200], [300], [0])
