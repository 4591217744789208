"""Which packets of a capture belong to which share of it: one pass over the capture finds it, and every task reads its own.

The index is in the cache of the user: the first task on a computer makes it, and others wait. It takes 26 bytes for each packet
with a TCP segment, and little memory: pages are written as they fill. The least recently used indexes are removed beyond 4 GiB.
An index that cannot be kept fails no task: that task makes the pass for itself.

File: the magic, then pages. A page has the place of its share's page before it, the size and the CRC-32 of its records, then its
share's records of packets in the capture's order. At the end are the places of the last pages, for each share 8 bytes, and the
size of the file. All numbers are little-endian. The last share has no packets: a record is there for each kind of issues that
the pass noted, with the number of the kind among `IssueKind` as link type, and how often it was noted as size.
"""

from __future__ import annotations

import os
import stat
import struct
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from hashlib import sha256
from itertools import count, repeat
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO
from zlib import crc32

import numpy as np

from wiregen.formats.capture import Batch, IssueKind, Issues, ends_of, locate_packets
from wirespark.errors import WireSparkError
from wirespark.open_files import open_state
from wirespark.record_runs import in_batches
from wirespark.temporary_files import TEMPORARY, HiddenFile, alone, remove_left
from wirespark.user_cache import private_folder

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["SharePackets", "share_packets"]

_MAGIC = b"wspkts4\n"
_RECORD = struct.Struct("<QdIIH")
_FIELDS = np.dtype(
    [("offset", "<u8"), ("time", "<f8"), ("captured", "<u4"), ("size", "<u4"), ("link", "<u2")]
)
"""A record: the offset of a packet in the capture, its time in seconds, its captured size, its size, its link type."""
_PAGE = struct.Struct("<QII")
_PLACE = struct.Struct("<Q")
_PAGE_SIZE = 1 << 16
_MOST_WAITING = 1 << 25
"""Bytes of all pages together that wait to be written."""
_MOST_KNOWN = 1 << 16
"""Ends of connections whose share is remembered."""
_MOST_KEPT = 4 << 30
_NEAR = 64
"""Bytes between packets that are read together: the header of a record, or of a block with its end and its options."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Page:
    """A page of an index: the place of the page before it, or 0, and its records."""

    before: int
    records: bytes


@dataclass(frozen=True, slots=True, kw_only=True)
class _Index:
    """The pages of one share in an open index of a capture of `capture_size` bytes; `n_shares` counts that of the issues."""

    file: BinaryIO
    share: int
    n_shares: int
    capture_size: int

    def pages(self) -> Iterator[bytes]:
        """Yield the records of the share, page by page.

        Raises:
            _DamagedError: By the iterator: a page is not as it was written. If `places` found none, it was damaged since.
        """
        for place in reversed(self.places(self.share)):
            yield self._page(place).records

    def issues(self) -> Counter[IssueKind]:
        """Return how often the pass that made the index noted each kind of issues."""
        pages = (self._page(place).records for place in self.places(self.n_shares - 1))
        return _issues_in(b"".join(pages))

    def places(self, share: int) -> list[int]:
        """Return the places of all pages of a share, the last one first, after checking each.

        Raises:
            _DamagedError: The file does not end as it was written, or a page is not as it was written.
        """
        size = os.fstat(self.file.fileno()).st_size
        if (
            self._end < len(_MAGIC)
            or self._read(0, len(_MAGIC)) != _MAGIC
            or self._number(size - _PLACE.size) != size
        ):
            raise _DamagedError
        places: list[int] = []
        place = self._number(self._end + _PLACE.size * share)
        while place:
            places.append(place)
            place = self._page(place).before
        return places

    @property
    def _end(self) -> int:
        """Return the place after the last page."""
        return os.fstat(self.file.fileno()).st_size - _PLACE.size * (self.n_shares + 1)

    def _page(self, place: int) -> _Page:
        room = self._end - place - _PAGE.size
        if place < len(_MAGIC) or room < 0:
            raise _DamagedError
        before, size, checksum = _PAGE.unpack(self._read(place, _PAGE.size))
        if before >= place or not 0 < size <= room or size % _RECORD.size:
            raise _DamagedError
        page = _Page(before=before, records=self._read(place + _PAGE.size, size))
        if crc32(page.records) != checksum or self._leads_out(np.frombuffer(page.records, _FIELDS)):
            raise _DamagedError
        return page

    def _leads_out(self, records: NDArray[np.void]) -> bool:
        """Return whether a packet is beyond the end of the capture."""
        offsets = records["offset"]
        most = np.uint64(self.capture_size)
        return bool((offsets > most).any() or (records["captured"] > most - offsets).any())

    def _number(self, place: int) -> int:
        (number,) = _PLACE.unpack(self._read(place, _PLACE.size))
        return int(number)

    def _read(self, place: int, size: int) -> bytes:
        data = os.pread(self.file.fileno(), size, place)
        if len(data) != size:
            raise _DamagedError
        return data


class _DamagedError(Exception):
    """An index is not as it was written; it is made again."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Scan:
    """One pass over a capture, for one share alone."""

    capture: BinaryIO
    port: int | None
    share: int
    n_shares: int
    noted: Issues = field(default_factory=Issues)

    def issues(self) -> Counter[IssueKind]:
        """Return how often the pass has noted each kind of issues."""
        return _issues_in(_issue_records(self.noted))

    def pages(self) -> Iterator[bytes]:
        """Yield the records of the share, as an index has them."""
        page = bytearray()
        for share, record in _records(self.capture, self.port, self.n_shares, self.noted):
            if share == self.share:
                page += record
                if len(page) >= _PAGE_SIZE:
                    yield bytes(page)
                    page.clear()
        if page:
            yield bytes(page)


