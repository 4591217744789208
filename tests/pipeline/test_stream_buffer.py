"""The bytes that wait for the kernels: taking some of them copies none of the others."""

from __future__ import annotations

import random
import sys
import zlib
from bisect import bisect_left
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

pytest.importorskip("numba", reason="the extra `spark` is not installed")

from tests.pipeline.rows import table_rows

from wireproto import lumberjack
from wirespark.batches import batcher_of
from wirespark.columns import Columns, Origin
from wirespark.kernels import ops
from wirespark.kernels.stream_buffer import _LEAST_WALK, StreamBuffer
from wirespark.options import Kernel, ReadOptions, Wishes
from wirespark.stream_pools import Pool
from wirespark.stream_rows import Walk

ZEROS = bytes(1 << 18)


def buffer_of(data: bytes) -> StreamBuffer:
    wishes = ReadOptions.of({"path": "x", "protocol": "lumberjack"}).wishes
    buffer = StreamBuffer(Walk(wishes, "writer"))
    buffer.add(data, 7)
    buffer.settle(0, ops.ODD)
    return buffer


def test_a_step_of_the_object_path_copies_no_waiting_bytes() -> None:
    """A long piece without frames would be copied hundreds of times."""
    buffer = buffer_of(ZEROS)
    while buffer.waiting > 1 << 13:
        buffer.step()
        (piece,) = buffer.pieces
        assert piece.time == 7 and len(piece.data) == buffer.waiting
        assert np.shares_memory(np.frombuffer(piece.data, np.uint8), np.frombuffer(ZEROS, np.uint8))


def test_bytes_after_frames_that_were_proven_keep_no_others_alive() -> None:
    buffer = buffer_of(ZEROS)
    buffer.step()
    size = buffer.waiting - 5
    buffer.settle(size, ops.CUT)
    (piece,) = buffer.pieces
    assert piece.data == bytes(5) and isinstance(piece.data, bytes)


@pytest.mark.parametrize("n_steps", [0, 1, 3])
def test_the_rest_is_all_bytes_that_wait(n_steps: int) -> None:
    buffer = buffer_of(ZEROS)
    rows = [row for _ in range(n_steps) for row in buffer.step()]
    rows += [*buffer.rest(), *buffer.walk.finish(8)]
    assert sum(row.size for row in rows) == len(ZEROS) and not buffer.pieces


def packets_of_mixed_frames() -> list[bytes]:
    """Return small packets: frames that the kernels know, and compressed ones, which they do not, by turns."""
    chance = random.Random(5)
    frames = []
    for number in range(1, 201):
        event = lumberjack.encode(lumberjack.Json(number, b'{"n":%d}' % number * chance.randrange(1, 9)))
        inner = zlib.compress(event)
        frames += [event] * chance.choice((0, 1, 100, 300)) + [b"2C" + len(inner).to_bytes(4, "big") + inner]
    data = b"".join(frames)
    cuts = sorted(chance.sample(range(1, len(data)), len(data) // 120))
    return [data[begin:end] for begin, end in zip([0, *cuts], [*cuts, len(data)], strict=True)]


def columns_of(wishes: Wishes, packets: list[bytes], *, is_pooled: bool) -> Iterator[Columns]:
    if not is_pooled:
        batcher = batcher_of(wishes, "writer", sys.maxsize)
        for time, packet in enumerate(packets):
            yield from batcher.feed(packet, time)
        yield from batcher.finish(len(packets))
        return
    pool = Pool(wishes, "writer", lambda files: Origin(file=files), sys.maxsize)
    stream = pool.direction("x", Walk(wishes, "writer"))
    for time, packet in enumerate(packets):
        stream.feed(packet, time)
    stream.finish(len(packets))
    yield from pool.flush()


@pytest.mark.parametrize("is_pooled", [False, True], ids=["alone", "pooled"])
def test_waiting_packets_are_not_put_together_for_every_frame_that_the_kernels_do_not_know(
    is_pooled: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    n_put_together = 0
    scanned_pieces = StreamBuffer.scanned_pieces

    def counted(self: StreamBuffer) -> list[Any]:
        nonlocal n_put_together
        found = scanned_pieces(self)
        n_put_together += len(found)
        return found

    def rows(kernel: Kernel) -> list[dict[str, Any]]:
        wishes = ReadOptions.of({"path": "x", "protocol": "lumberjack", "kernel": kernel}).wishes
        found = columns_of(wishes, packets, is_pooled=is_pooled)
        return sorted(
            (row for columns in found for row in table_rows(columns, wishes)), key=lambda row: row["_offset"]
        )

    monkeypatch.setattr(StreamBuffer, "scanned_pieces", counted)
    packets = packets_of_mixed_frames()
    assert rows("on") == rows("off")
    assert len(packets) > 4000
    assert n_put_together < 2 * len(packets)


@pytest.mark.parametrize("kernel", ["on", "off"])
@pytest.mark.parametrize("is_pooled", [False, True], ids=["alone", "pooled"])
def test_a_row_has_the_time_of_its_last_byte_after_an_error_too(is_pooled: bool, kernel: Kernel) -> None:
    chance = random.Random(8)
    wishes = ReadOptions.of({"path": "x", "protocol": "lumberjack", "kernel": kernel}).wishes
    n_errors = 0
    for _ in range(20):
        data = bytearray(b"".join(packets_of_mixed_frames()[:60]))
        for _ in range(3):
            data[chance.randrange(len(data))] ^= 1 << chance.randrange(8)
        cuts = sorted(chance.sample(range(1, len(data)), 40))
        packets = [bytes(data[begin:end]) for begin, end in zip([0, *cuts], [*cuts, len(data)], strict=True)]
        for columns in columns_of(wishes, packets, is_pooled=is_pooled):
            for row in table_rows(columns, wishes):
                n_errors += row["_error"] is not None
                time = bisect_left([*cuts, len(data)], row["_offset"] + row["_size"])
                assert row["_time"].timestamp() * 1e6 == pytest.approx(time)
    assert n_errors > 10


@pytest.mark.parametrize("kernel", ["on", "off"])
@pytest.mark.parametrize("is_pooled", [False, True], ids=["alone", "pooled"])
def test_frames_inside_a_frame_that_waited_have_their_own_times(is_pooled: bool, kernel: Kernel) -> None:
    """A wrong length leads to the end of a step of the object path, so that the kernels take over while the frame waits."""
    wishes = ReadOptions.of({"path": "x", "protocol": "lumberjack", "kernel": kernel}).wishes
    event = lumberjack.encode(lumberjack.Json(1, b'{"n": 1}'))
    inner = zlib.compress(event)
    head = b"2C" + len(inner).to_bytes(4, "big") + inner + event * 100
    wrong = b"2J" + bytes(4) + (_LEAST_WALK - len(head) - 10).to_bytes(4, "big")
    data = head + wrong + event * 300
    packets = [data[begin : begin + 64] for begin in range(0, len(data), 64)]
    n_inside = 0
    for columns in columns_of(wishes, packets, is_pooled=is_pooled):
        for row in table_rows(columns, wishes):
            end = row["_offset"] + row["_size"]
            n_inside += row["_error"] is None and len(head) < end < _LEAST_WALK
            assert row["_time"].timestamp() * 1e6 == pytest.approx((end - 1) // 64)
    assert n_inside > 50
