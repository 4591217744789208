"""Which packets of a capture belong to which share of it: one pass over the capture finds it, and every task reads its own.

The index is in the cache of the user: the first task on a computer makes it, and others wait. It takes 26 bytes for each packet
with a TCP segment, and little memory: pages are written as they fill. The least recently used indexes are removed beyond 4 GiB.

File: the magic, then pages. A page has the place of its share's page before it, its own size, then its share's records of packets
in the capture's order. At the end are the places of the last pages, for each share 8 bytes, and the size of the file. All numbers
are little-endian.
"""

from __future__ import annotations

import os
import stat
import struct
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from hashlib import sha256
from itertools import count, repeat
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO
from zlib import crc32

import numpy as np

from wiregen.formats.capture import Batch, ends_of, locate_packets
from wirespark.errors import WireSparkError
from wirespark.temporary_files import TEMPORARY, HiddenFile, alone, remove_left

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["CaptureIndex", "capture_index"]

_MAGIC = b"wspkts2\n"
_RECORD = struct.Struct("<QdIIH")
_FIELDS = np.dtype(
    [("offset", "<u8"), ("time", "<f8"), ("captured", "<u4"), ("size", "<u4"), ("link", "<u2")]
)
"""A record: the offset of a packet in the capture, its time in seconds, its captured size, its size, its link type."""
_PAGE = struct.Struct("<QI")
_PLACE = struct.Struct("<Q")
_PAGE_SIZE = 1 << 16
_MOST_WAITING = 1 << 25
"""Bytes of all pages together that wait to be written."""
_MOST_KNOWN = 1 << 16
"""Ends of connections whose share is remembered."""
_MOST_KEPT = 4 << 30
_BATCH_SIZE = 1 << 19
_NEAR = 64
"""Bytes between packets that are read together: the header of a record, or of a block with its end and its options."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CaptureIndex:
    """An open index and its capture."""

    path: str
    file: BinaryIO
    capture: BinaryIO
    n_shares: int

    def batches(self, share: int) -> Iterator[Batch]:
        """Yield the packets of a share, numbered from 1.

        Raises:
            WireSparkError: By the iterator: the capture is shorter than it was.
        """
        number = 1
        for page in self._pages(share):
            for records in _in_batches(np.frombuffer(page, _FIELDS)):
                yield self._batch(records, number)
                number += len(records)

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

    def _pages(self, share: int) -> Iterator[bytes]:
        descriptor = self.file.fileno()
        end = os.fstat(descriptor).st_size - _PLACE.size * (self.n_shares - share + 1)
        (page,) = _PLACE.unpack(os.pread(descriptor, _PLACE.size, end))
        pages: list[tuple[int, int]] = []
        while page:
            before, size = _PAGE.unpack(os.pread(descriptor, _PAGE.size, page))
            if before >= page or size % _RECORD.size or page + size > end:
                raise WireSparkError(f"the index {self.file.name} is damaged: remove it")
            pages.append((page + _PAGE.size, size))
            page = before
        for place, size in reversed(pages):
            yield os.pread(descriptor, size, place)


def _in_batches(records: NDArray[np.void]) -> Iterator[NDArray[np.void]]:
    """Yield records in runs of one link type, each of at most 512 KiB of packets or of one packet."""
    links, sizes = records["link"], np.cumsum(records["captured"], dtype=np.int64)
    turns = [*(np.flatnonzero(links[1:] != links[:-1]) + 1).tolist(), len(records)]
    start = 0
    for stop in turns:
        while start < stop:
            most = (int(sizes[start - 1]) if start else 0) + _BATCH_SIZE
            end = min(stop, max(start + 1, int(np.searchsorted(sizes, most, side="right"))))
            yield records[start:end]
            start = end


@contextmanager
def capture_index(path: str, port: int | None, n_shares: int, *, is_kept: bool) -> Iterator[CaptureIndex]:
    """Open the index of an uncompressed capture; make it if it is missing.

    `is_kept`: whether it is kept for others. If it cannot be kept, it is made for this use alone.

    Raises:
        CaptureError: The file is not a capture.
        OSError: There is no space for the index.
        WireSparkError: The capture has changed while its index was made.
    """
    with open(path, "rb") as capture, _opened(path, port, n_shares, is_kept=is_kept) as file:
        yield CaptureIndex(path=path, file=file, capture=capture, n_shares=n_shares)


def _opened(path: str, port: int | None, n_shares: int, *, is_kept: bool) -> BinaryIO:
    folder = _cache_folder() if is_kept else None
    if folder is not None:
        return _kept(folder, path, port, n_shares)
    file = tempfile.TemporaryFile()  # noqa: SIM115 - the caller closes it
    _write(file, path, port, n_shares)
    file.flush()
    return file


def _cache_folder() -> Path | None:
    """Return the folder of indexes in the user's cache, or None if it cannot be written, or other users can write there."""
    try:
        cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
        folder = cache / "wirespark" / "captures"
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        status = folder.lstat()
    except (OSError, RuntimeError):  # RuntimeError: the user has no home
        return None
    is_own = stat.S_ISDIR(status.st_mode) and status.st_uid == os.geteuid() and not status.st_mode & 0o022
    return folder if is_own and os.access(folder, os.W_OK) else None


