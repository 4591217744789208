"""The index of a source: how its files are divided, found by tasks and kept in the target.

Invariant: a file of the index is a function of the options that divide and of the paths, sizes and times in it, and it has
a checksum. An index that is damaged, or does not agree with the listing of the source, is not used: these files are divided anew.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, fields, replace
from functools import cache
from hashlib import sha256

from wirespark.cut_finding import cutting_facts
from wirespark.options import ReadOptions
from wirespark.planning import Division, division_of
from wirespark.storage import FileState, is_remote
from wirespark.stream_rows import StreamCut
from wirespark.target_storage import TargetStorage
from wirespark.task_groups import filled

__all__ = ["SourceIndex", "name_in_index"]

_VERSION = 1
_TASK_SIZE = 256 << 20
"""Bytes that one task reads to divide files: two tenths of a second with kernels, which is what Spark needs for a task."""
_OPENING = 64 << 10
_REMOTE_OPENING = 1 << 20
"""Bytes that are read in the time in which a file is opened, on a disk and in another storage."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Entry:
    """A file with the state in which it was listed, and how it is divided: see `Division`."""

    path: str
    size: int
    modified: int
    n_shares: int
    cuts: Sequence[StreamCut]


@dataclass(frozen=True, slots=True)
class SourceIndex:
    """The index of the files that one read names. `key`: a hash of the options that divide them."""

    storage: TargetStorage
    options: ReadOptions
    key: str

    @classmethod
    def of(cls, storage: TargetStorage, options: ReadOptions) -> SourceIndex:
        own = (options.split_size, *cutting_facts(options.wishes))
        facts = (_VERSION, options.paths, options.capture, options.wishes.role, *own)
        return cls(storage, options, sha256(repr(facts).encode()).hexdigest()[:20])

    def divided(self, files: Mapping[str, FileState]) -> dict[str, FileState]:
        """Return the files that are divided, and opened for it."""
        return {path: state for path, state in files.items() if state.size > self.options.split_size}

    def is_worthwhile(self, files: Mapping[str, FileState]) -> bool:
        """Return whether files are divided by tasks: if it is not done before Spark has started them."""
        return self.options.has_index and sum(self._costs(files)) > _TASK_SIZE

    def tasks(self, files: Mapping[str, FileState]) -> Iterator[dict[str, FileState]]:
        """Yield the files that one task divides."""
        for paths in filled(tuple(files), tuple(self._costs(files)), _TASK_SIZE):
            yield {path: files[path] for path in paths}

    def known(self, files: Mapping[str, FileState]) -> dict[str, Division]:
        """Return how files are divided, by path, as far as they are in the index in this state."""
        found: dict[str, Division] = {}
        for text in self.storage.index_texts(self.key):
            for entry in self._entries(text):
                if files.get(entry.path) == FileState(size=entry.size, modified=entry.modified):
                    found[entry.path] = _division(entry)
        return found

    def keep(self, files: Mapping[str, FileState]) -> None:
        """Divide files, and write a file of the index. A file that was removed meanwhile is left out."""
        options = replace(self.options, has_index=False)  # not in the cache of the user too
        entries = list[_Entry]()
        for path, state in files.items():
            with suppress(FileNotFoundError):
                division = division_of(path, state.size, options)
                assert division is not None
                entries.append(
                    _Entry(
                        path=path,
                        size=state.size,
                        modified=state.modified,
                        n_shares=division.n_shares,
                        cuts=division.cuts,
                    )
                )
        text = json.dumps(entries, default=_by_name)
        self.storage.keep_index(name_in_index(self.key, files), f"{self._checksum(text)}\n{text}")

    def _entries(self, text: str) -> Iterator[_Entry]:
        checksum, _, told = text.partition("\n")
        if checksum == self._checksum(told):
            yield from (_Entry(**each) for each in json.loads(told))

    def _checksum(self, text: str) -> str:
        return sha256(f"{self.key} {text}".encode()).hexdigest()

    def _costs(self, files: Mapping[str, FileState]) -> Iterator[int]:
        """Yield for each file the bytes that could be read while it is divided."""
        for path, state in files.items():
            if self.options.capture:
                yield 0 if is_remote(path) else _OPENING
            else:
                yield state.size + (_REMOTE_OPENING if is_remote(path) else _OPENING)


def name_in_index(key: str, files: Mapping[str, FileState]) -> str:
    """Return the name under which a task keeps how these files are divided: every try of it has the same."""
    return f"{key}-{sha256(repr(files).encode()).hexdigest()[:20]}"


def _by_name(entry: _Entry) -> dict[str, object]:
    """Return the fields of an entry, without a copy of the states in it."""
    return {each.name: getattr(entry, each.name) for each in fields(entry)}


def _division(entry: _Entry) -> Division:
    if not entry.cuts:
        return _uncut(entry.n_shares)
    return Division(n_shares=entry.n_shares, cuts=tuple(StreamCut(*each) for each in entry.cuts))


@cache
def _uncut(n_shares: int) -> Division:
    """Return one and the same value for the many files that have no cuts."""
    return Division(n_shares=n_shares)
