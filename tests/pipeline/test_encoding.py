"""Rows back to bytes: whole streams, also those whose frames say how later ones are written, or come in pieces."""

from __future__ import annotations

from pathlib import Path

import pytest

pytest.importorskip("pyarrow", reason="the extra `spark` is not installed")

from tests.pipeline.back import check_back
from tests.pipeline.streams import STREAMS, stream_of

from wirespark.options import Wishes


@pytest.mark.parametrize("protocol", STREAMS)
def test_streams_come_back(protocol: str, tmp_path: Path) -> None:
    for seed in range(2):
        stream = stream_of(protocol, seed, 40)
        check_back(stream.data, Wishes(protocol=protocol, role=stream.role), tmp_path)
