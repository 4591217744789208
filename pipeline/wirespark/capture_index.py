"""Which packets of a capture belong to which share of it: one pass over the capture finds it, and every task reads its own.

The index is in the cache of the user: the first task on a computer makes it, and others wait. It takes 26 bytes for each packet
with a TCP segment, and little memory: pages are written as they fill. The least recently used indexes are removed beyond 4 GiB.
An index that cannot be kept fails no task: that task makes the pass for itself.
"""

from __future__ import annotations

import io
import os
import stat
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from hashlib import sha256
from itertools import repeat
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

import numpy as np

from wiregen.formats.capture import Batch, IssueKind, Issues, ends_of
from wirespark.capture_shares import SeenKeys, SharedPackets, share_of
from wirespark.errors import WireSparkError
from wirespark.index_file import FIELDS, DamagedError, Facts, IndexFile, IndexPages, page_size
from wirespark.open_files import FileView, open_state
from wirespark.packet_locating import locate_packets
from wirespark.packet_places import PacketPlaces
from wirespark.record_runs import in_batches
from wirespark.temporary_files import HiddenFile, alone
from wirespark.user_cache import make_room, private_folder

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["SharePackets", "share_packets"]

_MOST_KEPT = 4 << 30
_LONG = 3
"""How many shares of the capture the packets between two ends are at least, if their connections are long: to cut them costs a pass."""
_READ_SIZE = 1 << 18
_NEAR = 64
"""Bytes between packets that are read together: the header of a record, or of a block with its end and its options."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Capture:
    """An open capture that is divided into shares. `size`: how many of its bytes are read, even if it has grown."""

    path: str
    file: BinaryIO
    port: int | None
    n_shares: int
    size: int

    def packets(self, issues: Issues, seen: SeenKeys) -> Iterator[SharedPackets]:
        """Yield its packets with their shares; note issues, and the keys of segments. Several passes may take place at once."""
        view = io.BufferedReader(FileView(self.file, self.size), _READ_SIZE)
        for found in locate_packets(view, port=self.port, issues=issues):
            shares = seen.add(found.keys, found.records["captured"])
            yield SharedPackets(shares=shares, records=found.records)

    def keys(self) -> SeenKeys:
        """Return what a pass over it fills."""
        return SeenKeys(self.n_shares, self.size)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Scan:
    """Passes over a capture, for one share alone. `long_ends`: see `Facts`. `noted`: the issues of each pass."""

    capture: _Capture
    share: int
    long_ends: tuple[bytes, ...] = ()
    noted: list[Issues] = field(default_factory=list)

    def facts(self) -> Facts:
        """Return the facts up to the packets that the first pass has read."""
        issues = _counts(self.noted[0]) if self.noted else {}
        return Facts(issues=issues, long_ends=self.long_ends)

    def pages(self) -> Iterator[bytes]:
        """Yield the records of the share, as an index has them."""
        page, size = bytearray(), page_size(self.capture.n_shares + 1)
        issues = Issues()
        self.noted.append(issues)
        for found in self.capture.packets(issues, self.capture.keys()):
            page += found.records[found.shares == self.share].tobytes()
            while len(page) >= size:
                yield bytes(page[:size])
                del page[:size]
        if page:
            yield bytes(page)


@dataclass(frozen=True, slots=True, kw_only=True)
class SharePackets:
    """The packets of a share in an open capture. `name`: that of its index, a hash of all on which the packets depend."""

    name: str
    capture: _Capture
    source: IndexFile | _Scan

    @property
    def long_ends(self) -> tuple[bytes, ...]:
        """Return the ends, as `ends_of` returns them, of which all packets are in one share that has many more than others."""
        return self.source.facts().long_ends

    @property
    def path(self) -> str:
        return self.capture.path

    @property
    def n_shares(self) -> int:
        return self.capture.n_shares

    @property
    def share_size(self) -> int:
        """Return how many bytes of the capture a share has, if all have as many."""
        return max(1, self.capture.size // self.n_shares)

    def with_ends(self, ends: bytes) -> SharePackets:
        """Return the packets of the share that has those of two ends."""
        share = share_of(ends, self.n_shares)
        if isinstance(self.source, _Scan):
            return replace(self, source=replace(self.source, share=share, noted=[]))
        return replace(self, source=replace(self.source, share=share))

    def batches(self, first: int = 1) -> Iterator[Batch]:
        """Yield the packets of the share, numbered from 1, with about that of the number `first` on.

        Raises:
            WireSparkError: By the iterator: the capture is shorter than it was, or its index was damaged meanwhile.
        """
        number = 1
        try:
            for page in self.source.pages():
                for records in in_batches(np.frombuffer(page, FIELDS)):
                    if number + len(records) > first:
                        yield self._batch(records, number)
                    number += len(records)
        except DamagedError:
            raise WireSparkError(
                f"the index of {self.path} was damaged while it was read: read it again"
            ) from None

    def issues(self) -> Mapping[IssueKind, int]:
        """Return how often each kind of issues is in the capture, whatever its share; known after the batches."""
        return self.source.facts().issues

    def _batch(self, records: NDArray[np.void], number: int) -> Batch:
        """Read packets; those that are next to each other in the capture are read at once."""
        sizes, offsets = records["captured"].astype(np.int64), records["offset"].astype(np.int64)
        ends = offsets + sizes
        is_first = np.concatenate([[True], offsets[1:] - ends[:-1] > _NEAR])
        firsts = np.flatnonzero(is_first)
        read_sizes = ends[np.append(firsts[1:], len(ends)) - 1] - offsets[firsts]
        data = self._read(read_sizes, offsets[firsts])
        moved = (np.cumsum(read_sizes) - read_sizes - offsets[firsts])[np.cumsum(is_first) - 1]
        places = PacketPlaces(
            numbers=np.arange(number, number + len(records)),
            times=records["time"],
            starts=offsets + moved,
            ends=ends + moved,
            sizes=records["size"].astype(np.int64),
        )
        return Batch(int(records["link"][0]), data, places)

    def _read(self, sizes: NDArray[np.int64], offsets: NDArray[np.int64]) -> bytes:
        """Return pieces of the capture, joined."""
        found = b"".join(map(os.pread, repeat(self.capture.file.fileno()), sizes.tolist(), offsets.tolist()))
        if len(found) != sizes.sum():
            raise WireSparkError(f"{self.path} has become shorter while it was read: read it again")
        return found


@contextmanager
def share_packets(
    path: str, port: int | None, *, share: int, n_shares: int, is_kept: bool, size: int | None = None
) -> Iterator[SharePackets]:
    """Open an uncompressed capture for one of its shares, with its index; make the index if it is missing or damaged.

    `is_kept`: whether the index is kept for others. Without it, or if it cannot be kept, a pass finds this share alone.
    `size`: how many of its bytes are read; None: all.

    Raises:
        CaptureError: The file is not a capture; without an index, raised by the batches.
        OSError: The capture cannot be opened.
        WireSparkError: The capture has changed while its index was made.
    """
    with open(path, "rb") as file:
        state = open_state(file)
        most = state.size if size is None else min(size, state.size)
        capture = _Capture(path=path, file=file, port=port, n_shares=n_shares, size=most)
        name = sha256(repr((path, state, port, n_shares, most)).encode()).hexdigest()
        folder = private_folder("captures") if is_kept else None
        index = None if folder is None else _kept(folder / f"{name}.index", capture, share)
        if index is None:
            # shares agree about long connections, whichever of them have an index
            long_ends = _scanned_long_ends(capture) if is_kept else ()
            scan = _Scan(capture=capture, share=share, long_ends=long_ends)
            yield SharePackets(name=name, capture=capture, source=scan)
            return
        with index.file:
            yield SharePackets(name=name, capture=capture, source=index)


def _kept(place: Path, capture: _Capture, share: int) -> IndexFile | None:
    """Return the index of an open capture, or None if it cannot be kept."""
    try:
        with alone(place.with_suffix(".lock")):
            make_room(place, _MOST_KEPT)
            index = _opened(place, capture, share)
            if index is None:
                _make(place, capture)
                make_room(place, _MOST_KEPT)
                index = _opened(place, capture, share)
    except OSError:  # no space, no right, or a disk without such locks: the capture itself can still be read
        return None
    return index


def _opened(place: Path, capture: _Capture, share: int) -> IndexFile | None:
    """Open an index of this user, or return None if pages that the share may need are not as they were written."""
    try:
        descriptor = os.open(place, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    except OSError:
        return None
    file = open(descriptor, "rb")  # noqa: SIM115 - the caller closes it
    index = IndexFile(file=file, share=share, n_shares=capture.n_shares, capture_size=capture.size)
    try:
        status = os.fstat(descriptor)
        if stat.S_ISREG(status.st_mode) and status.st_uid == os.geteuid():
            for each in {share, *(share_of(ends, capture.n_shares) for ends in index.facts().long_ends)}:
                index.places(each)
            with suppress(OSError):  # only the order of removal depends on it
                os.utime(descriptor)
            return index
    except (DamagedError, OSError):
        pass
    file.close()
    return None


def _make(place: Path, capture: _Capture) -> None:
    """Write the index of a capture, and give it its name when it is complete."""
    state = open_state(capture.file)
    held = HiddenFile(place)
    try:
        with open(held.path, "wb") as file:
            _write(file, capture)
        if open_state(capture.file) != state:
            raise WireSparkError(f"{capture.path} has changed while it was read: read it again")
        os.replace(held.path, place)
    finally:
        held.drop()


def _write(file: BinaryIO, capture: _Capture) -> None:
    """Write the index of a capture."""
    n_shares = capture.n_shares
    pages, issues, seen = IndexPages(file, n_shares + 1), Issues(), capture.keys()
    for found in capture.packets(issues, seen):
        for share, records in found.by_share():
            pages.add(share, records)
    pages.add(n_shares, Facts(issues=_counts(issues), long_ends=_long_ends(seen, capture)).text())
    pages.finish()


def _counts(issues: Issues) -> dict[IssueKind, int]:
    return {issue.kind: issue.count for issue in issues}


def _scanned_long_ends(capture: _Capture) -> tuple[bytes, ...]:
    """Return the ends of long connections, found by a pass of its own."""
    seen = capture.keys()
    for _ in capture.packets(Issues(), seen):
        pass
    return _long_ends(seen, capture)


def _long_ends(seen: SeenKeys, capture: _Capture) -> tuple[bytes, ...]:
    """Return the ends of long connections."""
    found = Counter[bytes]()
    for key, size in seen.sizes().items():
        found[ends_of(key)] += size
    least = _LONG * capture.size / capture.n_shares
    return tuple(sorted(ends for ends, size in found.items() if size >= least))
