"""`pytest --wire-vectors`: vector files as tests of somebody's own codec, run in a pytest of their own."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.unit.conformance.test_vectors_verifying import VECTORS
from tests.unit.tools.test_cli_decode import GENERATOR

pytest_plugins = ["pytester"]
CODEC = VECTORS.with_name("codec.py")
WITH_FIXTURE = """
import pytest
from codec import BROKEN, right

@pytest.fixture
def wire_codec():
    return {codec}

def test_vectors(wire_vector):
    wire_vector.check()
"""


@pytest.fixture
def project(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> pytest.Pytester:
    """Return a folder with a codec, where a new pytest finds the plug-in of this checkout."""
    monkeypatch.setenv("PYTHONPATH", str(GENERATOR))
    pytester.path.joinpath("codec.py").write_text(CODEC.read_text())
    pytester.path.joinpath("echo.json").write_text(VECTORS.read_text())
    pytester.makeini("[pytest]\naddopts = -p wiregen.pytest_plugin -p no:cacheprovider\npythonpath = .\n")
    return pytester


def run(project: pytest.Pytester, *arguments: str | Path) -> pytest.RunResult:
    return project.runpytest_subprocess("--wire-vectors", "echo.json", *arguments)


def test_a_named_codec_is_held_to_every_vector(project: pytest.Pytester) -> None:
    result = run(project, "--wire-codec", "codec:right", "-v")
    result.assert_outcomes(passed=12, skipped=2)
    result.stdout.fnmatch_lines(
        ["*echo.json::ping PASSED*", "*echo.json::turns SKIPPED (it does not trace)*"]
    )


def test_a_codec_beside_the_caller_is_found_as_it_is(project: pytest.Pytester) -> None:
    project.makeini("[pytest]\naddopts = -p wiregen.pytest_plugin -p no:cacheprovider\n")
    run(project, "--wire-codec", "codec:right").assert_outcomes(passed=12, skipped=2)


@pytest.mark.parametrize("name", ["nowhere:right", "codec:nothing", "codec:", ":right"])
def test_a_codec_that_is_not_there_is_told_once(project: pytest.Pytester, name: str) -> None:
    result = run(project, "--wire-codec", name)
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    assert result.stderr.str().count(f"--wire-codec {name}: ") == 1


def test_a_class_is_made_an_object(project: pytest.Pytester) -> None:
    run(project, "--wire-codec", "codec:Codec").assert_outcomes(passed=12, skipped=2)


def test_a_failure_says_what_was_expected_and_found(project: pytest.Pytester) -> None:
    project.path.joinpath("mine.py").write_text(
        "from codec import BROKEN\nlenient = BROKEN['lenient text']\n"
    )
    result = run(project, "--wire-codec", "mine:lenient")
    result.assert_outcomes(passed=11, failed=1, skipped=2)
    result.stdout.fnmatch_lines(
        ["no-text", "decoded whole: expected 0 frames, then invalid_text at 6, recoverable, found 1 frame"]
    )
    result.stdout.no_fnmatch_line("*Traceback*")


def test_a_fixture_gives_the_codec_to_tests_that_take_a_vector(project: pytest.Pytester) -> None:
    project.makepyfile(WITH_FIXTURE.format(codec="right"))
    run(project).assert_outcomes(passed=12, skipped=2)


def test_a_fixture_with_a_mistake(project: pytest.Pytester) -> None:
    project.makepyfile(test_mine=WITH_FIXTURE.format(codec="BROKEN['ignored limit']"))
    result = run(project, "-k", "long")
    result.assert_outcomes(passed=1, failed=2, deselected=11)
    result.stdout.fnmatch_lines(["FAILED test_mine.py::test_vectors[[]too-long[]]*"])


def test_what_is_known_to_fail_may_and_must(project: pytest.Pytester) -> None:
    project.path.joinpath("known.txt").write_text("too-long # no limit yet\ntoo-long-here\nping\n")
    project.path.joinpath("mine.py").write_text("from codec import BROKEN\nmine = BROKEN['ignored limit']\n")
    result = run(project, "--wire-codec", "mine:mine", "--wire-expected-failures", "known.txt")
    result.assert_outcomes(passed=9, failed=1, xfailed=2, skipped=2)
    result.stdout.fnmatch_lines(["*XPASS(strict)*"])


def test_a_folder_of_files(project: pytest.Pytester) -> None:
    folder = project.path / "vectors"
    folder.mkdir()
    project.path.joinpath("echo.json").rename(folder / "echo.json")
    (folder / "vectors.schema.json").write_text("{}")
    result = project.runpytest_subprocess(
        "--wire-vectors", "vectors", "--wire-codec", "codec:right", "-k", "ping"
    )
    result.assert_outcomes(passed=1, deselected=13)


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        pytest.param((), "give the codec: --wire-codec MODULE:OBJECT", id="no codec"),
        pytest.param(
            ("--wire-vectors", "none.json", "--wire-codec", "codec:right"), "none.json", id="no file"
        ),
        pytest.param(
            ("--wire-vectors", "codec.py", "--wire-codec", "codec:right"), "not JSON", id="no vectors"
        ),
    ],
)
def test_what_is_missing_is_said(project: pytest.Pytester, arguments: tuple[str, ...], told: str) -> None:
    result = run(project, *arguments)
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines([f"*{told}*"])


def test_a_codec_that_is_not_there_is_said(project: pytest.Pytester) -> None:
    result = run(project, "--wire-codec", "codec:wrong", "-k", "ping")
    assert result.ret != 0
    (result.stdout if "wrong" in result.stdout.str() else result.stderr).fnmatch_lines(
        ["*--wire-codec codec:wrong*"]
    )


def test_without_vectors_nothing_is_different(project: pytest.Pytester) -> None:
    project.makepyfile(WITH_FIXTURE.format(codec="right"))
    result = project.runpytest_subprocess()
    result.assert_outcomes(skipped=1)
