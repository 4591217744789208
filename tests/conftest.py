"""Settings of all tests: the length of hypothesis's search, and the evidence that `make soak` leaves."""

import os
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings
from tests import once
from tests.checked_once import remembering
from tests.evidence import PROPERTY, SoakEvidence
from tests.sampling import SECONDS, id_of, sampled
from tests.soak import FOLDER, SEED, SoakInParts

from wiregen.generate import frontend

EVIDENCE = Path(__file__).resolve().parents[1] / "docs" / "evidence"
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
    is_slow = collection_path.suffix == ".py" and id_of(collection_path).startswith(SLOW)
    return True if is_slow and _is_fast(config) else None


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    is_choice = config.option.keyword or any("::" in each for each in config.args)
    is_choice = is_choice or any(
        name.startswith("UPDATE_") for name in os.environ
    )  # expected output of all is renewed
    if PROFILE != "soak" and not is_choice:
        items[:] = sampled(items, SECONDS)
    for item in items:
        if f"{id_of(item.path)}::{item.name}".startswith(SLOW):
            item.add_marker("slow")
    items.sort(key=lambda item: not id_of(item.path).startswith(LONGEST))


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
    """Keep the notes of builds out of the user's own caches, slow products where all workers find them, and what was checked.

    What is cached is for all processes of a user, so all workers have one cache: kernels and templates are compiled once in a run.
    """
    once.share(tmp_path_factory)
    os.environ["LOCALAPPDATA" if os.name == "nt" else "XDG_CACHE_HOME"] = str(once.common_folder("caches"))
    frontend.check_source = remembering(frontend.check_source)
