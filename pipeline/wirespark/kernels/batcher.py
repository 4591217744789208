"""One direction of a connection to columns by the kernels, and by objects for the frames that these leave."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from wirespark.columns import Columns, joined_columns
from wirespark.decoders import Snapshot
from wirespark.kernels.alternating_reader import AlternatingReader, Part, Stretch
from wirespark.kernels.scanner import Scanner
from wirespark.objects import ObjectBatcher
from wirespark.options import Wishes
from wirespark.stream_rows import Walk

__all__ = ["KernelBatcher"]


class KernelBatcher:
    """Bytes in, columns out."""

    def __init__(
        self, wishes: Wishes, scanner: Scanner, walk: Walk, role: str | None, batch_size: int
    ) -> None:
        self._scanner = scanner
        self._walk = walk
        self._reader = AlternatingReader(wishes, scanner, walk, batch_size)
        self._objects = ObjectBatcher(wishes, walk, role, 0)
        self._batch_size = batch_size
        self._ready: list[Columns] = []
        self._begun = walk.given

    @property
    def given(self) -> int:
        return self._walk.given

    def feed(self, data: bytes, time: int | None = None) -> Iterator[Columns]:
        self._take(self._reader.feed(data, time))
        if 2 * (self._walk.given - self._begun) >= self._batch_size:  # pieces of a batch's size: each is one
            yield from self._taken()

    def gap(self, size: int, time: int | None = None) -> Iterator[Columns]:
        self._take(self._reader.gap(size, time))
        yield from self._taken()

    def finish(self, time: int | None = None) -> Iterator[Columns]:
        self._take(self._reader.finish(time))
        yield from self._taken()

    def flush(self) -> Iterator[Columns]:
        self._take(self._reader.drain())
        yield from self._taken()

    def snapshot(self) -> Snapshot | None:
        return self._walk.snapshot()

    def _take(self, parts: Iterable[Part]) -> None:
        for part in parts:
            if isinstance(part, Stretch):
                if len(part.found.frames):
                    self._ready.append(self._scanner.columns(part.data, part.found, part.base, part.times))
            elif part:
                self._ready.extend(self._objects.take(part))

    def _taken(self) -> Iterator[Columns]:
        ready, self._ready, self._begun = self._ready, [], self._walk.given
        if ready:
            yield joined_columns(ready)
