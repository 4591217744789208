"""Damage in a capture, counted by kind: it is always reported, and reading continues after it."""

from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum


class IssueKind(StrEnum):
    """The closed list of issues of a capture."""

    TRUNCATED_FILE = "truncated_file"
    DAMAGED_FILE = "damaged_file"
    DAMAGED_BLOCK = "damaged_block"
    NO_TIMESTAMP = "no_timestamp"
    OVERSIZED_PACKET = "oversized_packet"
    CUT_PACKET = "cut_packet"
    UNSUPPORTED_LINK = "unsupported_link"
    NOT_TCP = "not_tcp"
    OTHER_PORT = "other_port"
    FRAGMENT = "fragment"
    MALFORMED_PACKET = "malformed_packet"
    BEFORE_START = "before_start"
    AFTER_CLOSE = "after_close"
    SEQUENCE_JUMP = "sequence_jump"
    BUFFER_FULL = "buffer_full"
    TOO_MANY_FLOWS = "too_many_flows"

    @property
    def is_harmless(self) -> bool:
        """Return whether the issue cannot cause missing bytes in a wanted stream."""
        return self in _HARMLESS


_PHRASES = {
    IssueKind.TRUNCATED_FILE: "the file ends early",
    IssueKind.DAMAGED_FILE: "the file cannot be read after a damaged length",
    IssueKind.DAMAGED_BLOCK: "damaged blocks skipped",
    IssueKind.NO_TIMESTAMP: "packets without a time, which get the time of the packet before",
    IssueKind.OVERSIZED_PACKET: "packets longer than the limit, cut",
    IssueKind.CUT_PACKET: "packets that were not captured completely; the missing bytes are a gap",
    IssueKind.UNSUPPORTED_LINK: "packets of an unsupported link type skipped",
    IssueKind.NOT_TCP: "packets that are not TCP skipped",
    IssueKind.OTHER_PORT: "packets of other ports skipped",
    IssueKind.FRAGMENT: "IP fragments skipped, they are not put together",
    IssueKind.MALFORMED_PACKET: "malformed packets skipped",
    IssueKind.BEFORE_START: "segments from before the first byte that was seen skipped",
    IssueKind.AFTER_CLOSE: "segments after the end of their flow skipped",
    IssueKind.SEQUENCE_JUMP: "segments with a sequence number out of reach skipped",
    IssueKind.BUFFER_FULL: "gaps given up because the buffer for segments out of order was full",
    IssueKind.TOO_MANY_FLOWS: "flows ended because too many were open",
}

_AT_BYTES = frozenset({IssueKind.TRUNCATED_FILE, IssueKind.DAMAGED_FILE, IssueKind.DAMAGED_BLOCK})
_HARMLESS = frozenset({IssueKind.NOT_TCP, IssueKind.OTHER_PORT, IssueKind.NO_TIMESTAMP})


@dataclass(frozen=True, slots=True, kw_only=True)
class Issue:
    """All occurrences of one kind.

    `at` is the place of the first: a byte of the unzipped file for damage to the file, else a packet's number from 1.
    """

    kind: IssueKind
    count: int
    at: int
    detail: str
    is_unzipped: bool = False
    """Whether the file is compressed, so that its bytes are not those that `at` counts."""

    @property
    def is_harmless(self) -> bool:
        return self.kind.is_harmless

    def __str__(self) -> str:
        is_byte = self.kind in _AT_BYTES
        place = f"byte {self.at}" if is_byte else f"packet {self.at}"
        place += " of the decompressed bytes" if is_byte and self.is_unzipped else ""
        first = "at" if self.count == 1 else f"{self.count}, first at"
        detail = f": {self.detail}" if self.detail else ""
        return f"{_PHRASES[self.kind]} ({first} {place}{detail})"


class Issues:
    """Collects the issues while a capture is read; `is_unzipped`: of a compressed one."""

    __slots__ = ("_counts", "_firsts", "is_unzipped")

    def __init__(self) -> None:
        self.is_unzipped = False
        self._counts: dict[IssueKind, int] = {}
        self._firsts: dict[IssueKind, tuple[int, str]] = {}

    def note(self, kind: IssueKind, at: int, detail: str = "") -> None:
        """Count one occurrence; the place and detail of the first one are kept."""
        if kind not in self._counts:
            self._counts[kind] = 0
            self._firsts[kind] = (at, detail)
        self._counts[kind] += 1

    def count(self, kind: IssueKind) -> int:
        """Return how often `kind` was noted."""
        return self._counts.get(kind, 0)

    def __iter__(self) -> Iterator[Issue]:
        for kind, count in self._counts.items():
            at, detail = self._firsts[kind]
            yield Issue(kind=kind, count=count, at=at, detail=detail, is_unzipped=self.is_unzipped)

    def __len__(self) -> int:
        return len(self._counts)
