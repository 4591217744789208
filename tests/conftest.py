"""Settings of all tests: the length of hypothesis's search, and the evidence that `make soak` leaves."""

import os
from collections import Counter
from collections.abc import Callable
from functools import cache
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings
from tests import once
from tests.evidence import PROPERTY, SoakEvidence
from tests.soak import FOLDER, SEED, SoakInParts

TESTS = Path(__file__).resolve().parent
EVIDENCE = TESTS.parent / "docs" / "evidence"
SLOW = (
    "conformance/test_chunks",
    "conformance/test_converted_vectors",
    "conformance/test_every_vector",
    "conformance/test_generated_vectors",
    "conformance/test_joins",
    "conformance/test_lumberjack_captures",
    "conformance/test_lumberjack_limits",
    "conformance/test_pravega_capture",
    "conformance/test_trace",
    "interop/",
    "mutation/",
    "pipeline/",
    "property/test_constructs",
    "property/test_choices_with_blocks.py::test_code_of_choices_is_typed",
    "property/test_directions.py::test_its_code_is_typed",
    "exercise/",
    "property/test_facing_any",
    "property/test_frames_without_message.py::test_its_message_is_typed_as_optional",
    "property/test_hostile_values",
    "property/test_long_lists",
    "property/test_promised_memory",
    "property/test_random_schemas",
    "property/test_sample_schemas",
    "property/test_serialization_constructs",
    "property/test_vectors_of_constructs",
    "unit/generate/test_backend_from_elsewhere",
    "unit/test_benchmarks",
    "unit/generate/test_build",
    "unit/language/test_checker.py::test_a_large_file_is_answered",
    "unit/tools/test_cli.py::test_verbs_agree_about_shipped_and_unknown_protocols",
    "unit/tools/test_cli_decode.py::test_encode_undoes_decode_of_damaged_streams",
    "unit/tools/test_cli_docs_serve",
    "unit/tools/test_cli_play",
    "unit/tools/test_cli_transcode",
    "unit/tools/test_declared_at",
    "unit/site/test_diagrams",
    "unit/site/test_docs_",
    "unit/test_evidence",
    "unit/conformance/test_fuzzing",
    "unit/site/test_hostile_text",
    "unit/language/test_linear_work",
    "unit/tools/test_new",
    "unit/pythons/",
    "unit/site/test_playground",
    "unit/conformance/test_pytest_plugin",
    "unit/language/test_regular_files.py::test_the_command_ends_whatever_lies_in_the_output",
    "unit/tools/test_side_by_side",
    "unit/conformance/test_vectors_",
    "unit/generate/test_writer_processes",
)
"""Beginnings of the ids of tests that `make test-fast` leaves out: they start programs, build whole trees or try thousands of inputs."""
SAMPLED = {
    "conformance/test_every_vector.py::test_a_transcoder_keeps_the_verdict_of_invalid_bytes": 3,
    "conformance/test_every_vector.py::test_strict_refuses_what_lenient_refuses": 2,
    "conformance/test_trace_vectors.py::test_wrong_sessions_are_told_from_right_ones": 2,
    "mutation/test_mutants.py::test_nothing_shows_what_is_known_to_be_equivalent": 3,
    "pipeline/test_backends.py::test_rows_are_those_of_the_native_bytes": 2,
    "pipeline/test_columns.py::test_every_construct_has_columns": 4,
    "pipeline/test_damage.py::test_rows_tile_whatever_happened": 2,
    "pipeline/test_damage.py::test_what_nothing_happened_to_is_found": 4,
    "pipeline/test_docs_snippets.py::test_the_spark_snippets_run": 2,
    "pipeline/test_functions.py::test_cells_are_the_rows_of_their_frames": 3,
    "pipeline/test_kernels.py::test_both_paths_give_the_same_rows": 2,
    "pipeline/test_kernels.py::test_every_construct_gives_the_same_rows": 4,
    "property/test_constructs.py::test_a_construct_builds_and_comes_back": 2,
    "property/test_facing_any.py::test_two_sides_agree": 3,
    "property/test_memory_of_long_lists.py::test_many_items": 3,
    "property/test_promised_memory.py::test_an_error_behind_many_items": 3,
    "property/test_sample_schemas.py::test_random_schemas_work_in_all_stages": 2,
    "property/test_serialization_constructs.py::test_a_construct_goes_round": 2,
    "property/test_vectors_of_constructs.py::test_vectors_show_a_construct_and_hold": 4,
    "unit/conformance/test_traces_of_preambles.py::test_all_goals_behind_preambles_are_shown": 3,
    "unit/conformance/test_vectors_hold.py::test_what_is_built_is_accepted": 3,
    "unit/language/test_checker.py::test_a_large_file_is_answered": 3,
    "unit/language/test_lexical.py::test_hostile_text_takes_linear_work": 2,
    "unit/language/test_linear_work.py::test_four_times_the_declarations": 2,
    "unit/schema/test_json_form.py::test_a_protocol_as_json_has_the_shape": 3,
    "unit/site/test_docs_constructs.py::test_pages_are_made_for_every_construct": 4,
    "unit/site/test_docs_faults.py::test_what_can_go_wrong_is_listed_and_nothing_else": 2,
    "unit/site/test_docs_vectors.py::test_a_command_of_the_page_runs": 2,
    "unit/tools/test_compiled_lines.py::test_replays_of_captures": 3,
    "unit/tools/test_editor.py::test_every_declared_name_of_a_shipped_file": 2,
}
"""Beginnings of the ids of tests of which `make test` runs every n-th case; a soak, and a choice by `-k` or by id, runs all."""
LONGEST = ("exercise/", "mutation/", "pipeline/", "property/test_sample_schemas")
"""Beginnings of the ids of tests that come first: a minute-long test that came last would leave the other worker without work."""
FAST = "not slow"
"""The marks by which `make test-fast` chooses."""
SOAK = FOLDER
PROFILE = os.environ.get("HYPOTHESIS_PROFILE", "default")

