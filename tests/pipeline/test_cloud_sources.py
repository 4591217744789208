"""Traffic in a store that obstore opens: the same files, rows and errors as on a disk."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from urllib.parse import urlencode
from urllib.request import Request, urlopen

import pytest

pytest.importorskip("pyarrow", reason="the extra `spark` is not installed")
pytest.importorskip("obstore", reason="the extra `spark-cloud` is not installed")

from obstore.store import MemoryStore
from tests.pipeline.azurite import signature
from tests.pipeline.clouds import KINDS, CloudObjects, served_cloud
from tests.pipeline.test_storage import (  # noqa: F401 - the fixture and the test are run here with these stores
    CAPTURES,
    CODE,
    PROGRAM,
    ROOT,
    rows_in,
    test_the_files_of_a_pattern_are_those_of_a_disk,
    tree,
)

from wireproto import lumberjack as lj
from wirespark import WireSparkError, cloud_stores, storage
from wirespark.planning import files_of
from wirespark.target_storage import target_storage_of

CAPTURE = "npm-w10-plain.pcap"


@pytest.fixture(scope="module", params=KINDS)
def objects(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[CloudObjects]:
    with served_cloud(request.param, tmp_path_factory.mktemp("cloud")) as found:
        yield found


@pytest.mark.usefixtures("tree")
def test_the_root_of_a_container_is_a_folder(objects: CloudObjects) -> None:
    assert f"{objects.root}tree/a.bin" in files_of((objects.root,))


def test_the_mark_of_a_folder_is_not_a_file(objects: CloudObjects) -> None:
    """Hadoop's and consoles of stores make empty objects for folders; an empty file is a file."""
    objects.put("marks/folder", b"")
    objects.put("marks/folder/deep/x.bin", b"x")
    objects.put("marks/empty.bin", b"")
    if objects.root.startswith("gs:"):
        query = urlencode({"uploadType": "media", "name": "marks/console/"})
        place = f"{os.environ['GOOGLE_BASE_URL']}/upload/storage/v1/b/tables/o?{query}"
        urlopen(Request(place, b"", {"Content-Type": "text/plain"})).close()
        assert "console" in objects.names("marks")
    there = f"{objects.root}marks"
    assert [*files_of((there,))] == [f"{there}/empty.bin", f"{there}/folder/deep/x.bin"]
    for path in (f"{there}/folder", f"{there}/f*"):
        assert [*files_of((path,))] == [f"{there}/folder/deep/x.bin"]
    with pytest.raises(FileNotFoundError):
        storage.storage_of(there).state(f"{there}/folder")
    assert [*files_of((f"{there}/empty.bin",))] == [f"{there}/empty.bin"]


@pytest.mark.parametrize("name", ["day//x.bin", "./x.bin", "day/../x.bin", "day//*"])
def test_a_name_that_no_object_has_is_told(objects: CloudObjects, name: str) -> None:
    path = f"{objects.root}{name}"
    with pytest.raises(WireSparkError) as caught:
        files_of((path,))
    said = "a name has an empty part, or one that is `.` or `..`: write it without"
    assert str(caught.value) == f"cannot read {path}: {said}"
    if "AZURITE_BLOB_STORAGE_URL" in os.environ:
        with pytest.raises(WireSparkError) as caught:
            target_storage_of(f"{objects.root}a//tables").record()
        assert str(caught.value) == f"cannot use {objects.root}a//tables: {said}"


@pytest.mark.parametrize("name", [CAPTURE, "pravega-write-read.pcap.gz"])
def test_rows_of_a_capture_are_those_of_a_disk(objects: CloudObjects, name: str) -> None:
    there = objects.put(f"pcaps/{name}", (CAPTURES / name).read_bytes())
    given = {"protocol": "pravega" if "pravega" in name else "lumberjack"}
    rows = rows_in(there, **given)
    assert rows and rows == rows_in(str(CAPTURES / name), **given)


def test_a_large_object_is_read_from_an_offset(objects: CloudObjects) -> None:
    data = bytes(range(256)) * (11 << 12)
    there = objects.put("large/x.bin", data)
    with storage.storage_of(there).open(there, 5 << 20) as file:
        read = b"".join(iter(lambda: file.read(100_000), b""))
    assert read == data[5 << 20 :]


def test_an_object_that_vanishes_is_an_error_and_not_the_end_of_a_capture(objects: CloudObjects) -> None:
    data = (CAPTURES / CAPTURE).read_bytes()
    there = objects.put("leaving/x.pcap", data + bytes(9 << 20))
    with storage.storage_of(there).open(there) as file:
        assert file.read(len(data)) == data
        objects.remove("leaving/x.pcap")
        with pytest.raises(WireSparkError, match="cannot read .*leaving"):
            file.read()
    for action in (storage.storage_of(there).state, storage.storage_of(there).open):
        with pytest.raises(FileNotFoundError):
            action(there)


def test_a_path_without_files_is_an_error_with_its_name(objects: CloudObjects) -> None:
    for path in (f"{objects.root}none", f"{objects.root}none/*"):
        with pytest.raises(WireSparkError, match="no file is named") as caught:
            files_of((path,))
        assert path in str(caught.value)


