"""Receipts of a conversion: one next to the tables for each bundle of parts, written once all its files exist.

Invariant: the name of a part is a function of its file, its beginning and its end. A file that no receipt names does
not count, and is written again or removed.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from functools import cache
from hashlib import sha256

from wirespark.batches import Slice
from wirespark.captures import Share
from wirespark.options import Wishes
from wirespark.packages import Package
from wirespark.planning import Part
from wirespark.storage import FileState

__all__ = ["FOLDER", "INDEX", "SUFFIX", "Receipt", "bounds_of", "bundle_name", "name_of", "summed", "way_of"]

FOLDER = "_receipts"
SUFFIX = ".json"
INDEX = ".index"
"""The suffix of what tasks found in the source before it was converted: see `SourceIndex`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Receipt:
    """The result of converting a bundle.

    Attributes:
        ways: For each part by name, a hash of the options of the read and of the state of the file then.
        sources: For each part by name, its file.
        size: The bytes of the parts, without holes in the streams of a capture.
        rows: The number of rows that were written; `dropped` rows were left out.
        messages: The number of rows by message; `inner` has those of frames inside of others.
        errors: The number of errors by code, dropped ones included.
        missing: The bytes that the streams of captures lack.
        issues: The number of issues of captures that can cause missing bytes, by the kind of the reader of captures.
        files: The paths of the written files, relative to the target.
        replaces: The names of the receipts whose rows were moved into these files.
    """

    name: str
    ways: dict[str, str]
    sources: dict[str, str]
    size: int
    rows: int
    dropped: int
    messages: dict[str, int]
    inner: dict[str, int]
    errors: dict[str, int]
    files: list[str]
    seconds: float
    replaces: list[str] = field(default_factory=list)
    missing: int = 0
    issues: dict[str, int] = field(default_factory=dict)

    def text(self) -> str:
        return json.dumps({each.name: getattr(self, each.name) for each in fields(self)}, sort_keys=True)

    @classmethod
    def of(cls, text: str) -> Receipt:
        return cls(**json.loads(text))


def name_of(part: Part) -> str:
    """Return the name of a part, which is the same in every run."""
    place: tuple[object, ...] = (part.path, *bounds_of(part))
    if isinstance(part, Share):
        place = (*place, "share")
    return sha256(repr(place).encode()).hexdigest()[:20]


def bundle_name(names: Sequence[str]) -> str:
    """Return the name of a bundle of parts with these names: of a single part, its own."""
    return names[0] if len(names) == 1 else sha256(" ".join(names).encode()).hexdigest()[:20]


def bounds_of(part: Part) -> tuple[int, int | None]:
    """Return the beginning and the end of a part; for a capture, the index and the number of shares."""
    match part:
        case Slice():
            return part.start, part.end
        case Share():
            return part.index, part.n_shares
    return 0, None


def way_of(part: Part, name: str, wishes: Wishes, state: FileState) -> str:
    """Return a hash of everything that the rows of a part with this name depend on. `state`: that of its file."""
    facts: tuple[object, ...] = (
        name, state.size, state.modified, wishes.protocol, wishes.backend, part.role, wishes.variant, wishes.strict,
        sorted(wishes.limits.items()), wishes.mode, wishes.error_bytes, _plan_hash(wishes.package), getattr(part, "port", None),
    )  # fmt: skip
    if isinstance(part, Share) and part.n_shares > 1 and part.is_index_kept:
        facts = (*facts, "long connections are cut")
    return sha256(repr(facts).encode()).hexdigest()


@cache
def _plan_hash(package: Package) -> str:
    return sha256(repr(package.schema).encode()).hexdigest()


def summed(counts: Iterable[Mapping[str, int]]) -> dict[str, int]:
    """Return the sums by key, the largest first."""
    found: dict[str, int] = {}
    for each in counts:
        for key, number in each.items():
            found[key] = found.get(key, 0) + int(number)
    return dict(sorted(found.items(), key=lambda item: (-item[1], item[0])))
