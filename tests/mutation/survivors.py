"""Faults that live, and why: by the form of their ids, for the same fault is made in every message."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

__all__ = ["KNOWN", "Survivors", "why"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Survivors:
    """Mutants that live.

    Attributes:
        ids: A pattern that the whole id matches.
        is_equivalent: Nobody could notice them; the others vectors miss.
    """

    ids: str
    reason: str
    is_equivalent: bool = False


KNOWN: Final[tuple[Survivors, ...]] = (
    Survivors(
        ids=r"_read_\w+: (end|body_end|payload_end) - position -> \1 \+ position( \(\d+\))?",
        reason="an early guard with more room: what is not there is noticed where it is read, or by the position behind it",
        is_equivalent=True,
    ),
    Survivors(
        ids=r"_unpack_4xi\w*: >4xi(\w*) -> >4xI\1",
        reason="the length of a body: negative it ends before it begins, without a sign behind all that can be sent",
        is_equivalent=True,
    ),
    Survivors(
        ids=r"_unpack_(qBBi: >qBB|4xiqi: >4xiq|4xi16sqqi: >4xi16sqq)i -> .*I",
        reason="a size or count that is refused if negative; without a sign it is beyond every body and every limit",
        is_equivalent=True,
    ),
    Survivors(
        ids=r"(_write_table_entries_updated|_write_merge_segments): never len\(data\) > 16777223",
        reason="so many numbers are more than a list may have",
        is_equivalent=True,
    ),
    Survivors(
        ids=r"_write_\w+: never len\(data\) > 16777223",
        reason="the largest frame is shown with one long field; of lists of short texts it would be 256 texts of 64 KiB",
    ),
    Survivors(
        ids=r"_read_unknown: (16777223 -> 1677722[24]|never body_end > end)",
        reason="frames of messages that nobody knows are shown small",
    ),
    Survivors(
        ids=r"_read_\w+: (n_\w+ > 65536 -> n_\w+ >= 65536|65536 -> 65535)( \(\d+\))?",
        reason="a list exactly as long as may be is shown once for each protocol: reading so many records carefully takes seconds",
    ),
)


def why(id_: str) -> Survivors | None:
    """Return why a mutant lives; None: nobody knows."""
    return next((known for known in KNOWN if re.fullmatch(known.ids, id_)), None)