@dataclass(frozen=True, slots=True, kw_only=True)
class SharePackets:
    """The packets of a share in an open capture."""

    path: str
    capture: BinaryIO
    source: _Index | _Scan

    def batches(self) -> Iterator[Batch]:
        """Yield the packets of the share, numbered from 1.

        Raises:
            WireSparkError: By the iterator: the capture is shorter than it was, or its index was damaged meanwhile.
        """
        number = 1
        try:
            for page in self.source.pages():
                for records in in_batches(np.frombuffer(page, _FIELDS)):
                    yield self._batch(records, number)
                    number += len(records)
        except _DamagedError:
            raise WireSparkError(
                f"the index of {self.path} was damaged while it was read: read it again"
            ) from None

    def issues(self) -> Counter[IssueKind]:
        """Return how often each kind of issues is in the capture, whatever its share; known after the batches."""
        return self.source.issues()

    def _batch(self, records: NDArray[np.void], number: int) -> Batch:
        """Read packets; those that are next to each other in the capture are read at once."""
        sizes, offsets = records["captured"].astype(np.int64), records["offset"].astype(np.int64)
        ends = offsets + sizes
        is_first = np.concatenate([[True], offsets[1:] - ends[:-1] > _NEAR])
        firsts = np.flatnonzero(is_first)
        read_sizes = ends[np.append(firsts[1:], len(ends)) - 1] - offsets[firsts]
        data = self._read(read_sizes, offsets[firsts])
        moved = (np.cumsum(read_sizes) - read_sizes - offsets[firsts])[np.cumsum(is_first) - 1]
        columns = (records["time"], offsets + moved, ends + moved, records["size"])
        places = list(zip(count(number), *(column.tolist() for column in columns), strict=False))
        return Batch(int(records["link"][0]), data, places)

    def _read(self, sizes: NDArray[np.int64], offsets: NDArray[np.int64]) -> bytes:
        """Return pieces of the capture, joined."""
        found = b"".join(map(os.pread, repeat(self.capture.fileno()), sizes.tolist(), offsets.tolist()))
        if len(found) != sizes.sum():
            raise WireSparkError(f"{self.path} has become shorter while it was read: read it again")
        return found


@contextmanager
def share_packets(
    path: str, port: int | None, *, share: int, n_shares: int, is_kept: bool
) -> Iterator[SharePackets]:
    """Open an uncompressed capture for one of its shares, with its index; make the index if it is missing or damaged.

    `is_kept`: whether the index is kept for others. Without it, or if it cannot be kept, a pass finds this share alone.

    Raises:
        CaptureError: The file is not a capture; without an index, raised by the batches.
        OSError: The capture cannot be opened.
        WireSparkError: The capture has changed while its index was made.
    """
    with open(path, "rb") as capture:
        folder = private_folder("captures") if is_kept else None
        index = None if folder is None else _kept(folder, path, capture, port, share, n_shares)
        if index is None:
            capture.seek(0)
            scan = _Scan(capture=capture, port=port, share=share, n_shares=n_shares)
            yield SharePackets(path=path, capture=capture, source=scan)
            return
        with index.file:
            yield SharePackets(path=path, capture=capture, source=index)


def _kept(
    folder: Path, path: str, capture: BinaryIO, port: int | None, share: int, n_shares: int
) -> _Index | None:
    """Return the index of an open capture, or None if it cannot be kept."""
    state = open_state(capture)
    name = sha256(repr((path, state, port, n_shares)).encode()).hexdigest()
    place = folder / f"{name}.index"
    try:
        with alone(place.with_suffix(".lock")):
            _remove_oldest(place)
            index = _opened(place, state.size, share, n_shares)
            if index is None:
                _make(place, path, capture, port, n_shares)
                _remove_oldest(place)
                index = _opened(place, state.size, share, n_shares)
    except OSError:  # no space, no right, or a disk without such locks: the capture itself can still be read
        return None
    return index