settings.register_profile("default", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.register_profile("soak", settings.get_profile("default"), max_examples=1_000)
settings.register_profile("fast", settings.get_profile("default"), max_examples=20)
settings.load_profile(PROFILE)


def pytest_configure(config: pytest.Config) -> None:
    if _is_fast(config) and PROFILE == "default":
        settings.load_profile("fast")
    if PROFILE != "soak":
        return
    is_worker = bool(os.environ.get("PYTEST_XDIST_WORKER"))
    config.pluginmanager.register(SoakInParts(SOAK, tuple(config.args), is_worker=is_worker))
    if not is_worker:
        examples = settings.get_profile("soak").max_examples
        config.pluginmanager.register(SoakEvidence(EVIDENCE, examples, SEED))


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Leave out files of which every test is slow: importing them takes longer than many a test."""
    is_slow = collection_path.suffix == ".py" and _id(collection_path).startswith(SLOW)
    return True if is_slow and _is_fast(config) else None


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    if PROFILE != "soak" and not config.option.keyword:
        items[:] = sampled(items)
    for item in items:
        if f"{_id(item.path)}::{item.name}".startswith(SLOW):
            item.add_marker("slow")
    items.sort(key=lambda item: not _id(item.path).startswith(LONGEST))


def sampled(items: list[pytest.Item]) -> list[pytest.Item]:
    """Return the items without the cases that only a soak runs; of each test at least the first case is left."""
    seen: Counter[str] = Counter()
    left: list[pytest.Item] = []
    for item in items:
        name = f"{_id(item.path)}::{item.name}"
        test = name.partition("[")[0]
        step = next((step for beginning, step in SAMPLED.items() if test.startswith(beginning)), 1)
        if seen[test] % step == 0:
            left.append(item)
        seen[test] += 1
    return left


@cache
def _id(path: Path) -> str:
    return path.relative_to(TESTS).as_posix()


def _is_fast(config: pytest.Config) -> bool:
    return bool(config.option.markexpr == FAST)


@pytest.fixture
def evidence(request: pytest.FixtureRequest) -> Callable[..., None]:
    """Record figures under a name, which a soak writes down: the number of counted items, and the number of failures."""

    def record(name: str, *, count: int, failures: int, **more: float | str) -> None:
        figures = {"name": name, "count": count, "failures": failures, **more}
        request.node.user_properties.append((PROPERTY, list(figures.items())))

    return record


@pytest.fixture(scope="session", autouse=True)
def caches(tmp_path_factory: pytest.TempPathFactory) -> None:
    """Keep the notes of builds out of the user's own caches, and slow products where all workers find them."""
    once.share(tmp_path_factory)
    os.environ["LOCALAPPDATA" if os.name == "nt" else "XDG_CACHE_HOME"] = str(
        tmp_path_factory.mktemp("caches")
    )
