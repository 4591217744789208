"""Scans of many streams filled into common columns: their bytes, frames and tapes are put one after the other.

Invariant: the entries of a tape name places in the bytes of their own scan, and these places are moved with the
bytes. Nothing else on a tape depends on where it was written.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from wirespark.columns import Columns
from wirespark.kernels import ops
from wirespark.kernels.relay import Stretch
from wirespark.kernels.scanner import Scanner

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["StretchPool"]

_NO_TIME = -1


@dataclass(frozen=True, slots=True, kw_only=True)
class _Kept:
    """A copy of a stretch, with its flow; `offsets` and `times` are of its frames."""

    flow: str
    data: NDArray[np.uint8]
    tape: NDArray[np.int64]
    frames: NDArray[np.int64]
    offsets: NDArray[np.int64]
    times: NDArray[np.int64] | None


class StretchPool:
    """Stretches of one scanner that wait for common columns. `size`: their bytes."""

    def __init__(self, scanner: Scanner) -> None:
        self._scanner = scanner
        self._kept: list[_Kept] = []
        self.size = 0

    def add(self, stretch: Stretch, flow: str) -> None:
        """Copy the stretch of the last scan."""
        found = stretch.found
        if not len(found.frames):
            return
        begin, end = int(found.frames[0, 0]), int(found.frames[-1, 1])
        tape = self._scanner.tape[: found.n_entries].copy()
        frames = found.frames.copy()
        offsets = frames[:, 0] + stretch.base
        _move(tape, frames, self.size - begin)
        kept = _Kept(
            flow=flow,
            data=stretch.data[begin:end],
            tape=tape,
            frames=frames,
            offsets=offsets,
            times=stretch.times,
        )
        self._kept.append(kept)
        self.size += end - begin

    def flush(self) -> Iterator[Columns]:
        """Return the columns of all stretches."""
        kept, self._kept, self.size = self._kept, [], 0
        if not kept:
            return
        counts = [len(each.frames) for each in kept]
        times = [
            np.full(len(each.frames), _NO_TIME, np.int64) if each.times is None else each.times
            for each in kept
        ]
        columns = self._scanner.filled(
            np.concatenate([each.data for each in kept]),
            np.concatenate([each.tape for each in kept]),
            np.concatenate([each.frames for each in kept]),
            np.concatenate([each.offsets for each in kept]),
            np.concatenate(times),
            0,
        )
        which = pa.array(np.repeat(np.arange(len(kept)), counts))
        flows = pa.array([each.flow for each in kept], pa.string()).take(which)
        yield Columns(rows=columns.rows, messages=columns.messages, end=0, flows=flows)


def _move(tape: NDArray[np.int64], frames: NDArray[np.int64], by: int) -> None:
    """Move all places in a scan by so many bytes."""
    frames[:, :2] += by
    kinds = tape[:, 0] & 0xFF
    tape[kinds == ops.T_RUN, 2] += by
    tape[kinds == ops.T_SPAN, 1] += by
