"""A user who may not list, read, write or remove objects of S3: one sentence with the name, and nothing is lost."""

from __future__ import annotations

import logging
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("pyspark", reason="the extra `spark` is not installed")

from tests.pipeline.objects import Objects
from tests.pipeline.rows import rows_of
from tests.pipeline.streams import stream_of
from tests.pipeline.test_convert import run_all
from tests.pipeline.test_object_targets import check_target, reader, table
from tests.pipeline.test_storage import rows_in

from wireproto import lumberjack as lj
from wirespark import WireSparkError, storage
from wirespark.options import Wishes
from wirespark.planning import files_of

Stream = tuple[Path, list[dict[str, Any]]]


@pytest.fixture
def target(objects: Objects, request: pytest.FixtureRequest) -> str:
    return f"{objects.root}denied/{abs(hash(request.node.nodeid)):x}"


@pytest.fixture
def stream(tmp_path: Path) -> Stream:
    path = tmp_path / "stream.server.bin"
    path.write_bytes(stream_of("reactive_streams", 7, 130).data)
    wishes = Wishes(protocol="reactive_streams", role="server")
    return path, rows_of(path.read_bytes(), wishes, tmp_path)


def check_told(error: WireSparkError, *words: str) -> None:
    text = str(error)
    assert all(word in text for word in words), text
    assert "\n" not in text and len(text) < 600


@pytest.fixture(scope="module")
def folder(objects: Objects) -> str:
    for name in "abc":
        objects.put(f"rights/{name}.writer.bin", lj.Window(1).encode())
    return f"{objects.root}rights"


def test_one_object_of_many_that_is_denied_is_told_by_its_name(
    objects: Objects, folder: str, caplog: pytest.LogCaptureFixture
) -> None:
    """A request that is denied is not tried again."""
    caplog.set_level(logging.INFO, logger="werkzeug")
    path = f"{folder}/b.writer.bin"
    with objects.denying(GetObject="rights/b*"):
        assert len(files_of((folder,))) == 3
        place = storage.storage_of(path)
        for action in (place.state, place.open, place.files):
            caplog.clear()
            with pytest.raises(WireSparkError) as caught:
                action(path)
            assert sum('" 403 ' in record.getMessage() for record in caplog.records) == 1
            check_told(caught.value, f"cannot read {path}: ", "ACCESS_DENIED")
        with pytest.raises(WireSparkError) as caught:
            rows_in(folder, protocol="lumberjack")
        check_told(caught.value, path, "ACCESS_DENIED")
        assert len(rows_in(f"{folder}/[ac]*", protocol="lumberjack")) == 2


def test_a_folder_that_may_not_be_listed_is_told_and_its_objects_are_read(
    objects: Objects, folder: str
) -> None:
    with objects.denying(ListBucket=""):
        for path in (folder, f"{folder}/*"):
            with pytest.raises(WireSparkError) as caught:
                files_of((path,))
            check_told(caught.value, f"cannot read {path}: ", "ACCESS_DENIED")
        assert len(rows_in(f"{folder}/a.writer.bin", protocol="lumberjack")) == 1


def test_rights_to_the_objects_of_a_folder_suffice(objects: Objects, folder: str) -> None:
    """An object that is named like the folder is denied then, even if there is none."""
    with objects.denying(GetObject="rights"):
        assert len(rows_in(folder, protocol="lumberjack")) == 3
    with objects.denying(GetObject="nothing"), pytest.raises(WireSparkError) as caught:
        files_of((f"{objects.root}nothing",))
    check_told(caught.value, f"cannot read {objects.root}nothing: ", "ACCESS_DENIED")


DENIED = [
    pytest.param({"PutObject": "*"}, "PutObject", id="to-write"),
    pytest.param({"PutObject": "*.parquet"}, "ACCESS_DENIED", id="to-write-tables"),
    pytest.param({"PutObject": "*.json"}, "PutObject", id="to-write-receipts"),
    pytest.param({"GetObject": "*"}, "GetObject", id="to-read"),
    pytest.param({"GetObject": "*.json"}, "GetObject", id="to-read-receipts"),
    pytest.param({"ListBucket": ""}, "ListObjectsV2", id="to-list"),
]


@pytest.mark.parametrize(("names", "word"), DENIED)
def test_a_target_that_is_denied_loses_nothing(
    stream: Stream, target: str, objects: Objects, names: dict[str, str], word: str
) -> None:
    """The error names the action. With the rights, the next run goes on."""
    path, rows = stream
    if "GetObject" in names:
        run_all(reader(path, target, split="1MiB"))
    with objects.denying(**names), pytest.raises(WireSparkError) as caught:
        run_all(reader(path, target))
    check_told(caught.value, target, word)
    run_all(reader(path, target))
    check_target(target, rows, objects)


def test_tables_that_may_not_be_read_are_told(stream: Stream, target: str, objects: Objects) -> None:
    run_all(reader(stream[0], target, split="1MiB"))
    with objects.denying(GetObject="*.parquet"), pytest.raises(WireSparkError) as caught:
        table(target, "_frames")
    check_told(caught.value, target, "ACCESS_DENIED")


def test_objects_that_may_not_be_removed_stay_and_do_not_count(
    stream: Stream, target: str, objects: Objects
) -> None:
    path, rows = stream
    run_all(reader(path, target))
    with objects.denying(DeleteObject="*"):
        run_all(reader(path, target, split="1MiB"))
        assert len(table(target, "_frames")) == len(rows)
    run_all(reader(path, target))
    check_target(target, rows, objects)
