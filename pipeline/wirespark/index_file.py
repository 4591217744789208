"""The file of a capture's index: the places of packets by share, and facts about all of them.

The magic, then pages. A page has the place of its share's page before it, the size of its content, a CRC-32, and the content:
records of packets in the capture's order. After the shares comes one more, whose pages hold the facts as JSON. At the end
are the places of the last pages, for each share 8 bytes and a CRC-32, and the size of the file. All numbers are little-endian.
A CRC-32 is that of the number of the share, of the place before it, and of the content, so that no page counts for another share.
"""

from __future__ import annotations

import json
import os
import struct
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import BinaryIO
from zlib import crc32

import numpy as np

from wiregen.formats.capture import IssueKind

__all__ = ["FIELDS", "DamagedError", "Facts", "IndexFile", "IndexPages", "page_size"]

_MAGIC = b"wspkts6\n"
FIELDS = np.dtype([("offset", "<u8"), ("time", "<f8"), ("captured", "<u4"), ("size", "<u4"), ("link", "<u2")])
"""A record: the offset of a packet in the capture, its time in seconds, its captured size, its size, its link type."""
_PAGE = struct.Struct("<QII")
_LAST = struct.Struct("<QI")
_PLACE = struct.Struct("<Q")
PAGE_SIZE = 1 << 16
_MOST_WAITING = 1 << 25
"""Bytes of all pages together that wait to be written."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Facts:
    """Facts about a capture, from the pass that makes its index.

    Attributes:
        issues: How often each kind was noted.
        long_ends: The ends, as `ends_of` returns them, of which the packets are many more than a share.
    """

    issues: Mapping[IssueKind, int]
    long_ends: tuple[bytes, ...] = ()

    def text(self) -> bytes:
        issues = {kind.value: count for kind, count in self.issues.items()}
        return json.dumps({"issues": issues, "long_ends": [each.hex() for each in self.long_ends]}).encode()

    @classmethod
    def of(cls, text: bytes) -> Facts:
        """Return the facts that were written.

        Raises:
            DamagedError: They are not as they were written.
        """
        try:
            told = json.loads(text)
            issues = {IssueKind(kind): int(count) for kind, count in told["issues"].items()}
            return cls(issues=issues, long_ends=tuple(map(bytes.fromhex, told["long_ends"])))
        except (ValueError, TypeError, KeyError, AttributeError):
            raise DamagedError from None


@dataclass(frozen=True, slots=True, kw_only=True)
class _Page:
    """A page of an index: the place of the page before it, or 0, and its content."""

    before: int
    content: bytes


@dataclass(frozen=True, slots=True, kw_only=True)
class IndexFile:
    """The pages of one share in an open index of a capture of `capture_size` bytes. After those of the shares come those of the facts."""

    file: BinaryIO
    share: int
    n_shares: int
    capture_size: int

    def pages(self) -> Iterator[bytes]:
        """Yield the records of the share, page by page.

        Raises:
            DamagedError: By the iterator: a page is not as it was written. If `places` found none, it was damaged since.
        """
        for place in reversed(self.places(self.share)):
            yield self._page(place, self.share).content

    def facts(self) -> Facts:
        """Return the facts about the capture.

        Raises:
            DamagedError: It is not as it was written.
        """
        places = reversed(self.places(self.n_shares))
        return Facts.of(b"".join(self._page(place, self.n_shares).content for place in places))

    def places(self, share: int) -> list[int]:
        """Return the places of all pages of a share, or of the facts, the last one first, after checking each.

        Raises:
            DamagedError: The file does not end as it was written, or a page is not as it was written.
        """
        size = os.fstat(self.file.fileno()).st_size
        if (
            self._end < len(_MAGIC)
            or self._read(0, len(_MAGIC)) != _MAGIC
            or self._number(size - _PLACE.size) != size
        ):
            raise DamagedError
        places: list[int] = []
        place, checksum = _LAST.unpack(self._read(self._end + _LAST.size * share, _LAST.size))
        if _checksum(share, place) != checksum:
            raise DamagedError
        while place:
            places.append(place)
            place = self._page(place, share).before
        return places

    @property
    def _end(self) -> int:
        """Return the place after the last page."""
        return os.fstat(self.file.fileno()).st_size - _LAST.size * (self.n_shares + 1) - _PLACE.size

    def _page(self, place: int, share: int) -> _Page:
        room = self._end - place - _PAGE.size
        if place < len(_MAGIC) or room < 0:
            raise DamagedError
        before, size, checksum = _PAGE.unpack(self._read(place, _PAGE.size))
        if before >= place or not 0 < size <= room:
            raise DamagedError
        page = _Page(before=before, content=self._read(place + _PAGE.size, size))
        is_fit = share == self.n_shares or self._are_packets(page.content)
        if not is_fit or _checksum(share, before, page.content) != checksum:
            raise DamagedError
        return page

    def _are_packets(self, content: bytes) -> bool:
        """Return whether a page has records of packets that are in the capture."""
        if len(content) % FIELDS.itemsize:
            return False
        records = np.frombuffer(content, FIELDS)
        offsets, most = records["offset"], np.uint64(self.capture_size)
        return not ((offsets > most).any() or (records["captured"] > most - offsets).any())

    def _number(self, place: int) -> int:
        (number,) = _PLACE.unpack(self._read(place, _PLACE.size))
        return int(number)

    def _read(self, place: int, size: int) -> bytes:
        data = os.pread(self.file.fileno(), size, place)
        if len(data) != size:
            raise DamagedError
        return data


def _checksum(share: int, place: int, content: bytes | bytearray = b"") -> int:
    return crc32(content, crc32(struct.pack("<QQ", share, place)))


class DamagedError(Exception):
    """An index is not as it was written; it is made again."""


def page_size(n_shares: int) -> int:
    """Return how many bytes a full page has, if so many are filled at once."""
    most = min(PAGE_SIZE, _MOST_WAITING // n_shares)
    return max(1, most // FIELDS.itemsize) * FIELDS.itemsize


class IndexPages:
    """The pages that are being filled, for each share and for the facts. `size`: how many bytes a full one has."""

    def __init__(self, file: BinaryIO, n_shares: int) -> None:
        self.size = page_size(n_shares)
        self._waiting = [bytearray() for _ in range(n_shares)]
        self._file = file
        self._last = [0] * n_shares
        self._place = file.write(_MAGIC)

    def add(self, share: int, content: bytes) -> None:
        """Add records of packets of a share, or facts; pages that are full are written."""
        waiting = self._waiting[share]
        waiting += content
        while len(waiting) >= self.size:
            self._put(share, waiting[: self.size])
            del waiting[: self.size]

    def finish(self) -> None:
        for share, waiting in enumerate(self._waiting):
            if waiting:
                self._put(share, waiting)
        size = self._place + _LAST.size * len(self._last) + _PLACE.size
        places = (_LAST.pack(place, _checksum(share, place)) for share, place in enumerate(self._last))
        self._file.write(b"".join((*places, _PLACE.pack(size))))

    def _put(self, share: int, content: bytearray) -> None:
        """Write a page of a share."""
        before = self._last[share]
        header = _PAGE.pack(before, len(content), _checksum(share, before, content))
        n_bytes = self._file.write(header + content)
        self._last[share], self._place = self._place, self._place + n_bytes
