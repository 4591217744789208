"""A soak in parts: it ends when its time is used up, and the next run continues with the tests that have not passed.

`SOAK_MINUTES` bounds a run; a test that has begun runs to its end. `SOAK_SEED` seeds hypothesis and the
tests with random numbers of their own. Passed tests are recorded in `.soak/`, for one state of the files,
one seed and one selection of tests. When all have passed, the next run begins anew.

Invariant: all workers of a run leave out the same tests, as they read a list that only the first process
writes, before they start.
"""

from __future__ import annotations

import hashlib
import os
import time
from pathlib import Path

import pytest
from tests.evidence import git

__all__ = ["SEED", "SoakInParts", "seconds_left"]

FOLDER = Path(__file__).resolve().parents[1] / ".soak"
SEED = int(os.environ.get("SOAK_SEED") or 0)
APART = ("--", ".", ":!docs/evidence")
"""All files but those that a soak writes: committing its evidence does not end it."""
END = "SOAK_END"
"""The variable that tells workers, and tests with loops of their own, when the run is to end, in seconds since 1970."""


def seconds_left() -> float:
    """Return how many seconds remain of the run; infinite where nothing bounds it."""
    return float(os.environ.get(END, "inf")) - time.time()


class SoakInParts:
    """A plug-in of pytest: leave out what passed before, skip what the time does not suffice for.

    `folder` holds `key` (what the progress is of), `done` (read when tests are collected) and `passed` (written as tests pass).
    """

    def __init__(self, folder: Path, arguments: tuple[str, ...], *, is_worker: bool) -> None:
        self._folder = folder
        self._is_worker = is_worker
        self._n_late = 0
        if not is_worker:
            minutes = float(os.environ.get("SOAK_MINUTES") or 0)
            if minutes:
                os.environ[END] = str(time.time() + 60 * minutes)
            tree = (git("ls-files", "--stage", *APART), git("diff", *APART))
            self._begin("\n".join((*tree, str(SEED), *arguments)))

    def _begin(self, about: str) -> None:
        """Move what passed in earlier runs to the list that is left out; forget it where it is of something else."""
        self._folder.mkdir(exist_ok=True)
        key = hashlib.sha256(about.encode()).hexdigest()
        if self._lines("key") == [key]:
            done = sorted({*self._lines("done"), *self._lines("passed")})
        else:
            done = []
        (self._folder / "key").write_text(f"{key}\n", encoding="ascii")
        (self._folder / "done").write_text("".join(f"{each}\n" for each in done), encoding="utf-8")
        (self._folder / "passed").write_text("", encoding="utf-8")

    def _lines(self, name: str) -> list[str]:
        path = self._folder / name
        return path.read_text(encoding="utf-8").splitlines() if path.is_file() else []

    @pytest.hookimpl(trylast=True)
    def pytest_collection_modifyitems(self, config: pytest.Config, items: list[pytest.Item]) -> None:
        done = set(self._lines("done"))
        left_out = [item for item in items if _line_of(item.nodeid) in done]
        if left_out:
            config.hook.pytest_deselected(items=left_out)
            items[:] = [item for item in items if _line_of(item.nodeid) not in done]

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_setup(self) -> None:
        if seconds_left() <= 0:
            pytest.skip("the time of this soak is used up: the next one goes on here")

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if self._is_worker:
            return
        if report.when == "call" and report.passed:
            with (self._folder / "passed").open("a", encoding="utf-8") as file:
                file.write(f"{_line_of(report.nodeid)}\n")
        self._n_late += (
            report.when == "setup" and report.skipped and "the time of this soak" in str(report.longrepr)
        )

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        if self._is_worker:
            return
        n_done = len(self._lines("done"))
        if n_done:
            terminalreporter.write_line(f"soak: {n_done} tests passed in earlier parts")
        if self._n_late:
            terminalreporter.write_line(f"soak: {self._n_late} tests are left; `make soak` goes on with them")
        elif not terminalreporter.stats.get("failed") and not terminalreporter.stats.get("error"):
            terminalreporter.write_line("soak: whole; the next one begins anew")
            (self._folder / "key").unlink(missing_ok=True)


def _line_of(nodeid: str) -> str:
    """Return the name of a test on one line."""
    return nodeid.replace("\\", "\\\\").replace("\n", "\\n").replace("\r", "\\r")
