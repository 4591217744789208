"""Partitions of a read: files are divided into parts that tasks can read independently.

A large file of one direction is cut where frames begin: see `cut_finding`. A read keeps the offsets in the cache of the
user, not next to the files; a conversion of many files keeps them in its target: see `divisions`.
"""

from __future__ import annotations

import io
import json
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from wiregen.formats.capture import LONGEST_MAGIC, compression_of, is_capture, may_be_capture
from wirespark.batches import Slice
from wirespark.capture_errors import of_capture
from wirespark.captures import Share
from wirespark.cut_finding import cut_finder, cutting_facts
from wirespark.filters import Pushed
from wirespark.options import ReadOptions, Wishes
from wirespark.storage import FileState, canonical, is_remote, storage_of
from wirespark.stream_rows import StreamCut
from wirespark.user_cache import keep, kept, place_of

__all__ = [
    "Division",
    "OpenedFile",
    "Part",
    "SizedPart",
    "WholeFile",
    "division_of",
    "files_of",
    "is_capture_file",
    "n_shares_of",
    "opened",
    "parts_in",
    "parts_of",
    "role_of",
    "shares_of",
    "size_of",
    "sized_parts_of",
]


@dataclass(frozen=True, slots=True, kw_only=True)
class WholeFile:
    """A file that is one part whatever it is: who reads it opens it, and sees whether it is a capture.

    `size`: as it was listed. `role`, `port` and `capture`: as given.
    """

    path: str
    size: int
    role: str | None
    port: int | None
    capture: bool | None


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenedFile:
    """A file with its kind. `content`: all its bytes, if it is a stream and they are fewer than a batch."""

    part: Slice | Share
    content: bytes | None


Part: TypeAlias = Slice | Share | WholeFile
_CHUNK = 1 << 20


@dataclass(frozen=True, slots=True, kw_only=True)
class SizedPart:
    """A part, and about its size in bytes."""

    part: Part
    size: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Division:
    """The facts for which a large file has to be opened: how it is divided into parts.

    Attributes:
        n_shares: The number of shares of a capture, or 0 if the file is a stream of one direction.
        cuts: Where such a stream is cut: the beginnings of all slices but the first.
    """

    n_shares: int = 0
    cuts: Sequence[StreamCut] = ()


def parts_of(options: ReadOptions, pushed: Pushed | None = None) -> tuple[Part, ...]:
    """Return all parts of a read, in the order of the files and of their bytes."""
    return tuple(sized.part for sized in sized_parts_of(options, pushed))


def sized_parts_of(options: ReadOptions, pushed: Pushed | None = None) -> Iterator[SizedPart]:
    """Yield all parts of a read in that order, with their sizes."""
    for path, state in files_of(options.paths).items():
        for part in parts_in(path, state.size, division_of(path, state.size, options), options):
            if pushed is None or _may_hold(part, pushed):
                yield SizedPart(part=part, size=size_of(part, state.size))


def division_of(path: str, size: int, options: ReadOptions) -> Division | None:
    """Open a file of so many bytes, and return how it is divided; a file that is not divided is not opened."""
    if size <= options.split_size:
        return None
    if is_capture_file(path, options):
        return Division(n_shares=n_shares_of(path, size, options))
    return Division(cuts=_known_cuts(path, role_of(path, options.wishes), options))


def parts_in(path: str, size: int, division: Division | None, options: ReadOptions) -> Iterator[Part]:
    """Yield the parts of a file of so many bytes that is divided so, without opening it."""
    if division is None:
        yield WholeFile(
            path=path, size=size, role=options.wishes.role, port=options.port, capture=options.capture
        )
        return
    if division.n_shares:
        yield from _shares(path, size, division.n_shares, options)
        return
    role = role_of(path, options.wishes)
    begins = (StreamCut(0, None), *division.cuts)
    ends = (*(cut.offset for cut in division.cuts), None)
    for begin, end in zip(begins, ends, strict=True):
        yield Slice(path=path, role=role, start=begin.offset, end=end, state=begin.state)


def opened(part: WholeFile, options: ReadOptions) -> OpenedFile:
    """Open a whole file, once if it is small: a request to another storage costs more than the bytes of such a file."""
    content = None
    if part.size < options.batch_size:
        with storage_of(part.path).open(part.path) as file:
            content = file.read(options.batch_size)
        if len(content) == options.batch_size:  # it has grown
            content = None
    if is_capture_file(part.path, options, content):
        return OpenedFile(part=next(_shares(part.path, None, 1, options)), content=None)
    return OpenedFile(part=Slice(path=part.path, role=role_of(part.path, options.wishes)), content=content)