def _opened(place: Path, capture_size: int, share: int, n_shares: int) -> _Index | None:
    """Open an index of this user, or return None if the pages of the share are not as they were written."""
    try:
        descriptor = os.open(place, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    except OSError:
        return None
    file = open(descriptor, "rb")  # noqa: SIM115 - the caller closes it
    index = _Index(file=file, share=share, n_shares=n_shares + 1, capture_size=capture_size)
    try:
        status = os.fstat(descriptor)
        if stat.S_ISREG(status.st_mode) and status.st_uid == os.geteuid():
            index.places(share)
            index.places(n_shares)
            with suppress(OSError):  # only the order of removal depends on it
                os.utime(descriptor)
            return index
    except (_DamagedError, OSError):
        pass
    file.close()
    return None


def _make(place: Path, path: str, capture: BinaryIO, port: int | None, n_shares: int) -> None:
    """Write the index of a capture, and give it its name when it is complete."""
    state = open_state(capture)
    held = HiddenFile(place)
    try:
        capture.seek(0)
        with open(held.path, "wb") as file:
            _write(file, capture, port, n_shares)
        if open_state(capture) != state:
            raise WireSparkError(f"{path} has changed while it was read: read it again")
        os.replace(held.path, place)
    finally:
        held.drop()


def _remove_oldest(own: Path) -> None:
    """Remove what writers that are gone have left, and the least recently used indexes beyond the limit, but not `own`.

    Those that are open stay readable. A file that another task removes first is no error.
    """
    with suppress(OSError):
        for left in own.parent.glob(f".*{TEMPORARY}"):
            remove_left(left)
        found = [(path.stat(), path) for path in own.parent.glob("*.index")]
        size = sum(status.st_size for status, _ in found)
        for status, path in sorted(found, key=lambda each: each[0].st_mtime_ns):
            if size <= _MOST_KEPT:
                return
            if path != own:
                path.unlink(missing_ok=True)
                path.with_suffix(".lock").unlink(missing_ok=True)
                size -= status.st_size


def _write(file: BinaryIO, capture: BinaryIO, port: int | None, n_shares: int) -> None:
    """Write the index of a capture."""
    pages, issues = _Pages(file, n_shares + 1), Issues()
    waiting, most, put = pages.waiting, pages.size, pages.put
    for share, record in _records(capture, port, n_shares, issues):
        page = waiting[share]
        page += record
        if len(page) >= most:
            put(share)
    waiting[n_shares] += _issue_records(issues)
    pages.finish()


def _issue_records(issues: Issues) -> bytes:
    kinds = list(IssueKind)
    return b"".join(_RECORD.pack(0, 0, 0, each.count, kinds.index(each.kind)) for each in issues)


def _issues_in(records: bytes) -> Counter[IssueKind]:
    kinds, found = list(IssueKind), np.frombuffer(records, _FIELDS)
    return Counter(
        {kinds[number]: int(size) for number, size in zip(found["link"], found["size"], strict=True)}
    )


def _records(
    capture: BinaryIO, port: int | None, n_shares: int, issues: Issues
) -> Iterator[tuple[int, bytes]]:
    """Yield the share and the record of each packet, in one pass over an open capture from its beginning; note issues."""
    pack = _RECORD.pack
    shares: dict[bytes, int] = {}
    for key, link_type, time, offset, captured, size in locate_packets(capture, port=port, issues=issues):
        share = shares.get(key)
        if share is None:
            if len(shares) >= _MOST_KNOWN:
                shares.clear()
            share = shares[key] = crc32(ends_of(key)) % n_shares
        yield share, pack(offset, time, captured, size, link_type)


class _Pages:
    """The pages that are being filled.

    Attributes:
        waiting: The records of each share that are not written yet.
        size: The size in bytes from which a page is written.
    """

    def __init__(self, file: BinaryIO, n_shares: int) -> None:
        self.waiting = [bytearray() for _ in range(n_shares)]
        self.size = min(_PAGE_SIZE, max(_RECORD.size, _MOST_WAITING // n_shares))
        self._file = file
        self._last = [0] * n_shares
        self._place = file.write(_MAGIC)

    def put(self, share: int) -> None:
        """Write the page of a share."""
        page = self.waiting[share]
        header = _PAGE.pack(self._last[share], len(page), crc32(page))
        n_bytes = self._file.write(header + page)
        self._last[share], self._place = self._place, self._place + n_bytes
        page.clear()

    def finish(self) -> None:
        for share, page in enumerate(self.waiting):
            if page:
                self.put(share)
        size = self._place + _PLACE.size * (len(self._last) + 1)
        self._file.write(b"".join(map(_PLACE.pack, (*self._last, size))))
