"""Files to columns: the work of a task on a stretch of a stream, or on a share of a capture's connections."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from wirespark.columns import Batcher, Columns, first_rows
from wirespark.decoders import Context, Snapshot, context_of
from wirespark.objects import ObjectBatcher
from wirespark.options import Wishes, has_numba
from wirespark.storage import storage_of
from wirespark.stream_rows import Walk

if TYPE_CHECKING:
    from wirespark.kernels.scanner import Scanner

_BEYOND = 1 << 14
"""Bytes after a slice that are read at a time until its last frames are decided."""

__all__ = ["Slice", "batcher_of", "batcher_on", "rows_before", "scanner_of", "slice_columns"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Slice:
    """A stretch of a file of one direction; frames that begin in it belong to it.

    `end` None: the end of the file.

    `state`: the state that earlier frames left. `stop`: the end of the stream when it was planned, even if
    the file has grown since.
    """

    path: str
    role: str | None
    start: int = 0
    end: int | None = None
    state: Snapshot | None = None
    stop: int | None = None


def batcher_of(
    wishes: Wishes,
    role: str | None,
    batch_size: int,
    *,
    context: Context | None = None,
    offset: int = 0,
    is_beginning: bool = True,
) -> Batcher:
    """Return the batcher that decodes one direction."""
    walk = Walk(wishes, role, context=context, offset=offset, is_beginning=is_beginning)
    return batcher_on(wishes, walk, role, batch_size)


def batcher_on(wishes: Wishes, walk: Walk, role: str | None, batch_size: int) -> Batcher:
    """Return the batcher that continues a walk, which must have no bytes left if no error is open."""
    scanner = scanner_of(wishes, role)
    if scanner is None:
        return ObjectBatcher(wishes, walk, role, batch_size)
    from wirespark.kernels.batcher import KernelBatcher

    return KernelBatcher(wishes, scanner, walk, role, batch_size)


def scanner_of(wishes: Wishes, role: str | None) -> Scanner | None:
    """Return the scanner of the messages of a role.

    Return None if kernels are not installed, switched off, or do not support any of its messages.
    """
    if wishes.kernel == "off" or not wishes.is_native or not has_numba():
        return None
    from wirespark.kernels.scanner import scanner_of as found

    return found(wishes, role)


def slice_columns(part: Slice, wishes: Wishes, batch_size: int) -> Iterator[Columns]:
    """Yield exactly the rows that begin in a slice: the next slice begins where a row does."""
    context = context_of(wishes, part.state)
    batcher = batcher_of(
        wishes, part.role, batch_size, context=context, offset=part.start, is_beginning=part.start == 0
    )
    yield from rows_before(_fed(part, batcher, batch_size), part.end)


def rows_before(found: Iterable[Columns], end: int | None) -> Iterator[Columns]:
    """Yield the rows of a stream that begin before an offset, or all of them."""
    for columns in found:
        if end is None or columns.end <= end:
            yield columns
            continue
        n_rows = int((columns.rows.column("_offset").to_numpy() < end).sum())
        if n_rows:
            yield first_rows(columns, n_rows)
        return


def _fed(part: Slice, batcher: Batcher, batch_size: int) -> Iterator[Columns]:
    """Yield the columns of the slice, and of as many bytes after it as decide its last frames."""
    position, end = part.start, part.end
    with storage_of(part.path).open(part.path, position) as file:
        while end is None or batcher.given < end:
            size = batch_size if end is None else min(batch_size, max(end - position, _BEYOND))
            data = file.read(size if part.stop is None else min(size, part.stop - position))
            if not data:
                yield from batcher.finish()
                return
            position += len(data)
            yield from batcher.feed(data)
        yield from batcher.flush()
