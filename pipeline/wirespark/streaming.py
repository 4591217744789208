"""`spark.readStream.format("wire")`: files that arrive, and files that grow, as an unbounded table.

An offset holds for each file how far it was read (where a frame ends) and the state that earlier frames left.
So a batch that is read again has the same rows.
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

from pyspark.sql.datasource import DataSourceStreamReader, InputPartition
from pyspark.sql.streaming.datasource import (
    ReadAllAvailable,
    ReadLimit,
    ReadMaxBytes,
    ReadMaxFiles,
    SupportsTriggerAvailableNow,
)
from pyspark.sql.types import StructType

from wiregen.formats.capture import is_capture
from wirespark.batches import Slice, batcher_of
from wirespark.decoders import Snapshot, context_of, has_context
from wirespark.errors import WireSparkError
from wirespark.options import ReadOptions
from wirespark.planning import Part, files_of, role_of, shares_of
from wirespark.source import BatchConverter, WirePartition
from wirespark.storage import is_remote
from wirespark.stream_rows import Walk
from wirespark.untyped import Batch, Made

__all__ = ["FollowReader"]

_CHUNK = 1 << 20
_MARGIN = 1 << 12
"""Bytes at the end of a file in which cuts are recorded. Each cut costs a snapshot of the state."""
Place = dict[str, Made]
"""How far a file was read.

`at`: a number of bytes; `state`: the state that frames up to there left, as JSON; `whole`: the file ended
there.
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Room:
    """The bytes and files that one batch may still read; None is no limit."""

    n_bytes: int | None = None
    n_files: int | None = None

    @classmethod
    def of(cls, limit: ReadLimit) -> _Room:
        match limit:
            case ReadMaxBytes(max_bytes=size):
                return cls(n_bytes=size)
            case ReadMaxFiles(max_files=count):
                return cls(n_files=count)
            case _:
                return cls()

    @property
    def is_full(self) -> bool:
        return (self.n_bytes is not None and self.n_bytes <= 0) or self.n_files == 0

    def without(self, size: int) -> _Room:
        return _Room(
            n_bytes=None if self.n_bytes is None else self.n_bytes - size,
            n_files=None if self.n_files is None else self.n_files - 1,
        )