def test_spark_converts_from_the_store_into_it(objects: CloudObjects) -> None:
    """With one environment for both. A second conversion knows the objects again."""
    pytest.importorskip("pyspark", reason="the extra `spark` is not installed")
    if isinstance(cloud_stores.store_of(objects.root), MemoryStore):
        pytest.skip("a store in memory is that of one process")
    for number in range(3):
        objects.put(f"night/{number}.pcap", (CAPTURES / CAPTURE).read_bytes())
    source, target = f"{objects.root}night", f"{objects.root}tables"
    program = PROGRAM.replace(
        'spark.read.parquet(f"{target}/_frames")', 'wirespark.tables(spark, target)["_frames"]'
    )
    run = subprocess.run(
        [sys.executable, "-c", program, source, target],
        env={**objects.environment, "PYTHONPATH": os.pathsep.join(CODE)}, cwd=ROOT, capture_output=True, text=True, timeout=300, check=False,
    )  # fmt: skip
    assert run.returncode == 0, run.stderr
    found = json.loads(run.stdout.splitlines()[-1])
    n_rows = 3 * len(rows_in(f"{source}/0.pcap", protocol="lumberjack"))
    assert sum(found["counts"].values()) == found["rows"] == n_rows
    assert found["parts"] == 3 and found["resumed"] == [0, 3]


# ---- what is refused


@pytest.fixture
def rights(request: pytest.FixtureRequest, objects: CloudObjects) -> Iterator[str]:
    """Let this process act with few rights. fake-gcs-server and a store in memory deny nothing."""
    if "AZURITE_BLOB_STORAGE_URL" not in os.environ:
        pytest.skip("only Azurite knows rights")
    objects.put("denied/x.writer.bin", lj.Window(1).encode())
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("AZURE_STORAGE_SAS_TOKEN", signature(request.param))
        cloud_stores.store_of.cache_clear()
        yield request.param
    cloud_stores.store_of.cache_clear()


@pytest.mark.parametrize("rights", ["l", "r", "rl"], indirect=True)
def test_a_denial_is_told_without_the_signature(objects: CloudObjects, rights: str) -> None:
    folder = f"{objects.root}denied"
    there, target = f"{folder}/x.writer.bin", target_storage_of(f"{folder}/target")
    actions: list[tuple[str, str, Callable[[], object]]] = [
        ("l", f"cannot read {folder}/*", lambda: files_of((f"{folder}/*",))),
        ("r", f"cannot read {there}", lambda: storage.storage_of(there).open(there)),
        ("l", f"cannot use {target.address}", target.receipt_names),
        ("r", f"cannot use {target.address}", target.record),
        ("w", f"cannot use {target.address}", lambda: target.keep_index("x-1", "")),
    ]
    said = "it is denied: give credentials that have the right to it (AZURE_STORAGE_ACCOUNT_NAME and a key)"
    for right, begin, action in actions:
        if right in rights:
            action()
            continue
        with pytest.raises(WireSparkError) as caught:
            action()
        assert str(caught.value) == f"{begin}: {said}"


def test_a_store_that_does_not_answer_is_told_with_its_variables(monkeypatch: pytest.MonkeyPatch) -> None:
    cloud_stores.store_of.cache_clear()
    monkeypatch.setenv("AZURE_STORAGE_USE_EMULATOR", "true")
    monkeypatch.setenv("AZURITE_BLOB_STORAGE_URL", "http://127.0.0.1:1")
    with pytest.raises(WireSparkError) as caught:
        files_of(("abfs://silent/captures",))
    assert str(caught.value) == (
        "cannot read abfs://silent/captures: it does not answer, "
        "or the environment has no credentials for it (AZURE_STORAGE_ACCOUNT_NAME and a key)"
    )


@pytest.mark.parametrize("address", ["abfs:///x", "gs://b c/x"])
def test_an_address_without_a_store_is_told(address: str) -> None:
    with pytest.raises(
        WireSparkError, match=f"^cannot use {address[:5]}.*: this is not the address of a store: give"
    ):
        target_storage_of(address).record()


def test_a_source_without_obstore_names_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "obstore.store", None)
    with pytest.raises(WireSparkError, match=r"pip install 'wiregen\[spark-cloud\]'"):
        files_of(("gs://source-without-library/x",))


FORKED = """
import os
from wirespark import WireSparkError, cloud_stores

for address in ("abfs://tables/a", "abfs://tables/b"):
    cloud_stores.store_of(address)
child = os.fork()
if not child:
    try:
        cloud_stores.store_of("abfs://tables/a")
    except WireSparkError as error:
        print(error, flush=True)
    os._exit(0)
os.waitpid(child, 0)
"""


def test_a_fork_of_a_process_that_used_a_store_is_refused() -> None:
    """It would wait for ever."""
    run = subprocess.run(
        [sys.executable, "-c", FORKED], env={**os.environ, "PYTHONPATH": os.pathsep.join(CODE), "AZURE_STORAGE_USE_EMULATOR": "true"}, cwd=ROOT, capture_output=True, text=True, timeout=300, check=True,
    )  # fmt: skip
    assert (
        run.stdout
        == "cannot use abfs://tables/a in a fork of a process that has used stores: start it by `spawn`\n"
    )
