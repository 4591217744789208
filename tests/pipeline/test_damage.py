"""Damaged streams: the rows tile the bytes, and what nothing happened to is found again."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("pyarrow", reason="the extra `spark` is not installed")

from hypothesis import settings
from tests.pipeline.rows import rows_of
from tests.pipeline.streams import STREAMS, Stream, stream_of

from wirespark.options import Wishes

IS_SOAK = settings.get_current_profile_name() == "soak"
N_DAMAGES = 300 if IS_SOAK else 25
FRAMED = ("pravega", "pravega_documented", "geode")
"""Their frames say how long they are, so that one bad frame cannot hide another but by that number."""


def flipped(stream: Stream, dice: random.Random) -> tuple[bytes, int]:
    """Return the stream with one byte changed, and where."""
    place = dice.randrange(len(stream.data))
    data = bytearray(stream.data)
    data[place] ^= dice.randrange(1, 256)
    return bytes(data), place


def spans(rows: list[dict[str, Any]], *, has_joins: bool) -> set[tuple[int, int]]:
    """Return where frames were found; a last piece is one, also where what the pieces make together is bad."""
    return {
        (row["_offset"], row["_offset"] + row["_size"]) for row in rows if row["_error"] is None or has_joins
    }


@pytest.mark.parametrize("protocol", STREAMS)
def test_rows_tile_whatever_happened(tmp_path: Path, protocol: str) -> None:
    dice = random.Random(protocol)
    for seed in range(N_DAMAGES):
        stream = stream_of(protocol, seed % 4, 30)
        data = bytearray(stream.data)
        for _ in range(dice.randrange(1, 5)):
            place = dice.randrange(len(data))
            data[place : place + dice.randrange(0, 20)] = dice.randbytes(dice.randrange(20))
        rows = rows_of(bytes(data), Wishes(protocol=protocol, role=stream.role), tmp_path, batch_size=700)
        assert [row["_offset"] for row in rows if row["_size"]][:1] == [0]
        end = 0
        for row in rows:
            assert row["_offset"] == end
            end += row["_size"]
        assert end == len(data)


@pytest.mark.parametrize("protocol", FRAMED)
def test_one_bad_byte_costs_one_frame(tmp_path: Path, protocol: str) -> None:
    dice = random.Random(protocol)
    for seed in range(N_DAMAGES):
        stream = stream_of(protocol, seed % 4, 30)
        data, place = flipped(stream, dice)
        rows = rows_of(data, Wishes(protocol=protocol, role=stream.role), tmp_path)
        begins = (0, *stream.ends[:-1])
        whole = {
            (start, end) for start, end in zip(begins, stream.ends, strict=True) if not start <= place < end
        }
        lost = whole - spans(rows, has_joins=protocol == "geode")
        assert not lost, (seed, place, sorted(lost), [r["_error"] for r in rows if r["_error"]])
