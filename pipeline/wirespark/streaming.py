"""`spark.readStream.format("wire")`: files that arrive, and files that grow, as an unbounded table.

An offset holds for each recent file how far it was read (where a frame ends) and the state that earlier frames left.
So a batch that is read again has the same rows. Small files share tasks.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from hashlib import sha256

from pyspark.sql.datasource import DataSourceStreamReader, InputPartition
from pyspark.sql.streaming.datasource import (
    ReadAllAvailable,
    ReadLimit,
    ReadMaxBytes,
    ReadMaxFiles,
    SupportsTriggerAvailableNow,
)
from pyspark.sql.types import StructType

from wirespark.batches import Slice, batcher_of
from wirespark.captures import Share
from wirespark.decoders import context_of, has_context
from wirespark.options import ReadOptions
from wirespark.planning import Part, files_of, is_capture_file, role_of, shares_of, size_of
from wirespark.source import BatchConverter, WirePartition
from wirespark.storage import FileState, storage_of
from wirespark.stream_offsets import BEGINNING, CaptureMark, FilePlace, StreamOffset
from wirespark.stream_rows import StreamCut, Walk
from wirespark.task_groups import shared_if_many
from wirespark.untyped import Batch, Made

__all__ = ["FollowReader"]

_CHUNK = 1 << 20
_MARKED = 1 << 16
"""Bytes at the beginning of a capture by which it is told from another one of the same name."""
_MARGIN = 1 << 12
"""Bytes at the end of a file in which cuts are recorded. Each cut costs a snapshot of the state."""


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
        self._files: Mapping[str, FileState] | None = None

    def initialOffset(self) -> dict[str, Made]:
        return StreamOffset().told()

    def getDefaultReadLimit(self) -> ReadLimit:
        options = self._options
        if options.most_bytes is not None:
            return ReadMaxBytes(options.most_bytes)
        return ReadAllAvailable() if options.most_files is None else ReadMaxFiles(options.most_files)

    def prepareForTriggerAvailableNow(self) -> None:
        self._files = self._present()

    def latestOffset(self, start: dict[str, Made], limit: ReadLimit) -> dict[str, Made]:
        before, room = StreamOffset.of(start), _Room.of(limit)
        files = self._present() if self._files is None else self._files
        places = {path: place for path, place in before.places.items() if path in files}
        for path, state in files.items():
            if path not in places and state.modified < before.until:
                continue
            place = places.get(path, BEGINNING)
            if state.size < place.at:  # it is another file
                places[path] = place = BEGINNING
            if place.is_whole and state.size == place.at:
                continue
            if room.is_full:
                break
            after = self._advanced(path, place, state, room)
            if after != place:
                places[path] = after
                room = room.without(after.at - place.at)
        if places == before.places:
            return start
        return self._without_old(places, files, before).told()

    def _without_old(
        self, places: Mapping[str, FilePlace], files: Mapping[str, FileState], before: StreamOffset
    ) -> StreamOffset:
        """Return the offset of places without files that were read before and are older than the newest by `maxFileAge`.

        The files of this batch stay in it, and no file is too old that waits for a later one.
        """
        if self._options.is_growing:  # what goes on after an age would be read again
            return StreamOffset(places=places)
        newest = min(time.time_ns(), max((state.modified for state in files.values()), default=0))
        waiting = (
            state.modified
            for path, state in files.items()
            if state.modified >= before.until and not places.get(path, BEGINNING).is_whole
        )
        until = max(before.until, min(newest - self._options.most_age * 10**9, *waiting, newest))
        kept = {
            path: place
            for path, place in places.items()
            if place != before.places.get(path) or not place.is_whole or files[path].modified >= until
        }
        return StreamOffset(places=kept, until=until)

    def _present(self) -> dict[str, FileState]:
        """Return the files that exist now, the oldest first."""
        found = files_of(self._options.paths)
        return dict(sorted(found.items(), key=lambda item: (item[1].modified, item[0])))

    def _advanced(self, path: str, place: FilePlace, state: FileState, room: _Room) -> FilePlace:
        """Return the place up to which a file is read next."""
        options, size = self._options, state.size
        is_over = not options.is_growing or time.time() - state.modified / 1e9 >= options.idle
        most = size if room.n_bytes is None else min(size, place.at + max(room.n_bytes, 1))
        if is_capture_file(path, options):
            return _captured(path, size, place) if is_over else place
        if is_over and most == size:
            return FilePlace(at=size, is_whole=True)  # should it go on one day, it begins anew
        return self._walked(path, place, size, most)

    def _walked(self, path: str, place: FilePlace, size: int, most: int) -> FilePlace:
        """Return the place where frames end within about `most` bytes, and the state that they left."""
        if has_context(self._options.wishes.package):
            for margin in (_MARGIN, size):
                found = self._cut(path, place, size, most, most - margin)
                if found is not None:
                    return FilePlace(at=found.offset, state=json.dumps(found.state))
            return place
        start = place.at
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
        return FilePlace(at=batcher.given) if batcher.given > start else place

    def _cut(self, path: str, place: FilePlace, size: int, most: int, due: int) -> StreamCut | None:
        """Return the last offset from `due` on where a valid frame begins, with the state there."""
        wishes, start = self._options.wishes, place.at
        context = context_of(wishes, place.snapshot)
        role, error = role_of(path, wishes), wishes.package.native.DecodeError
        walk = Walk(wishes, role, context=context, offset=start, is_beginning=start == 0)
        walk.due = max(due, start + 1)
        found: list[StreamCut] = []
        for data in _read(path, start, size, most, lambda: bool(found)):
            for row in walk.feed(data):
                if walk.cut is None or row.offset < walk.cut.offset:
                    continue
                cut, walk.cut, walk.due = walk.cut, None, row.offset + 1
                if row.offset == cut.offset and not isinstance(row.item, error):
                    found[:] = [cut]
        return found[0] if found else None

    def partitions(self, start: dict[str, Made], end: dict[str, Made]) -> Sequence[InputPartition]:
        before, after = StreamOffset.of(start).places, StreamOffset.of(end).places
        parts = [
            part
            for path, place in after.items()
            if place != before.get(path)
            for part in self._parts(path, before.get(path, BEGINNING), place)
        ]
        sizes = [size_of(part, after[part.path].at) for part in parts]
        return [WirePartition(some) for some in shared_if_many(parts, sizes)]

    def _parts(self, path: str, before: FilePlace, after: FilePlace) -> Iterator[Part]:
        options = self._options
        if after.at < before.at:  # it is another file
            before = BEGINNING
        if not after.at:
            return
        if is_capture_file(path, options):
            if after.goes_on:
                yield Share(
                    path=path, port=options.port, role=options.wishes.role, size=after.at, begun=before.at
                )
            else:
                yield from (replace(share, size=after.at) for share in shares_of(path, after.at, options))
            return
        yield Slice(
            path=path,
            role=role_of(path, options.wishes),
            start=before.at,
            end=None if after.is_whole else after.at,
            state=before.snapshot,
            stop=after.at if after.is_whole else None,
        )

    def read(self, partition: InputPartition) -> Iterator[Batch]:
        assert isinstance(partition, WirePartition)
        wanted = None if self._options.message is None else (self._options.message,)
        wishes = replace(self._options.wishes, messages=wanted)
        yield from self._tables.batches(partition.parts, wishes)


def _captured(path: str, size: int, before: FilePlace) -> FilePlace:
    """Return the place at the end of a capture: whether it has gone on since an earlier one, or is another capture."""
    goes_on = before.mark is not None and before.mark == _mark(path, before.mark.n_bytes)
    return FilePlace(at=size, is_whole=True, mark=_mark(path, min(size, _MARKED)), goes_on=goes_on)


def _mark(path: str, n_bytes: int) -> CaptureMark:
    with storage_of(path).open(path) as file:
        return CaptureMark(n_bytes, sha256(file.read(n_bytes)).hexdigest()[:16])


def _read(path: str, start: int, size: int, most: int, is_enough: Callable[[], bool]) -> Iterator[bytes]:
    """Yield the bytes from `start` on: up to `most`, and then more until `is_enough`."""
    position = start
    with storage_of(path).open(path, start) as file:
        while position < size and (position < most or not is_enough()):
            data = file.read(min(_CHUNK, (most if position < most else size) - position))
            position += len(data)
            yield data
