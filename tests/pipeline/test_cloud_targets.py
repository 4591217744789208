"""The same in a store that obstore writes to: in the memory of this process, and in a soak servers of Azure's and Google's stores."""

from __future__ import annotations

import sys
from collections.abc import Iterator

import pytest

pytest.importorskip("pyspark", reason="the extra `spark` is not installed")
pytest.importorskip("obstore", reason="the extra `spark-cloud` is not installed")

from tests.pipeline.clouds import KINDS, CloudObjects, served_cloud
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

from wirespark import WireSparkError, cloud_stores
from wirespark.target_storage import target_storage_of


@pytest.fixture(scope="module", params=KINDS)
def objects(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[CloudObjects]:
    with served_cloud(request.param, tmp_path_factory.mktemp("cloud"), depth=2) as found:
        yield found


def test_what_the_store_says_is_one_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing listens at the port, and the container is not there."""
    cloud_stores.store_of.cache_clear()
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
