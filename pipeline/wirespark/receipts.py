"""Receipts of a conversion: one next to the tables for each bundle of parts, written once all its files exist.

Invariant: the name of a part is a function of its file, its beginning and its end. A file that no receipt names does
not count, and is written again or removed.
"""

from __future__ import annotations

import json
from collections.abc import Container, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from functools import cache
from hashlib import sha256

from wirespark.batches import Slice
from wirespark.captures import Share
from wirespark.options import Wishes
from wirespark.packages import Package
from wirespark.planning import Part, WholeFile
from wirespark.storage import FileState

__all__ = ["FOLDER", "INDEX", "SUFFIX", "BundleResult", "Counts", "Receipt", "bounds_of", "bundle_name", "name_of", "summed", "superseded", "way_of"]  # fmt: skip

FOLDER = "_receipts"
SUFFIX = ".json"
INDEX = ".index"
"""The suffix of what tasks found in the source before it was converted: see `SourceIndex`."""


@dataclass(slots=True, kw_only=True)
class Counts:
    """The numbers that were counted in the parts of one file.

    Attributes:
        size: The bytes of the parts, without holes in the streams of a capture.
        rows: The number of rows that were written; `dropped` rows were left out.
        messages: The number of rows by message; `inner` has those of frames inside of others.
        errors: The number of errors by code, dropped ones included.
        missing: The bytes that the streams of a capture lack.
        issues: The number of issues of a capture that can cause missing bytes, by the kind of the reader of captures.
        replaced: The number of rows of earlier runs in whose place these come: the bytes of the file, or options of the read, were others.
    """

    size: int = 0
    rows: int = 0
    dropped: int = 0
    missing: int = 0
    replaced: int = 0
    messages: dict[str, int] = field(default_factory=dict)
    inner: dict[str, int] = field(default_factory=dict)
    errors: dict[str, int] = field(default_factory=dict)
    issues: dict[str, int] = field(default_factory=dict)

    def told(self) -> dict[str, object]:
        """Return the numbers that are not 0, by name."""
        return {name: value for name in self.__slots__ if (value := getattr(self, name))}

    @classmethod
    def sum(cls, counts: Sequence[Counts]) -> Counts:
        return cls(
            size=sum(each.size for each in counts),
            rows=sum(each.rows for each in counts),
            dropped=sum(each.dropped for each in counts),
            missing=sum(each.missing for each in counts),
            replaced=sum(each.replaced for each in counts),
            messages=summed(each.messages for each in counts),
            inner=summed(each.inner for each in counts),
            errors=summed(each.errors for each in counts),
            issues=summed(each.issues for each in counts),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class BundleResult:
    """What the driver hears of a bundle: it may have many thousands of files.

    Attributes:
        counts: Those of all its parts.
        is_resumed: Whether an earlier run converted them.
    """

    n_parts: int
    counts: Counts
    is_resumed: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Receipt:
    """The result of converting a bundle.

    Attributes:
        ways: For each part by name, a hash of the options of the read and of the state of the file then.
        sources: For each part by name, its file.
        counts: The counts of the parts of each file.
        files: The paths of the written files, relative to the target.
        replaces: The names of the receipts whose rows were moved into these files.
    """

    name: str
    ways: dict[str, str]
    sources: dict[str, str]
    counts: dict[str, Counts]
    files: list[str]
    seconds: float
    replaces: list[str] = field(default_factory=list)

    @property
    def total(self) -> Counts:
        """Return the counts of all its files."""
        return Counts.sum(tuple(self.counts.values()))

    def result(self, *, is_resumed: bool) -> BundleResult:
        return BundleResult(n_parts=len(self.ways), counts=self.total, is_resumed=is_resumed)

    def only(self, sources: Container[str]) -> Receipt:
        """Return the receipt of the parts of some sources. Its files have the other rows too."""
        return replace(
            self,
            ways={part: way for part, way in self.ways.items() if self.sources[part] in sources},
            sources={part: file for part, file in self.sources.items() if file in sources},
            counts={file: each for file, each in self.counts.items() if file in sources},
        )

    def text(self) -> str:
        told = {each.name: getattr(self, each.name) for each in fields(self)}
        counts = {file: each.told() for file, each in self.counts.items()}
        return json.dumps(told | {"counts": counts})

    @classmethod
    def of(cls, text: str) -> Receipt:
        """Return the receipt of a text. Older receipts have sums for all files, and not the counts of each."""
        told = json.loads(text)
        known = {each.name: told[each.name] for each in fields(cls) if each.name in told}
        counts = {file: Counts(**each) for file, each in told.get("counts", {}).items()}
        return cls(**known | {"counts": counts})


def superseded(receipts: Sequence[Receipt]) -> set[str]:
    """Return the names of receipts whose rows are in the files of other ones.

    A process that rewrote them was killed before it removed them. Without a common part, the name has come back:
    the parts were converted again later.
    """
    ways = {receipt.name: receipt.ways.items() for receipt in receipts}
    return {
        name
        for receipt in receipts
        for name in receipt.replaces
        if name in ways and not ways[name].isdisjoint(receipt.ways.items())
    }


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
        name, state.size, state.modified, wishes.backend, part.role, wishes.variant, wishes.strict,
        sorted(wishes.limits.items()), wishes.mode, wishes.error_bytes, _plan_hash(wishes.package), getattr(part, "port", None),
    )  # fmt: skip
    if isinstance(part, Share) and part.n_shares > 1 and part.is_index_kept:
        facts = (*facts, "long connections are cut")
    if isinstance(part, WholeFile) and part.capture is not None:
        facts = (*facts, "capture", part.capture)
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
