"""`wiregen spark`: wrong arguments are reported before a Java starts, with a way to fix them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("pyspark", reason="the extra `spark` is not installed")

from tests.unit.tools.test_cli_decode import run

from wiregen.tools.cli import progress, spark_progress, spark_session
from wirespark import storage

ROOT = Path(__file__).resolve().parents[2]
CAPTURES = ROOT / "examples" / "captures"
CAPTURE = str(CAPTURES / "npm-w10-plain.pcap")


@pytest.fixture(autouse=True)
def no_java(monkeypatch: pytest.MonkeyPatch) -> None:
    def started(*given: Any) -> None:
        raise AssertionError("a session was asked for")

    monkeypatch.setattr(spark_session, "_session", started)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        pytest.param(("--split", "x"), "split is 'x'\n  = help: give a number", id="no number"),
        pytest.param(("--split", "0"), "split is '0'\n  = help: give 1024 or more", id="too small"),
        pytest.param(("--batch", "0"), "batch is '0'\n  = help: give 1 or more", id="no batch"),
        pytest.param(("--kernel", "fast"), "'fast' is not one of", id="no kernel"),
        pytest.param(("--backend", "nix"), "nix", id="no backend"),
        pytest.param(
            ("--limit", "foo"),
            "the limit 'foo' has no value\n  = help: write NAME=VALUE, such as frame=1MiB",
            id="no value",
        ),
        pytest.param(
            ("--limit", "foo=3"), "unknown limit 'foo'\n  = help: expected one of frame", id="no limit"
        ),
        pytest.param(
            ("--from", "bob"), "unknown role 'bob'\n  = help: expected one of writer, reader", id="no role"
        ),
    ],
)
def test_wrong_options_of_convert(options: tuple[str, ...], said: str, tmp_path: Path) -> None:
    result = run("spark", "convert", "--protocol", "lumberjack", *options, CAPTURE, str(tmp_path / "tables"))
    assert (result.exit_code, said in result.stderr) == (2, True), result.output
    assert not (tmp_path / "tables").exists()


@pytest.mark.parametrize("verb", ["check", "coverage", "latencies", "levels", "pairs"])
def test_wrong_options_of_sessions(verb: str) -> None:
    result = run("spark", verb, "--protocol", "lumberjack", "--option", "ack_reach=FAR", CAPTURE)
    assert result.exit_code == 2 and "give one of ALL, WINDOW" in result.stderr, result.output


def test_options_of_sessions_reach_the_job(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []
    monkeypatch.setattr(spark_session, "_check_settings", lambda name, settings: asked.append(settings))
    run("spark", "pairs", "--protocol", "lumberjack", "--option", "a=1", "--option", "b=2", CAPTURE)
    assert asked == ["a=1,b=2"]


def test_a_source_that_is_not_there(tmp_path: Path) -> None:
    for words in (("check", str(tmp_path / "nix")), ("convert", str(tmp_path / "nix"), str(tmp_path / "t"))):
        result = run("spark", *words, "--protocol", "lumberjack")
        assert result.exit_code == 2 and "no file is named" in result.stderr, result.output


def test_a_target_that_will_not_do(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    for target, said in (
        (str(tmp_path / "file"), "not a folder"),
        (str(CAPTURES / "tables"), "is inside of the source"),
    ):
        result = run("spark", "convert", "--protocol", "lumberjack", str(CAPTURES), target)
        assert result.exit_code == 2 and said in result.stderr and "help: give a" in result.stderr


@pytest.mark.parametrize("verb", ["latencies", "profile", "check"])
def test_an_output_that_will_not_do(verb: str, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    for output in ("file", "file/out"):
        result = run("spark", verb, "--protocol", "lumberjack", "-o", str(tmp_path / output), CAPTURE)
        assert result.exit_code == 2 and "(not a folder)\n  = help: give" in result.stderr, result.output


def test_progress_off_a_terminal_says_bytes_rows_and_rate(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """What was done before the run counts as done, not for the rate."""
    now = iter((0.0, 5.0, 11.0, 12.0, 30.0))
    monkeypatch.setattr(progress, "monotonic", lambda: next(now))
    with progress.progress_of_rows(1_000_000_000) as report:
        report(200_000_000, 10)
        report(420_000_000, 1_000)
        report(450_000_000, 2_000)
        report(800_000_000, 3_000_000)
    assert capsys.readouterr().err == (
        " 42 %  420 MB  1,000 rows  20.0 MB/s\n 80 %  800 MB  3,000,000 rows  20.0 MB/s\n"
    )


def test_progress_knows_the_size_from_the_listing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """A store would be asked once for each file."""
    source = tmp_path / "source"
    source.mkdir()
    for number in range(3):
        with (source / str(number)).open("wb") as file:
            file.truncate(10_000_000)
    asked: list[int | None] = []

    @contextmanager
    def shown(size: int | None) -> Iterator[Any]:
        asked.append(size)
        yield lambda n_bytes, n_rows: None

    monkeypatch.setattr(spark_progress, "progress_of_rows", shown)
    monkeypatch.setattr(storage._Disk, "state", lambda *given: pytest.fail("it is asked again"))
    with spark_progress.watched((str(source),), str(tmp_path / "target")):
        pass
    assert asked == [30_000_000]
