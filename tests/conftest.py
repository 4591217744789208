"""What all tests share: how long hypothesis searches, and the evidence that `make soak` leaves."""

import json
import os
import platform
import subprocess
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

ROOT = Path(__file__).resolve().parents[1]
EVIDENCE = ROOT / "docs" / "evidence" / "soak.json"
PROFILE = os.environ.get("HYPOTHESIS_PROFILE", "default")

settings.register_profile("default", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.register_profile("soak", settings.get_profile("default"), max_examples=1_000)
settings.load_profile(PROFILE)


@pytest.fixture(scope="session", autouse=True)
def caches(tmp_path_factory: pytest.TempPathFactory) -> None:
    """Keep the notes of builds out of the user's own caches."""
    os.environ["LOCALAPPDATA" if os.name == "nt" else "XDG_CACHE_HOME"] = str(
        tmp_path_factory.mktemp("caches")
    )


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, exitstatus: int) -> None:
    """Write the outcome of a soak, with machine and commit; other runs leave nothing."""
    if PROFILE != "soak" or os.environ.get("PYTEST_XDIST_WORKER"):
        return
    outcomes = ("passed", "failed", "error", "skipped", "xfailed")
    evidence = {
        "commit": git("rev-parse", "HEAD"),
        "clean": not git("status", "--porcelain", "--", ":!docs/evidence"),
        "machine": f"{platform.machine()}, {os.cpu_count()} cores, {platform.system()}",
        "python": platform.python_version(),
        "examples": settings.get_profile("soak").max_examples,
        "exit": int(exitstatus),
        "tests": {outcome: len(terminalreporter.stats.get(outcome, [])) for outcome in outcomes},
    }
    EVIDENCE.parent.mkdir(parents=True, exist_ok=True)
    EVIDENCE.write_text(json.dumps(evidence, indent=1) + "\n", encoding="utf-8")


def git(*arguments: str) -> str:
    """Return what git prints, empty where there is no repository."""
    return subprocess.run(
        ["git", *arguments], cwd=ROOT, capture_output=True, text=True, check=False
    ).stdout.strip()
