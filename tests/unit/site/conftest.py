"""The shipped site as files, and one browser for each module of tests."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.unit.browser import Browser, browser
from tests.unit.docs_sites import shipped_site


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    site = tmp_path_factory.mktemp("site")
    for name, content in shipped_site().items():
        path = site / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
    return site


@pytest.fixture(scope="module")
def running() -> Iterator[Browser]:
    with browser() as tab:
        yield tab
