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
        is_equivalent: They are not observable; the others are missed by vectors.
    """

    ids: str
    reason: str
    is_equivalent: bool = False


KNOWN: Final[tuple[Survivors, ...]] = (
    Survivors(
        ids=r"_unpack_\w*b\w*: >(\w*)b(\w*) -> >\1B\2",
        reason="of an open enum with a sign a number that has no name is shown, but none below zero",
    ),
    Survivors(
        ids=r"_unpack_ii: >ii -> <ii",
        reason="a size that is the same in both orders, of nothing, is not shown before a number that is not",
    ),
    Survivors(
        ids=r"_read_(re\w+)_in_\w+: state is None -> state is not None( \(\d+\))?",
        reason="frames of variants are shown small: no limit of what is large is tried there",
    ),
    Survivors(
        ids=r"_(read|bare|write)_response\w*: (without state\.take\(n_metadata\)|state is not None -> state is None)( \(\d+\))?",
        reason="of these items there can be only one: no list of them is over a limit",
    ),
    Survivors(
        ids=r"_read_geode_value_\w+_array: \d -> \d( \(\d+\))?",
        reason="an array that is measured too short is misread behind its end, and then the reference codec reads it; none is shown "
        "whose own bytes are right as what follows it, too",
    ),
    Survivors(
        ids=r"_(read|write)_geode_value_(tree_set|object_array): without state\.allow\(\) \(2\)",
        reason="elements stand only behind a comparator or a class, where the same depth was compared",
        is_equivalent=True,
    ),
    Survivors(
        ids=r"_(read|bare)_response\w*: 2 -> 1( \(\d+\))?",
        reason="no body is shown whose bytes are right as those of the message for other statuses, too",
    ),
    Survivors(
        ids=r"(?!Error)\w+Response\.encode: status > 0 -> status >= 0",
        reason="a status of 0 was refused before: with it another message stands there",
        is_equivalent=True,
    ),
    Survivors(
        ids=r"_unpack_i\w*: >i(\w+) -> >I\1",
        reason="the size of a payload: negative it ends before it begins, without a sign behind all that there is",
        is_equivalent=True,
    ),
    Survivors(
        ids=r"_unpack_iBih\w+: >iB(\w+) -> >ib\1|_(read|bare)_(request|response)\w*: 1 -> 2",
        reason="whatever is no false is_partial is refused behind it once more",
        is_equivalent=True,
    ),
    Survivors(
        ids=r"_(read|bare)_(request|response)\w*: never n_metadata < 0",
        reason="a list of fewer than no items is empty, and that is refused behind it",
        is_equivalent=True,
    ),
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
        ids=r"_unpack_(qBBi: >qBB|4xiqi: >4xiq|4xi16sqqi: >4xi16sqq|4xi16sii: >4xi16si)i -> .*I",
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
        ids=r"_hold_to: False -> True",
        reason="what only a strict reader refuses is given to the reference codec, which holds it to a lenient one",
        is_equivalent=True,
    ),
    Survivors(
        ids=r"[\w.]+encode: without _hand_over\(fault\)( \(\d+\))?",
        reason="it raises only bugs of ours again, and the reference codec does the work of all other errors",
        is_equivalent=True,
    ),
    Survivors(
        ids=r"_write_geode_value_tree_(map|set): message\.comparator is not None -> message\.comparator is None( \(\d+\))?",
        reason="it stands where the list is absent, which is no value of this field and is refused after it",
        is_equivalent=True,
    ),
    Survivors(
        ids=r"_read_unknown: 0 -> 1",
        reason="an unknown message without any data is not shown",
    ),
    Survivors(
        ids=r"_read_unknown: (16777223 -> 1677722[24]|never body_end > end)",
        reason="frames of messages that nobody knows are shown small",
    ),
    Survivors(
        ids=r"_read_\w+: (n_\w+ > 65536 -> n_\w+ >= 65536|65536 -> 65535)( \(\d+\))?",
        reason="a list exactly as long as may be is shown once for each protocol: reading so many records by the reference codec takes seconds",
    ),
)


def why(id_: str) -> Survivors | None:
    """Return why a mutant lives, or None if unknown."""
    return next((known for known in KNOWN if re.fullmatch(known.ids, id_)), None)