class FollowReader(DataSourceStreamReader, SupportsTriggerAvailableNow):
    """One stream of batches. Removed files are dropped from the offset; complete files are read once."""

    def __init__(self, options: ReadOptions, schema: StructType) -> None:
        self._options = options
        self._tables = BatchConverter(options, schema)
        self._sizes: dict[str, int] | None = None

    def initialOffset(self) -> dict[str, Made]:
        return {"files": "{}"}

    def getDefaultReadLimit(self) -> ReadLimit:
        options = self._options
        if options.most_bytes is not None:
            return ReadMaxBytes(options.most_bytes)
        return ReadAllAvailable() if options.most_files is None else ReadMaxFiles(options.most_files)

    def prepareForTriggerAvailableNow(self) -> None:
        self._sizes = self._present()

    def latestOffset(self, start: dict[str, Made], limit: ReadLimit) -> dict[str, Made]:
        places, room = _places(start), _Room.of(limit)
        sizes = self._present() if self._sizes is None else self._sizes
        found = {path: place for path, place in places.items() if path in sizes}
        for path, size in sizes.items():
            place = found.get(path, {"at": 0})
            if size < place["at"]:
                raise WireSparkError(
                    f"{path} has become shorter, but a stream reads files that only grow: "
                    "restore the file, or begin with a new checkpoint"
                )
            if place.get("whole") and size == place["at"]:
                continue
            if room.is_full:
                break
            after = self._advanced(path, place, size, room)
            if after != place:
                found[path] = after
                room = room.without(after["at"] - place["at"])
        return {"files": json.dumps(found, sort_keys=True)} if found != places else start

    def _present(self) -> dict[str, int]:
        """Return the files that exist now, the oldest first, and their sizes in bytes."""
        found = []
        if any(map(is_remote, self._options.paths)):
            raise WireSparkError(
                "a stream follows files on disks only: read other storages with `spark.read`"
            )
        for path in files_of(self._options.paths):
            try:
                status = os.stat(path)
            except FileNotFoundError:
                continue  # somebody has taken it away meanwhile
            found.append((status.st_mtime_ns, path, status.st_size))
        return {path: size for _, path, size in sorted(found)}

    def _advanced(self, path: str, place: Place, size: int, room: _Room) -> Place:
        """Return the place up to which a file is read next."""
        options = self._options
        is_over = not options.is_growing or time.time() - os.stat(path).st_mtime >= options.idle
        most = size if room.n_bytes is None else min(size, place["at"] + max(room.n_bytes, 1))
        if self._is_capture(path):
            return {"at": size, "whole": True} if is_over else place
        if is_over and most == size:
            return {"at": size, "whole": True}  # should it go on one day, it begins anew
        return self._walked(path, place, size, most)

    def _walked(self, path: str, place: Place, size: int, most: int) -> Place:
        """Return the place where frames end within about `most` bytes, and the state that they left."""
        if has_context(self._options.wishes.package):
            for margin in (_MARGIN, size):
                found = self._cut(path, place, size, most, most - margin)
                if found is not None:
                    return {"at": found[0], "state": json.dumps(found[1])}
            return place
        start = place["at"]
        batcher = batcher_of(
            self._options.wishes,
            role_of(path, self._options.wishes),
            _CHUNK,
            offset=start,
            is_beginning=start == 0,
        )
        for data in _read(path, start, size, most, lambda: batcher.given > start):
            for _ in (*batcher.feed(data), *batcher.flush()):
                pass
        return {"at": batcher.given} if batcher.given > start else place

    def _cut(
        self, path: str, place: Place, size: int, most: int, due: int
    ) -> tuple[int, Snapshot | None] | None:
        """Return the last offset from `due` on where a valid frame begins, with the state there."""
        wishes, start = self._options.wishes, place["at"]
        context = context_of(wishes, _state(place))
        role, error = role_of(path, wishes), wishes.package.native.DecodeError
        walk = Walk(wishes, role, context=context, offset=start, is_beginning=start == 0)
        walk.due = max(due, start + 1)
        found: list[tuple[int, Snapshot | None]] = []
        for data in _read(path, start, size, most, lambda: bool(found)):
            for row in walk.feed(data):
                if walk.cut is None or row.offset < walk.cut[0]:
                    continue
                cut, walk.cut, walk.due = walk.cut, None, row.offset + 1
                if row.offset == cut[0] and not isinstance(row.item, error):
                    found[:] = [cut]
        return found[0] if found else None

    def _is_capture(self, path: str) -> bool:
        return self._options.capture if self._options.capture is not None else is_capture(path)

    def partitions(self, start: dict[str, Made], end: dict[str, Made]) -> Sequence[InputPartition]:
        before = _places(start)
        return [
            WirePartition((part,))
            for path, place in _places(end).items()
            if place != before.get(path)
            for part in self._parts(path, before.get(path, {"at": 0}), place)
        ]

    def _parts(self, path: str, before: Place, after: Place) -> Iterator[Part]:
        options = self._options
        if self._is_capture(path):
            yield from shares_of(path, after["at"], options)
            return
        is_whole = after.get("whole", False)
        yield Slice(
            path=path,
            role=role_of(path, options.wishes),
            start=before["at"],
            end=None if is_whole else after["at"],
            state=_state(before),
            stop=after["at"] if is_whole else None,
        )

    def read(self, partition: InputPartition) -> Iterator[Batch]:
        assert isinstance(partition, WirePartition)
        wanted = None if self._options.message is None else (self._options.message,)
        wishes = replace(self._options.wishes, messages=wanted)
        yield from self._tables.batches(partition.parts, wishes)


def _read(path: str, start: int, size: int, most: int, is_enough: Callable[[], bool]) -> Iterator[bytes]:
    """Yield the bytes from `start` on: up to `most`, and then more until `is_enough`."""
    position = start
    with open(path, "rb") as file:
        file.seek(start)
        while position < size and (position < most or not is_enough()):
            data = file.read(min(_CHUNK, (most if position < most else size) - position))
            position += len(data)
            yield data


def _places(offset: dict[str, Made]) -> dict[str, Place]:
    found: dict[str, Place] = json.loads(offset["files"])
    return found


def _state(place: Place) -> Snapshot | None:
    return json.loads(place["state"]) if "state" in place else None
