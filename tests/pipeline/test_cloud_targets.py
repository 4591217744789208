"""The same in a store that obstore writes to: in the memory of this process, and in a soak Microsoft's own server of Azure's store."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache

import pytest

pytest.importorskip("pyspark", reason="the extra `spark` is not installed")
pytest.importorskip("obstore", reason="the extra `spark-cloud` is not installed")

import obstore
from obstore.store import MemoryStore, ObjectStore
from tests.pipeline.azurite import served_azurite
from tests.pipeline.test_object_targets import (  # noqa: F401 - the tests and fixtures are run here
    key,
    made,
    stream,
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
    test_what_a_killed_task_left_is_removed,
)

from wirespark import WireSparkError, cloud_objects
from wirespark.target_storage import target_storage_of

IS_SOAK = os.environ.get("HYPOTHESIS_PROFILE") == "soak"
CONTAINER = "tables"


@dataclass(frozen=True, slots=True)
class CloudObjects:
    """A container, and the environment of those who read it."""

    root: str
    environment: Mapping[str, str]

    def names(self, folder: str) -> set[str]:
        """Return the names of the objects below a folder, relative to it."""
        return {each["path"] for page in obstore.list(self._store(folder)) for each in page}

    def put(self, path: str, data: bytes) -> None:
        folder, name = self._divided(path)
        obstore.put(self._store(folder), name, data)

    def remove(self, path: str) -> None:
        folder, name = self._divided(path)
        obstore.delete(self._store(folder), name)

    def _divided(self, path: str) -> tuple[str, str]:
        """Return the folder of a test, and the name in it."""
        first, second, *rest = path.split("/")
        return f"{first}/{second}", "/".join(rest)

    def _store(self, folder: str) -> ObjectStore:
        return cloud_objects._store(f"{self.root}{folder}")


@pytest.fixture(scope="module", params=["memory", "azurite"])
def objects(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[CloudObjects]:
    root = f"abfs://{CONTAINER}/"
    if request.param == "memory":
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(cloud_objects, "_store", cache(lambda address: MemoryStore()))
            yield CloudObjects(root, os.environ)
        return
    if not IS_SOAK:
        pytest.skip("npm fetches 374 packages for it: `make soak` does")
    folder = tmp_path_factory.mktemp("azurite")
    with served_azurite(folder, CONTAINER) as given, pytest.MonkeyPatch.context() as patch:
        for name, value in given.items():
            patch.setenv(name, value)
        cloud_objects._store.cache_clear()
        yield CloudObjects(root, os.environ)
        cloud_objects._store.cache_clear()


def test_what_the_store_says_is_one_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing listens at the port, and the container is not there."""
    cloud_objects._store.cache_clear()
    monkeypatch.setenv("AZURE_STORAGE_USE_EMULATOR", "true")
    monkeypatch.setenv("AZURITE_BLOB_STORAGE_URL", "http://127.0.0.1:1")
    place = target_storage_of("abfs://no-such-container/tables")
    with pytest.raises(WireSparkError) as caught:
        place.record()
    assert str(caught.value) == (
        "cannot use abfs://no-such-container/tables: it does not answer, "
        "or the environment has no credentials for it (AZURE_STORAGE_ACCOUNT_NAME and a key)"
    )


def test_a_target_without_obstore_names_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "obstore.store", None)
    with pytest.raises(WireSparkError, match=r"pip install 'wiregen\[spark-cloud\]'"):
        target_storage_of("gs://bucket/without-library").record()


@pytest.fixture(autouse=True)
def _other_processes(request: pytest.FixtureRequest) -> None:
    if "killed_run" in request.node.name and "memory" in request.node.name:
        pytest.skip("a store in memory is that of one process")
