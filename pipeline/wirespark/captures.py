"""The connections of a capture to columns: every task takes its share of the flows."""

from __future__ import annotations

import io
from collections import Counter
from collections.abc import Collection, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from functools import partial
from typing import BinaryIO

from wiregen.formats.capture import (
    CutHeaderError,
    Event,
    FlowRun,
    IssueKind,
    Issues,
    assemble_batches,
    assemble_runs,
    read_streams,
)
from wirespark.capture_errors import of_capture
from wirespark.capture_index import SharePackets, share_packets
from wirespark.columns import Columns
from wirespark.decoders import has_context
from wirespark.flow_columns import flow_columns
from wirespark.grown_captures import new_columns
from wirespark.long_flows import flow_slice_columns, long_flows_of
from wirespark.open_files import FirstBytes
from wirespark.options import Wishes
from wirespark.packet_runs import runs_of
from wirespark.storage import storage_of

__all__ = ["Share", "share_columns"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Share:
    """About every `n_shares`-th flow of a capture: all flows between two ends are in one share.

    `is_index_kept`: whether the places of its packets are remembered for the other shares. `size`: how many bytes of the capture are
    read, so that all shares read the same of one that grows; None: all. `begun`: how many of them an earlier batch of a stream has
    read, so that this one has the other rows only; then it is the only share.
    """

    path: str
    index: int = 0
    n_shares: int = 1
    port: int | None = None
    role: str | None = None
    is_index_kept: bool = True
    size: int | None = None
    begun: int = 0

    @contextmanager
    def opened(self, size: int | None) -> Iterator[BinaryIO]:
        """Open so many bytes of the capture, None: all."""
        with storage_of(self.path).open(self.path) as file:
            yield file if size is None else io.BufferedReader(FirstBytes(file, size))

    def events(self, counts: Counter[IssueKind] | None = None) -> Iterator[Event]:
        """Yield the events of the share; of a capture in several shares only its own packets are read, and those of an index.

        `counts` gets how often each kind of issues was noted: of the whole file by its first share only.
        """
        counts = Counter() if counts is None else counts
        if self.n_shares == 1:
            with self.opened(self.size) as file:
                streams = read_streams(file, port=self.port)
                yield from streams
            counts.update({issue.kind: issue.count for issue in streams.issues})
            return
        with self.packets() as packets:
            yield from self.events_of(packets, counts)

    def packets(self) -> AbstractContextManager[SharePackets]:
        """Open a capture in several shares for this one."""
        return share_packets(
            self.path,
            self.port,
            share=self.index,
            n_shares=self.n_shares,
            is_kept=self.is_index_kept,
            size=self.size,
        )

    def events_of(
        self, packets: SharePackets, counts: Counter[IssueKind], without: Collection[bytes] = ()
    ) -> Iterator[Event]:
        """Yield the same of its packets that are open, without the segments that have these keys."""
        issues = Issues()
        yield from assemble_batches(packets.batches(), port=self.port, issues=issues, without=without)
        self._count(issues, packets, counts)

    def events_of_runs(
        self, packets: SharePackets, counts: Counter[IssueKind], without: Collection[bytes] = ()
    ) -> Iterator[Event | FlowRun]:
        """Yield the same with runs of packets put together."""
        issues = Issues()
        yield from assemble_runs(
            packets.batches(), runs_of=runs_of, port=self.port, issues=issues, without=without
        )
        self._count(issues, packets, counts)

    def _count(self, issues: Issues, packets: SharePackets, counts: Counter[IssueKind]) -> None:
        counts.update({issue.kind: issue.count for issue in issues})
        if self.index == 0:
            counts.update(packets.issues())


def share_columns(
    share: Share, wishes: Wishes, batch_size: int, counts: Counter[IssueKind] | None = None
) -> Iterator[Columns]:
    """Yield the columns of the flows of a share, and of its slices of long ones, with their origin.

    `counts` gets the numbers of issues. A capture that ends within its header has no rows.

    Raises:
        WireSparkError: By the iterator: the file is not a capture, or cannot be read.
    """
    counts = Counter() if counts is None else counts
    try:
        with of_capture(share.path):
            yield from _columns(share, wishes, batch_size, counts)
    except CutHeaderError:  # as a capture that ends within its first record
        counts[IssueKind.TRUNCATED_FILE] += 1


def _columns(share: Share, wishes: Wishes, batch_size: int, counts: Counter[IssueKind]) -> Iterator[Columns]:
    """Yield the columns of a share of a capture whose header is complete."""
    if share.begun:
        yield from new_columns(share, wishes, batch_size)
    elif share.n_shares == 1:
        yield from flow_columns(share.path, share.events(counts), share.events, wishes, batch_size)
    else:
        with share.packets() as packets:
            yield from _shared_columns(share, packets, wishes, batch_size, counts)


def _shared_columns(
    share: Share, packets: SharePackets, wishes: Wishes, batch_size: int, counts: Counter[IssueKind]
) -> Iterator[Columns]:
    """Yield the columns of a share of several."""
    long = long_flows_of(packets, wishes, share.port)
    again = partial(share.events_of, packets, Counter(), long.keys)
    read = share.events_of if has_context(wishes.package) else share.events_of_runs
    yield from flow_columns(share.path, read(packets, counts, long.keys), again, wishes, batch_size)
    for part in long.slices[share.index :: share.n_shares]:
        yield from flow_slice_columns(part, packets, wishes, batch_size, share.port)
    if share.index == 0:
        counts.update(long.issues)
