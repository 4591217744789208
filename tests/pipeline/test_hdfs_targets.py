"""The same in HDFS: with a model of a name node, and in a soak with a name node and a data node, which take 13 s to start."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("pyspark", reason="the extra `spark` is not installed")
pytest.importorskip("hdfs_native", reason="the extra `spark-hdfs` is not installed")

from hdfs_native import Client
from tests.pipeline.hdfs_server import (
    HdfsFiles,
    administer,
    forget_clients,
    modelled_hdfs,
    served_hdfs,
    settings,
)
from tests.pipeline.name_node_model import NameNodeModel
from tests.pipeline.streams import stream_of
from tests.pipeline.test_convert import run_all
from tests.pipeline.test_hdfs_versions import changed
from tests.pipeline.test_object_targets import (  # noqa: F401 - the tests and fixtures are run here
    key,
    made,
    named,
    reader,
    stream,
    table,
    target,
    test_a_compaction_gives_way_to_a_conversion,
    test_a_killed_run_is_taken_up,
    test_a_part_that_fails_leaves_nothing,
    test_a_part_that_is_tried_twice_has_its_rows_once,
    test_a_run_with_other_cuts_stops_the_one_before,
    test_a_server_that_ignores_conditions_is_refused,
    test_a_write_whose_answer_was_lost_is_known_again,
    test_an_object_that_is_gone_is_made_again,
    test_compaction_keeps_rows_and_what_is_done,
    test_every_row_is_there_once_and_a_second_run_knows_it,
    test_objects_of_a_live_run_stay,
    test_of_two_runs_that_begin_at_once_one_is_refused,
    test_other_cuts_and_a_changed_file_replace_what_was_there,
    test_runs_at_once_end_well_or_are_refused,
    test_spark_converts_into_a_store_is_killed_and_reads_what_counts,
    test_what_a_killed_task_left_is_removed,
)
from tests.pipeline.test_storage import (  # noqa: F401
    CODE,
    ROOT,
    test_a_stream_follows_objects,
    test_rows_of_a_capture_are_those_of_a_disk,
    test_rows_of_a_stream_are_those_of_a_disk,
    test_spark_reads_and_converts_objects,
    test_the_files_of_a_pattern_are_those_of_a_disk,
    tree,
)

from wirespark import WireSparkError, hdfs, hdfs_objects, storage
from wirespark.hdfs import write_text
from wirespark.hdfs_versions import VersionedText
from wirespark.object_targets import ObjectTarget
from wirespark.planning import files_of
from wirespark.stored_objects import object_folder_of

IS_SOAK = os.environ.get("HYPOTHESIS_PROFILE") == "soak"


@pytest.fixture(scope="module", params=["model", "server"])
def objects(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[HdfsFiles]:
    if request.param == "model":
        with modelled_hdfs() as files:
            yield files
        return
    if not IS_SOAK:
        pytest.skip("its start takes 13 s: `make soak` does")
    with served_hdfs(tmp_path_factory.mktemp("hdfs")) as files:
        yield files


@pytest.fixture(autouse=True)
def _other_processes(request: pytest.FixtureRequest) -> None:
    if "model" in request.node.name and any(name in request.node.name for name in ("killed_run", "_spark_")):
        pytest.skip("the model is in the memory of one process")


@pytest.fixture
def server(objects: HdfsFiles) -> Client:
    if not isinstance(objects.client, Client):
        pytest.skip("the model does not have it")
    return objects.client


def outcome(call: Callable[[], object]) -> object:
    """Return the result of a call, or the kind of its error."""
    try:
        result = call()
        return [each.path for each in result] if isinstance(result, Iterator) else result
    except (OSError, RuntimeError) as error:
        return type(error)


def answers(client: Client | NameNodeModel) -> list[object]:
    """Return the answers of a client to the calls that the pipeline makes."""
    move = partial(client.rename, "/calls/new/x", "/calls/y")
    return [
        outcome(lambda: client.create("/calls/new/x").close()),
        outcome(lambda: client.create("/calls/new/x")),
        outcome(move),
        outcome(move),
        outcome(lambda: client.create("/calls/new/x").close()),
        outcome(move),
        outcome(partial(client.rename, "/calls/new/x", "/none/y")),
        outcome(partial(client.rename, "/calls/new/x", "/calls/y", True)),
        outcome(lambda: client.list_status("/calls", True)),
        outcome(lambda: client.list_status("/calls")),
        outcome(lambda: client.list_status("/calls/y", True)),
        outcome(lambda: client.list_status("/calls/none")),
        outcome(partial(client.read, "/calls/none")),
        outcome(partial(client.get_file_info, "/calls/none")),
        [outcome(partial(client.delete, "/calls/y")) for _ in range(2)],
        outcome(lambda: removed_while_written(client)),
        *(outcome(partial(listed_while_removed, client, removed)) for removed in ("", "/b", "/c/d", "")),
    ]


def test_the_model_answers_as_a_name_node(server: Client) -> None:
    told = answers(server)
    assert told == answers(NameNodeModel()) and FileExistsError in told


def removed_while_written(client: Client | NameNodeModel) -> None:
    file = client.create("/calls/z")
    file.write(b"x")
    client.delete("/calls/z")
    file.close()


def listed_while_removed(client: Client | NameNodeModel, removed: str) -> list[str]:
    """Return the paths in a folder in their order; after the first one a folder is removed."""
    for name in ("a", "b/x", "c/d/x", "c/y"):
        outcome(lambda: client.create(f"/live/{name}").close())  # noqa: B023 - it is called at once
    found: Iterator[Any] = client.list_status("/live", True)
    first = next(found).path
    if removed:
        client.delete(f"/live{removed}", True)
    return [first, *(each.path for each in found)]


def test_writers_at_once_write_each_version_once(server: Client) -> None:
    folder = "/versions"
    told: list[list[str]] = [[], [], []]
    with ThreadPoolExecutor(3) as threads:
        for name, own in zip("abc", told, strict=True):
            threads.submit(changed, VersionedText(server, folder), name, own)
    found = VersionedText(server, folder).text()
    assert found is not None and found.version == "9"
    assert sorted(json.loads(found.text)) == sorted(each for own in told for each in own)
    assert [each.path for each in server.list_status(folder)] == [f"{folder}/9"]


# ---- what is refused


def refusal(address: str) -> str:
    """Return the sentence with which a run into a target is refused at its beginning."""
    with pytest.raises(WireSparkError) as caught:
        object_folder_of(address).write("_receipts/_target", "x")
    assert "\n" not in str(caught.value)
    return str(caught.value)


def test_what_a_name_node_refuses_is_one_sentence(
    objects: HdfsFiles, server: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    server.mkdirs("/few", create_parent=True)
    administer(objects, "-setQuota", "2", "/few")
    address = f"{objects.root}few/tables"
    said = "The NameSpace quota (directories and files) of directory /few is exceeded: quota=2 file count="
    assert refusal(address).startswith(f"cannot use {address}: {said}")
    administer(objects, "-safemode", "enter")
    said = refusal(f"{objects.root}safe")
    administer(objects, "-safemode", "leave")
    assert said.startswith(f"cannot use {objects.root}safe: Cannot create file/safe/_receipts/_versions/1.")
    assert said.endswith(" Name node is in safe mode.")
    for name in ("own", "open"):
        objects.put(f"{name}/x.bin", b"")
    server.set_permission("/own", 0o700)
    monkeypatch.setenv("HADOOP_USER_NAME", "joe")
    forget_clients()
    assert refusal(f"{objects.root}own").startswith(
        f"cannot use {objects.root}own: Permission denied: user=joe"
    )
    with pytest.raises(
        WireSparkError, match=r"^cannot read hdfs://\S+/own: Permission denied: user=joe, acc.*$"
    ):
        files_of((f"{objects.root}own",))
    assert list(files_of((f"{objects.root}o*",))) == [f"{objects.root}open/x.bin"]
    monkeypatch.undo()
    forget_clients()


def test_a_data_node_that_is_lost_is_not_the_end_of_a_file(tmp_path: Path, server: Client) -> None:
    """A reader of captures takes an OSError for the end of a damaged file: rows would be missing."""
    with served_hdfs(tmp_path) as files:
        path = files.put("x.bin", bytes(9 << 20))
        with storage.storage_of(path).open(path) as file:
            assert len(file.read(1 << 20)) == 1 << 20
            files.stop_data_node()
            with pytest.raises(WireSparkError, match=r"^cannot read hdfs://\S+/x.bin: .*$"):
                file.read()


def test_files_are_found_by_a_mount_table_and_by_the_default(
    objects: HdfsFiles, server: Client, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    objects.put("mounted/deep/x.bin", b"abc")
    mounts = "fs.viewfs.mounttable.all"
    given = {
        "fs.defaultFS": objects.root,
        f"{mounts}.link./captures": f"{objects.root}mounted",
        f"{mounts}.linkFallback": f"{objects.root}mounted",
    }
    monkeypatch.setenv("HADOOP_CONF_DIR", str(settings(tmp_path / "settings", given)))
    forget_clients()
    for root in ("viewfs://all/captures", "hdfs:///mounted"):
        for pattern in (root, f"{root}/*/x.bin"):
            assert list(files_of((pattern,))) == [f"{root}/deep/x.bin"]
        with storage.storage_of(root).open(f"{root}/deep/x.bin", 1) as file:
            assert file.read() == b"bc"
        folder = object_folder_of(f"{root}/tables")
        assert folder.write("_receipts/_target", "x") and folder.write("_receipts/a.json", "y")
        assert set(folder.sizes()) == {"_receipts/a.json"}
        objects.client.delete("/mounted/tables", True)
    monkeypatch.undo()
    forget_clients()


def test_no_name_node_is_told_with_the_address(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A client tries again for three minutes, unless its settings say less."""
    given = {"dfs.client.failover.max.attempts": "1"}
    monkeypatch.setenv("HADOOP_CONF_DIR", str(settings(tmp_path / "settings", given)))
    forget_clients()
    hint = "; HADOOP_CONF_DIR names the folder of core-site.xml and hdfs-site.xml"
    for place, said in (
        ("hdfs://127.0.0.1:1", "Connection refused (os error 111)"),
        ("hdfs://nowhere", f"No NameNode hosts found{hint}"),
        ("viewfs://nowhere", f"No viewfs fallback mount found{hint}"),
        ("hdfs://nn:abc", "hdfs://nn:abc is not the address of a server: give hdfs://name-node:8020/folder"),
    ):
        assert refusal(f"{place}/tables") == f"cannot use {place}/tables: {said}"
        with pytest.raises(WireSparkError, match=rf"^cannot (read|open) {place}/.*{re.escape(said)}$"):
            files_of((f"{place}/captures",))
    forget_clients()


