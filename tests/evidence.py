"""The results of a soak: figures from tests, one file each, with their machine and commit.

A test takes the fixture `evidence` and says `evidence("kills", count=100, failures=0)`; other runs than soaks write nothing.
"""

from __future__ import annotations

import json
import os
import platform
import subprocess
from pathlib import Path
from typing import Any

import pytest

__all__ = ["PROPERTY", "SoakEvidence", "git"]

ROOT = Path(__file__).resolve().parents[1]
PROPERTY = "evidence"
"""The name under which a report carries figures, from worker processes too."""
OUTCOMES = ("passed", "failed", "error", "skipped", "xfailed")


class SoakEvidence:
    """A plug-in that gathers figures and writes them at the end.

    Tests that give figures of one name add up: whatever is a number, and how long they took.
    """

    def __init__(self, folder: Path, examples: int, seed: int = 0) -> None:
        self._folder = folder
        self._seed = seed
        self._examples = examples
        self._figures: dict[str, dict[str, Any]] = {}

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.when != "call":
            return
        for name, value in report.user_properties:
            if name == PROPERTY:
                self.take(dict(value), report.nodeid, report.duration)  # type: ignore[call-overload]

    def take(self, figures: dict[str, Any], test: str, seconds: float) -> None:
        known = self._figures.setdefault(figures.pop("name"), {"seconds": 0.0, "tests": []})
        known["seconds"] = round(known["seconds"] + seconds, 1)
        known["tests"] = sorted({*known["tests"], test.split("[")[0]})
        for name, value in figures.items():
            known[name] = known[name] + value if isinstance(known.get(name), int | float) else value

    def pytest_terminal_summary(
        self, terminalreporter: pytest.TerminalReporter, exitstatus: int, config: pytest.Config
    ) -> None:
        if config.args_source == pytest.Config.ArgsSource.TESTPATHS:  # of the whole, and not of a part
            stats = terminalreporter.stats
            tests = {outcome: len(stats.get(outcome, [])) for outcome in OUTCOMES}
            self._figures["soak"] = {"examples": self._examples, "exit": int(exitstatus), "outcomes": tests}
        for path in self.write():
            terminalreporter.write_line(f"evidence: {path}")

    def write(self) -> list[Path]:
        """Write a file for each name; return their paths."""
        paths, about = [], circumstances() if self._figures else {}
        for name, figures in sorted(self._figures.items()):
            paths.append(self._folder / f"{name}.json")
            self._folder.mkdir(parents=True, exist_ok=True)
            text = json.dumps(
                {"name": name, "seed": self._seed, **about, **figures}, indent=1, sort_keys=True
            )
            paths[-1].write_text(f"{text}\n", encoding="utf-8")
        return paths


def circumstances() -> dict[str, Any]:
    """Return the circumstances of figures: the commit, whether the files differ from it, the kind of machine."""
    return {
        "commit": git("rev-parse", "HEAD"),
        "clean": not git("status", "--porcelain", "--", ":!docs/evidence"),
        "machine": {"cores": os.cpu_count(), "cpu": _cpu(), "system": platform.system()},
        "python": f"{platform.python_implementation()} {platform.python_version()}",
    }


def _cpu() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        lines = []
    named = (line.partition(":")[2].strip() for line in lines if line.startswith("model name"))
    return next(named, "") or platform.processor() or platform.machine()


def git(*arguments: str) -> str:
    """Return the output of git, empty outside a repository."""
    done = subprocess.run(["git", *arguments], cwd=ROOT, capture_output=True, text=True, check=False)
    return done.stdout.strip()
