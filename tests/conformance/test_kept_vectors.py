"""The vectors kept here are those of their makers, byte for byte."""

from __future__ import annotations

import pytest
from tests.conformance.vectors import HERE, SHARED


@pytest.mark.parametrize("name", ["geode.json", "lumberjack.json", "reactive_streams.json", "pravega.json"])
def test_a_kept_file_is_as_its_maker_left_it(name: str) -> None:
    theirs = SHARED / "vectors" / name
    if not theirs.is_file():
        pytest.skip(f"no {SHARED.name}/vectors/{name} beside the checkout")
    assert (HERE / "data" / name).read_bytes() == theirs.read_bytes()