def _kept(folder: Path, path: str, port: int | None, n_shares: int) -> BinaryIO:
    state = _state(path)
    name = sha256(repr((path, state, port, n_shares)).encode()).hexdigest()
    place = folder / f"{name}.index"
    with alone(place.with_suffix(".lock")):
        if not _is_whole(place):
            held = HiddenFile(place)
            try:
                with open(held.path, "wb") as file:
                    _write(file, path, port, n_shares)
                if _state(path) != state:
                    raise WireSparkError(f"{path} has changed while it was read: read it again")
                os.replace(held.path, place)
            finally:
                held.drop()
            _remove_oldest(place)
        os.utime(place)
        return open(place, "rb")


def _state(path: str) -> tuple[int, ...]:
    """Return numbers that differ if a file has changed or was replaced."""
    status = os.stat(path)
    return status.st_size, status.st_mtime_ns, status.st_ctime_ns, status.st_ino


def _is_whole(place: Path) -> bool:
    """Return whether there is an index at a place, and it ends as it was written."""
    try:
        with open(place, "rb") as file:
            size = os.fstat(file.fileno()).st_size
            begins = file.read(len(_MAGIC)) == _MAGIC
            return begins and os.pread(file.fileno(), _PLACE.size, size - _PLACE.size) == _PLACE.pack(size)
    except OSError:
        return False


def _remove_oldest(newest: Path) -> None:
    """Remove what writers that are gone have left, and the least recently used indexes beyond the limit.

    Those that are open stay readable.
    """
    for left in newest.parent.glob(f".*{TEMPORARY}"):
        remove_left(left)
    others = [(path.stat(), path) for path in newest.parent.glob("*.index") if path != newest]
    size = newest.stat().st_size + sum(status.st_size for status, _ in others)
    for status, path in sorted(others, key=lambda each: each[0].st_mtime_ns):
        if size <= _MOST_KEPT:
            return
        path.unlink(missing_ok=True)
        path.with_suffix(".lock").unlink(missing_ok=True)
        size -= status.st_size


def _write(file: BinaryIO, path: str, port: int | None, n_shares: int) -> None:
    """Write the index of a capture."""
    pages = _Pages(file, n_shares)
    waiting, most, put, pack = pages.waiting, pages.size, pages.put, _RECORD.pack
    shares: dict[bytes, int] = {}
    for key, link_type, time, offset, captured, size in locate_packets(path, port=port):
        share = shares.get(key)
        if share is None:
            if len(shares) >= _MOST_KNOWN:
                shares.clear()
            share = shares[key] = crc32(ends_of(key)) % n_shares
        page = waiting[share]
        page += pack(offset, time, captured, size, link_type)
        if len(page) >= most:
            put(share)
    pages.finish()


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
        n_bytes = self._file.write(_PAGE.pack(self._last[share], len(page)) + page)
        self._last[share], self._place = self._place, self._place + n_bytes
        page.clear()

    def finish(self) -> None:
        for share, page in enumerate(self.waiting):
            if page:
                self.put(share)
        size = self._place + _PLACE.size * (len(self._last) + 1)
        self._file.write(b"".join(map(_PLACE.pack, (*self._last, size))))
