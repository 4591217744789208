"""How far a stream of files was read: the offset that Spark keeps in the checkpoint of a query.

Invariant: the size of an offset is bounded by the files of the last `maxFileAge`, and by those that are read in part. Of an older
file nothing is kept: it was read, or it came too late.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from wirespark.decoders import Snapshot
from wirespark.untyped import Made

__all__ = ["BEGINNING", "CaptureMark", "FilePlace", "StreamOffset"]


class CaptureMark(NamedTuple):
    """The first bytes of a capture, by which it is told from another one of its name: their number, and a hash of them."""

    n_bytes: int
    digest: str


@dataclass(frozen=True, slots=True, kw_only=True)
class FilePlace:
    """How far a file was read.

    Attributes:
        at: A number of bytes.
        state: The state that frames up to there left, as JSON.
        is_whole: Whether the file ended there.
        mark: Of a capture.
        goes_on: Whether the file is a capture that has gone on since the place before this one.
    """

    at: int = 0
    state: str | None = None
    is_whole: bool = False
    mark: CaptureMark | None = None
    goes_on: bool = False

    @property
    def snapshot(self) -> Snapshot | None:
        return None if self.state is None else json.loads(self.state)

    def told(self) -> Made:
        """Return the place as JSON: a number if the file is whole, which most are, and no capture."""
        if not self.is_whole:
            return {"at": self.at, "state": self.state}
        if self.mark is None:
            return self.at
        return {"at": self.at, "whole": True, "mark": self.mark, "goes_on": self.goes_on}

    @classmethod
    def of(cls, told: Made) -> FilePlace:
        """Return a place that was told, also by an earlier version."""
        if isinstance(told, int):
            return cls(at=told, is_whole=True)
        return cls(
            at=told["at"],
            state=told.get("state"),
            is_whole=told.get("whole", False),
            mark=CaptureMark(*told["mark"]) if "mark" in told else None,
            goes_on=told.get("goes_on", False),
        )


BEGINNING = FilePlace()


@dataclass(frozen=True, slots=True, kw_only=True)
class StreamOffset:
    """The places of files by path. A file that is not among them and was modified before `until` (nanoseconds) is not read."""

    places: Mapping[str, FilePlace] = field(default_factory=dict)
    until: int = 0

    def told(self) -> dict[str, Made]:
        """Return the offset as Spark keeps it: names and texts."""
        files = {path: place.told() for path, place in self.places.items()}
        return {"files": json.dumps(files, sort_keys=True), "until": str(self.until)}

    @classmethod
    def of(cls, told: Mapping[str, Made]) -> StreamOffset:
        files = {path: FilePlace.of(place) for path, place in json.loads(told["files"]).items()}
        return cls(places=files, until=int(told.get("until", 0)))