def size_of(part: Part, file_size: int) -> int:
    """Return about how many bytes of its file a part takes."""
    match part:
        case Slice():
            return (file_size if part.end is None else part.end) - part.start
        case Share():
            return file_size // part.n_shares
    return file_size


def files_of(paths: tuple[str, ...]) -> dict[str, FileState]:
    """Return the files that paths, folders and patterns name, without hidden ones. None is opened.

    Their names are the same for all spellings of a path, so that a file is read once: see `canonical`, and real paths on disks.

    Raises:
        WireSparkError: A path does not match any file.
    """
    found: dict[str, FileState] = {}
    for path in paths:
        files = storage_of(path).files(path)
        found.update({canonical(file): state for file, state in files.items()} if is_remote(path) else files)
    return found


def is_capture_file(path: str, options: ReadOptions, content: bytes | None = None) -> bool:
    """Return whether a file is a capture. It is opened for that, unless its content or an option tells.

    Raises:
        WireSparkError: It cannot be read: a library is missing that unzips it.
    """
    if options.capture is not None or not options.wishes.is_native:
        return bool(options.capture)
    with of_capture(path):
        if content is not None:
            return may_be_capture(content) and is_capture(io.BytesIO(content))
        storage = storage_of(path)
        with storage.open(path) as file:
            if not may_be_capture(file.read(4)):
                return False
        with storage.open(path) as file:
            return is_capture(file)


def shares_of(path: str, size: int, options: ReadOptions) -> Iterator[Share]:
    """Yield the shares of a capture of so many bytes."""
    return _shares(path, size, n_shares_of(path, size, options), options)


def _shares(path: str, size: int | None, n_shares: int, options: ReadOptions) -> Iterator[Share]:
    for index in range(n_shares):
        yield Share(
            path=path,
            index=index,
            n_shares=n_shares,
            port=options.port,
            role=options.wishes.role,
            is_index_kept=options.has_index,
            size=size if n_shares > 1 else None,
        )


def n_shares_of(path: str, size: int, options: ReadOptions) -> int:
    """Return the number of shares that a capture is cut into.

    One task reads a compressed one, which is inflated once, and one that is not on a disk: its index would lead to many small
    reads, each a request.
    """
    if is_remote(path) or size <= options.split_size:
        return 1
    with open(path, "rb") as file:
        if compression_of(file.read(LONGEST_MAGIC)) is not None:
            return 1
    return -(-size // options.split_size)


def _may_hold(part: Part, pushed: Pushed) -> bool:
    """Return whether a part may hold rows at the wanted offsets. Offsets in a capture count in its flows."""
    if not isinstance(part, Slice):
        return True
    return (pushed.high is None or part.start <= pushed.high) and (part.end is None or part.end > pushed.low)


# ---- files of one direction


def role_of(path: str, wishes: Wishes) -> str | None:
    """Return the role that sent the bytes of a file: as given, or as the file is named (`x.writer.bin`).

    Without either, return None if one layout serves all roles, else the first role of the protocol.
    """
    package = wishes.package
    if wishes.role is not None:
        return wishes.role
    named = [part for part in path.rpartition("/")[2].split(".")[1:] if part in package.schema.roles]
    if named:
        return sys.intern(named[0])  # one text for all files
    if package.has_one_frame and not package.schema.opens:
        return None
    first: str = package.schema.roles[0]
    return first


def _known_cuts(path: str, role: str | None, options: ReadOptions) -> list[StreamCut]:
    """Return the cuts of a file, from the cache if the same file was cut in the same way."""
    if not options.has_index:
        return list(_cuts(path, role, options))
    state = storage_of(path).state(path)
    own = (options.split_size, *cutting_facts(options.wishes))
    place = place_of("cuts", (path, state.size, state.modified, role, *own))
    known = None if place is None else kept(place)
    if known is not None:
        return [StreamCut(*each) for each in json.loads(known)]
    cuts = list(_cuts(path, role, options))
    if place is not None:
        keep(place, json.dumps(cuts))
    return cuts


def _cuts(path: str, role: str | None, options: ReadOptions) -> Iterator[StreamCut]:
    """Yield the beginnings of all slices but the first, with the state of the connection there."""
    finder = cut_finder(options.wishes, role, options.split_size)
    with storage_of(path).open(path) as file:
        while data := file.read(_CHUNK):
            yield from finder.feed(data)
