"""Damaged streams: the rows tile the bytes, and undamaged frames are found again."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import pytest
from tests.built_schema import schema_of

pytest.importorskip("pyarrow", reason="the extra `spark` is not installed")

from hypothesis import settings
from tests.pipeline.rows import rows_of
from tests.pipeline.streams import STREAMS, Stream, stream_of

from wiregen.runtime.codec.options import Options
from wiregen.runtime.reference.explain import explain
from wireproto import lumberjack
from wirespark.options import Kernel, Wishes
from wirespark.packages import package_of

IS_SOAK = settings.get_current_profile_name() == "soak"
N_DAMAGES = 300 if IS_SOAK else 25
MOST_LOST = (dict.fromkeys(STREAMS, 0.004) if IS_SOAK else {}) | {"reactive_streams": 0.04}
"""The share of undamaged frames that may be lost, by default 0.

Reactive Streams begins frames with a code of one byte and numbers of a few bits, so that they seem to occur
inside others. In the other protocols it takes a damaged length that leads to the start of a frame.
"""


KINDS = ("flip", "insertion", "deletion", "cut")


def changed(stream: Stream, dice: random.Random, kind: str) -> tuple[bytes, list[tuple[int, int]]]:
    """Return the stream with one thing done to it, and where the frames lie now that nothing happened to."""
    data, place, size = stream.data, dice.randrange(len(stream.data)), dice.randrange(1, 20)
    frames = list(zip((0, *stream.ends[:-1]), stream.ends, strict=True))
    match kind:
        case "flip":
            found = data[:place] + bytes([data[place] ^ dice.randrange(1, 256)]) + data[place + 1 :]
            return found, [(start, end) for start, end in frames if not start <= place < end]
        case "insertion":
            behind = [(start + size, end + size) for start, end in frames if start >= place]
            before = [(start, end) for start, end in frames if end <= place]
            return data[:place] + dice.randbytes(size) + data[place:], before + behind
        case "deletion":
            size = min(size, len(data) - place)
            behind = [(start - size, end - size) for start, end in frames if start >= place + size]
            before = [(start, end) for start, end in frames if end <= place]
            return data[:place] + data[place + size :], before + behind
        case _:
            return data[:place], [(start, end) for start, end in frames if end <= place]


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


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("protocol", STREAMS)
def test_what_nothing_happened_to_is_found(tmp_path: Path, protocol: str, kind: str) -> None:
    """And all rows together are the bytes that there are."""
    dice = random.Random(protocol)
    n_whole = n_lost = 0
    for seed in range(N_DAMAGES):
        stream = stream_of(protocol, seed % 4, 30)
        data, whole = changed(stream, dice, kind)
        rows = rows_of(data, Wishes(protocol=protocol, role=stream.role), tmp_path)
        lost = set(whole) - spans(rows, has_joins=bool(package_of(protocol).schema.joins))
        # By chance what is left of a frame, or a length that was changed, leads to where another one ends: it is believed.
        if kind in ("deletion", "flip"):
            ends = {end for _, end in whole}
            led = [(r["_offset"], r["_offset"] + r["_size"]) for r in rows]
            lost = {(a, b) for a, b in lost if not any(x < a and b <= y and y in ends for x, y in led)}
        assert sum(row["_size"] for row in rows) == len(data)
        n_whole, n_lost = n_whole + len(whole), n_lost + len(lost)
        assert protocol in MOST_LOST or not lost, (seed, sorted(lost), [r["_error"] for r in rows])
    assert n_lost <= MOST_LOST.get(protocol, 0) * n_whole


@pytest.mark.parametrize("protocol", ["lumberjack", "pravega", "pravega_documented"])
def test_damaged_bytes_are_in_error_rows(tmp_path: Path, protocol: str) -> None:
    """Or in what is a frame all the same, as a name with another letter is; the reference codec says which."""
    dice, plan = random.Random(protocol), schema_of(package_of(protocol).native)
    n_errors = 0
    for seed in range(N_DAMAGES):
        stream = stream_of(protocol, seed % 4, 30)
        place = dice.randrange(len(stream.data))
        junk = dice.randbytes(dice.randrange(1, 20))
        data = stream.data[:place] + junk + stream.data[place + seed % 2 * len(junk) :]
        for row in rows_of(data, Wishes(protocol=protocol, role=stream.role), tmp_path):
            start, end = row["_offset"], row["_offset"] + row["_size"]
            if start < place + len(junk) and place < end:
                n_errors += row["_error"] is not None
                if row["_error"] is None:
                    tree = explain(plan, data[start:end], 0, end - start, Options(stream.role))
                    assert tree.end == end - start, (seed, row)
    assert n_errors > N_DAMAGES / 4


@pytest.mark.parametrize("kernel", ["on", "off"])
def test_frames_inside_a_wrong_length_are_found_before_the_next_damage(
    tmp_path: Path, kernel: Kernel
) -> None:
    """A wrong length is known by the frames that lead beyond it; those before more damage in it are frames too."""
    frames = [lumberjack.encode(lumberjack.Json(number, b'{"n": %d}' % number)) for number in range(1, 101)]
    sizes = [len(frame) for frame in frames]
    data = bytearray(b"".join(frames))
    data[sum(sizes[:10]) + 6 : sum(sizes[:10]) + 10] = sum(sizes[11:50]).to_bytes(4, "big")
    data[sum(sizes[:30]) + 1] ^= 0x40
    wishes = Wishes(protocol="lumberjack", role="writer", kernel=kernel)
    rows = rows_of(bytes(data), wishes, tmp_path)
    found = [row["_offset"] for row in rows if row["_error"] is None]
    starts = [sum(sizes[:number]) for number in range(100) if number not in (10, 30)]
    assert set(starts) - set(found) <= {sum(sizes[:29])}
    assert sum(row["_size"] for row in rows) == len(data)