def test_without_the_library_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    forget_clients()
    monkeypatch.setitem(sys.modules, "hdfs_native", None)
    assert "pip install 'wiregen[spark-hdfs]'" in refusal("hdfs://without-library/tables")
    with pytest.raises(WireSparkError, match=r"pip install 'wiregen\[spark-hdfs\]'"):
        files_of(("viewfs://without-library/captures",))


def test_a_target_of_another_storage_is_not_taken_for_a_new_one(objects: HdfsFiles, tmp_path: Path) -> None:
    copied = f"{objects.root}copied"
    objects.put("copied/_receipts/_target", b'{"rows": {}, "cuts": {}}')
    with pytest.raises(WireSparkError, match="it was copied from a disk"):
        ObjectTarget(copied).record()
    objects.remove("copied/_receipts/_target")
    objects.put("copied/_receipts/0123.json", b"{}")
    with pytest.raises(WireSparkError, match="its receipts are there, but not their record"):
        reader(tmp_path, copied).partitions()
    assert objects.names("copied") == {"_receipts/0123.json"}


@dataclass
class Partial:
    """A client for which some folders vanish while it lists those around them, or may not be listed."""

    client: Client | NameNodeModel

    def __getattr__(self, call: str) -> Any:
        return getattr(self.client, call)

    def list_status(self, path: str, recursive: bool = False) -> Iterator[Any]:
        if "vanishing" in path:
            raise FileNotFoundError(path)
        if "private" in path:
            raise PermissionError("Permission denied")
        return iter(self.client.list_status(path, recursive))


