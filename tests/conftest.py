"""What all tests share: how long hypothesis searches, and the evidence that `make soak` leaves."""

import os
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings
from tests.evidence import PROPERTY, SoakEvidence

EVIDENCE = Path(__file__).resolve().parents[1] / "docs" / "evidence"
PROFILE = os.environ.get("HYPOTHESIS_PROFILE", "default")

settings.register_profile("default", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.register_profile("soak", settings.get_profile("default"), max_examples=1_000)
settings.load_profile(PROFILE)


def pytest_configure(config: pytest.Config) -> None:
    if PROFILE == "soak" and not os.environ.get("PYTEST_XDIST_WORKER"):
        examples = settings.get_profile("soak").max_examples
        config.pluginmanager.register(SoakEvidence(EVIDENCE, examples))


@pytest.fixture
def evidence(request: pytest.FixtureRequest) -> Callable[..., None]:
    """Take figures of a name, which a soak writes down: how many there were of what is counted, and how many failed."""

    def record(name: str, *, count: int, failures: int, **more: float | str) -> None:
        figures = {"name": name, "count": count, "failures": failures, **more}
        request.node.user_properties.append((PROPERTY, list(figures.items())))

    return record


@pytest.fixture(scope="session", autouse=True)
def caches(tmp_path_factory: pytest.TempPathFactory) -> None:
    """Keep the notes of builds out of the user's own caches."""
    os.environ["LOCALAPPDATA" if os.name == "nt" else "XDG_CACHE_HOME"] = str(
        tmp_path_factory.mktemp("caches")
    )
