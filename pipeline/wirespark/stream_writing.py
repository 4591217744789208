"""Writing streams: each task writes runs of frames, and the driver merges the runs into streams.

A run holds frames of one stream in the order of their offsets, with an index of the offsets. The runs of a
stream may interleave, because a table has no order.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from uuid import uuid4

import numpy as np

from wirespark.array_casting import plain
from wirespark.encoding import Encoder, PartCell, StreamEncoder
from wirespark.errors import WireSparkError
from wirespark.untyped import ArrowArray, Values

__all__ = ["Runs", "StreamRun", "merged", "stream_name"]

_MOST_WAITING = 1 << 20
_CHUNK = 1 << 22
Key = tuple[str | None, str | None, str | None]


@dataclass(frozen=True, slots=True, kw_only=True)
class StreamRun:
    """Frames of one stream in the file `path`, with the offset and size of each in the file `index`.

    `key`: the file, the flow and the role of the stream.
    """

    key: Key
    path: str
    index: str


class Runs:
    """The runs that one task writes below a folder."""

    def __init__(self, folder: Path, encoder: Encoder, role: str | None) -> None:
        self._folder = folder
        self._encoder = encoder
        self._role = role
        self._open: dict[Key, _Open] = {}
        self._done: list[StreamRun] = []

    def take(self, rows: Mapping[str, ArrowArray], n_rows: int) -> None:
        """Write the rows of a batch.

        Raises:
            WireSparkError: A row cannot be written.
        """
        frames = self._encoder.frames(rows, n_rows)
        files, flows, parts = (_values(rows, name, n_rows) for name in ("_file", "_flow", "_part"))
        roles = [role or self._role for role in _values(rows, "_from", n_rows)]
        offsets = _values(rows, "_offset", n_rows)
        keys = zip(files, flows, roles, strict=True)
        for frame, key, offset, part in zip(frames, keys, offsets, parts, strict=True):
            self._run(key, offset).write(frame, offset, part)

    def _run(self, key: Key, offset: int | None) -> _Open:
        """Return the run that a frame continues: the last one of its stream if the frame comes after it."""
        run = self._open.get(key)
        if run is not None and (offset is None or offset >= run.last):
            return run
        if run is not None:
            self._done.append(run.close())
        run = self._open[key] = _Open(key, self._folder / uuid4().hex, self._encoder.stream(key[2]))
        return run

    def finish(self) -> list[StreamRun]:
        """Return all runs; their bytes are on the disk."""
        return [*self._done, *(run.close() for run in self._open.values())]


def _values(rows: Mapping[str, ArrowArray], name: str, n_rows: int) -> Values:
    return plain(rows[name]) if name in rows else [None] * n_rows


class _Open:
    """A run that grows; `last`: the offset of its last frame in the stream."""

    def __init__(self, key: Key, path: Path, encoder: StreamEncoder) -> None:
        self.last = -1
        self._key = key
        self._path = path
        self._encoder = encoder
        self._waiting = bytearray()
        self._index: list[tuple[int, int]] = []

    def write(self, frame: object, offset: int | None, part: PartCell | None) -> None:
        data = self._encoder.bytes_of(frame, part)
        # A frame without an offset follows the one before, so that a run without offsets is joined as a whole.
        self.last = self.last if offset is None else offset
        self._waiting += data
        self._index.append((self.last, len(data)))
        if len(self._waiting) >= _MOST_WAITING:
            self._flush()

    def close(self) -> StreamRun:
        self._flush()
        return StreamRun(key=self._key, path=str(self._path), index=f"{self._path}.index")

    def _flush(self) -> None:
        with self._path.open("ab") as file:
            file.write(self._waiting)
        with open(f"{self._path}.index", "ab") as file:
            file.write(np.array(self._index, np.int64).tobytes())
        self._waiting.clear()
        self._index.clear()


# ---- runs to streams


def stream_name(key: Key) -> str:
    """Return the name of a stream's file: the stem of its source, a hash of source and flow, and the role that sent it."""
    file, flow, role = key
    stem = Path(file or "stream").name.partition(".")[0] or "stream"
    digest = (
        "" if file is None and flow is None else f"-{sha256(repr((file, flow)).encode()).hexdigest()[:8]}"
    )
    return f"{stem}{digest}{'' if role is None else f'.{role}'}.bin"


def merged(runs: Iterable[StreamRun], folder: Path, *, is_one: bool) -> list[Path]:
    """Write the streams that the runs belong to below a folder, and return their files.

    `is_one`: later frames depend on values that earlier frames set, and these values are known only in one run.

    Raises:
        WireSparkError: With `is_one`, a stream has more than one run.
    """
    streams: dict[Key, list[StreamRun]] = {}
    for run in runs:
        streams.setdefault(run.key, []).append(run)
    return [_written(key, own, folder, is_one=is_one) for key, own in streams.items()]


def _written(key: Key, runs: list[StreamRun], folder: Path, *, is_one: bool) -> Path:
    if is_one and len(runs) > 1:
        raise WireSparkError(
            "later frames of this protocol depend on earlier ones: "
            "write wirespark.in_order(table), which keeps each stream in one partition"
        )
    path = folder / stream_name(key)
    with path.open("wb") as target:
        for run, start, size in _stretches(runs):
            _copy(run, start, size, target.fileno())
        target.flush()
        os.fsync(target.fileno())
    return path


def _stretches(runs: list[StreamRun]) -> Iterator[tuple[StreamRun, int, int]]:
    """Yield the byte ranges to copy in stream order: the run, the offset in it, and the number of bytes."""
    indexes = [np.fromfile(run.index, np.int64).reshape(-1, 2) for run in runs]
    which = np.repeat(np.arange(len(runs)), [len(index) for index in indexes])
    offsets = np.concatenate([index[:, 0] for index in indexes])
    begins = np.concatenate([np.cumsum(index[:, 1]) - index[:, 1] for index in indexes])
    sizes = np.concatenate([index[:, 1] for index in indexes])
    order = np.argsort(offsets, kind="stable")
    which, begins, sizes = which[order], begins[order], sizes[order]
    changes = np.flatnonzero(np.diff(which)) + 1
    for first, last in zip([0, *changes], [*changes, len(which)], strict=True):
        if first < last:
            yield runs[which[first]], int(begins[first]), int(sizes[first:last].sum())


def _copy(run: StreamRun, start: int, size: int, target: int) -> None:
    with open(run.path, "rb") as source:
        while size:
            n_copied = os.sendfile(target, source.fileno(), start, min(size, _CHUNK))
            if not n_copied:
                raise AssertionError(f"{run.path} is shorter than in its index")
            start, size = start + n_copied, size - n_copied