def test_folders_are_read_as_those_of_a_disk(objects: HdfsFiles, monkeypatch: pytest.MonkeyPatch) -> None:
    """Hidden ones and those that vanish are skipped below the path, which itself is read. A folder that may not be read is an error."""
    root = f"{objects.root}land"
    for name in ("x", ".vanishing/z", "vanishing/b", "day/c", "_day/d"):
        objects.put(f"land/{name}.bin", b"")
    monkeypatch.setattr(hdfs, "hdfs_client", lambda address: Partial(objects.client))
    for pattern, names in (
        ("", ["day/c", "x"]),
        ("/*", ["_day/d", "day/c", "x"]),
        ("/*/*", ["_day/d", "day/c"]),
        ("/_day", ["_day/d"]),
    ):
        assert sorted(files_of((f"{root}{pattern}",))) == [f"{root}/{name}.bin" for name in names]
    objects.put("land/private/a.bin", b"")
    for name in ("", "/private"):
        with pytest.raises(WireSparkError, match=f"^cannot read .*/land{name}: Permission denied"):
            files_of((f"{root}{name}",))


FORKED = """
import os, sys
from wirespark import storage

path = sys.argv[1]
storage.storage_of(path).state(path)
child = os.fork()
if not child:
    print(storage.storage_of(path).state(path).size, flush=True)
    os._exit(0)
os.waitpid(child, 0)
"""


