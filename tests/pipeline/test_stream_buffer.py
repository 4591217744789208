"""The bytes that wait for the kernels: taking some of them copies none of the others."""

from __future__ import annotations

import numpy as np
import pytest

pytest.importorskip("numba", reason="the extra `spark` is not installed")

from wirespark.kernels import ops
from wirespark.kernels.stream_buffer import StreamBuffer
from wirespark.options import ReadOptions
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