def test_a_child_of_a_fork_reads(objects: HdfsFiles, server: Client) -> None:
    """It has a client of its own: that of its parent would wait for ever."""
    path = objects.put("forked/x.bin", b"abc")
    run = subprocess.run(
        [sys.executable, "-c", FORKED, path], env={**objects.environment, "PYTHONPATH": os.pathsep.join(CODE)}, cwd=ROOT, capture_output=True, text=True, timeout=300, check=True,
    )  # fmt: skip
    assert run.stdout == "3\n"


@dataclass
class Vanishing:
    """A client; while it lists a folder and those below, one of them vanishes, as often as it is told to."""

    client: Client | NameNodeModel
    n_left: int

    def __getattr__(self, call: str) -> Any:
        return getattr(self.client, call)

    def list_status(self, path: str, recursive: bool = False) -> Iterator[Any]:
        if not (recursive and self.n_left):
            return iter(self.client.list_status(path, recursive))
        self.n_left -= 1
        self.client.create(f"{path}/_vanishing/x").close()
        found = iter(self.client.list_status(path, True))
        first = next(found)
        self.client.delete(f"{path}/_vanishing", True)
        return chain([first], found)


def test_a_folder_that_vanishes_while_it_is_listed_loses_nothing(
    objects: HdfsFiles, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A run that finds no receipts forgets what other runs did, and the next one removes their files."""
    place, client = f"{objects.root}vanishing", Vanishing(objects.client, 0)
    monkeypatch.setattr(hdfs_objects, "hdfs_client", lambda address: client)
    for number, n_vanishing in enumerate((0, 0, 2, 0)):
        source = tmp_path / f"{number}.server.bin"
        source.write_bytes(stream_of("reactive_streams", 7, 130).data)
        client.n_left = n_vanishing
        run_all(reader(source, place))
    counts = Counter(row["_file"] for row in table(place, "_frames"))
    assert len(counts) == 4 and len({*counts.values()}) == 1
    client.n_left = 99
    with pytest.raises(WireSparkError, match=r"^cannot use hdfs://\S+/vanishing: .* vanish while"):
        object_folder_of(place).sizes()
    client.n_left = 0
    assert object_folder_of(f"{place}/none").sizes() == {}


def test_texts_that_killed_writers_left_are_removed(objects: HdfsFiles, tmp_path: Path) -> None:
    """Those of any bundle, and of an index."""
    (tmp_path / "x.server.bin").write_bytes(b"")
    for name in ("0123.json.ab", "4567.parts.cd", "key-0.index.ef"):
        objects.put(f"killed/_receipts/_new/{name}.unfinished", b"half a te")
    run_all(reader(tmp_path, f"{objects.root}killed"))
    assert objects.names("killed") == named(f"{objects.root}killed")


def test_a_text_whose_file_was_removed_is_written_again(objects: HdfsFiles) -> None:
    folder = object_folder_of(f"{objects.root}again")
    n_left = [2]

    def written(client: Client, path: str, text: str) -> None:
        write_text(client, path, text)
        if n_left[0]:
            n_left[0] -= 1
            objects.remove(path[1:])

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(hdfs_objects, "write_text", written)
        folder.put("_receipts/a.index", "x")
    found = folder.text("_receipts/a.index")
    assert found is not None and found.text == "x" and folder.sizes() == {"_receipts/a.index": 1}
