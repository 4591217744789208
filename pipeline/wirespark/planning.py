"""Partitions of a read: files are divided into parts that tasks can read independently.

A large file of one direction is cut where frames begin. The walk that finds these offsets is the one that
tasks use, so both see the same frames. The offsets are kept in the cache of the user, not next to the files.
"""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Iterator, Sequence
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias, TypeVar

from wiregen.formats.capture import LONGEST_MAGIC, compression_of, is_capture
from wirespark.batches import Slice, scanner_of
from wirespark.captures import Share
from wirespark.decoders import Snapshot, has_context
from wirespark.filters import Pushed
from wirespark.options import ReadOptions, Wishes, has_numba
from wirespark.storage import is_remote, storage_of
from wirespark.stream_rows import Walk
from wirespark.user_cache import private_folder

if TYPE_CHECKING:
    from wirespark.kernels.scanner import Scanner

__all__ = [
    "Part",
    "bundled",
    "files_of",
    "grouped",
    "n_shares_of",
    "packed",
    "parts_of",
    "role_of",
    "shares_of",
    "slices_of",
]

Part: TypeAlias = Slice | Share
Item = TypeVar("Item")
Cuts: TypeAlias = list[tuple[int, Snapshot | None]]

_CHUNK = 1 << 20
_MANY = 64
"""Number of parts above which small ones share a task.

Spark needs a fifth of a second for each task, whatever it reads.
"""


def parts_of(options: ReadOptions, pushed: Pushed | None = None) -> tuple[Part, ...]:
    """Return all parts of a read, in the order of the files and of their bytes."""
    found = (part for path in files_of(options.paths) for part in _parts(path, options))
    return tuple(part for part in found if pushed is None or _may_hold(part, pushed))


def bundled(parts: tuple[Part, ...]) -> Iterator[tuple[Part, ...]]:
    """Yield the parts that one task takes, in their order.

    A task takes one part. If there are many parts, it takes as many as fill a chunk.
    """
    if len(parts) <= _MANY:
        yield from ((part,) for part in parts)
        return
    bundle: list[Part] = []
    size = 0
    for part in parts:
        bundle.append(part)
        size += _size(part)
        if size >= _CHUNK:
            yield tuple(bundle)
            bundle, size = [], 0
    if bundle:
        yield tuple(bundle)


def grouped(parts: Sequence[Part], most: int) -> Iterator[tuple[Part, ...]]:
    """Yield the parts that share the files of a conversion, in their order.

    If there are many parts, a group takes parts of `most` bytes, or fewer so that there are as many groups as that.
    """
    if len(parts) <= _MANY:
        yield from ((part,) for part in parts)
        return
    yield from packed(parts, [_size(part) for part in parts], most)


def packed(items: Sequence[Item], sizes: Sequence[int], most: int) -> Iterator[tuple[Item, ...]]:
    """Yield groups of items of `most` bytes together, or fewer so that there are as many groups as are many."""
    least = max(_CHUNK, min(most, sum(sizes) // _MANY))
    group: list[Item] = []
    size = 0
    for item, more in zip(items, sizes, strict=True):
        if group and size + more > least:
            yield tuple(group)
            group, size = [], 0
        group.append(item)
        size += more
    if group:
        yield tuple(group)


def _size(part: Part) -> int:
    """Return about how many bytes of its file a part takes."""
    if isinstance(part, Slice) and part.end is not None:
        return part.end - part.start
    size = storage_of(part.path).state(part.path).size
    return size - part.start if isinstance(part, Slice) else size // part.n_shares


def files_of(paths: tuple[str, ...]) -> tuple[str, ...]:
    """Return the files that paths, folders and patterns name, sorted, without hidden ones.

    Raises:
        WireSparkError: A path does not match any file.
    """
    found: dict[str, None] = {}
    for path in paths:
        found.update(dict.fromkeys(storage_of(path).files(path)))
    return tuple(found)


def _parts(path: str, options: ReadOptions) -> Iterator[Part]:
    if _is_capture(path, options):
        yield from shares_of(path, storage_of(path).state(path).size, options)
    else:
        yield from slices_of(path, options)


def _is_capture(path: str, options: ReadOptions) -> bool:
    if options.capture is not None or not options.wishes.is_native:
        return bool(options.capture)
    with storage_of(path).open(path) as file:
        return is_capture(file)


def shares_of(path: str, size: int, options: ReadOptions) -> Iterator[Share]:
    """Yield the shares of a capture of so many bytes."""
    n_shares = n_shares_of(path, size, options)
    for index in range(n_shares):
        yield Share(
            path=path,
            index=index,
            n_shares=n_shares,
            port=options.port,
            role=options.wishes.role,
            is_index_kept=options.has_index,
        )


def n_shares_of(path: str, size: int, options: ReadOptions) -> int:
    """Return the number of shares that a capture is cut into.

    One task reads a compressed one, which is inflated once, and one that is not on a disk: its index would lead to many small
    reads, each a request.
    """
    if is_remote(path):
        return 1
    with open(path, "rb") as file:
        if compression_of(file.read(LONGEST_MAGIC)) is not None:
            return 1
    return max(1, -(-size // options.split_size))


def _may_hold(part: Part, pushed: Pushed) -> bool:
    """Return whether a part may hold rows at the wanted offsets. Offsets in a capture count in its flows."""
    if isinstance(part, Share):
        return True
    return (pushed.high is None or part.start <= pushed.high) and (part.end is None or part.end > pushed.low)


# ---- files of one direction


def slices_of(path: str, options: ReadOptions) -> Iterator[Slice]:
    """Yield the slices of a file, cut where frames begin."""
    role = role_of(path, options.wishes)
    size = storage_of(path).state(path).size
    cuts: Cuts = [(0, None)]
    if size > options.split_size:
        cuts += _known_cuts(path, role, options)
    for (start, state), (end, _) in zip(cuts, [*cuts[1:], (None, None)], strict=True):
        yield Slice(path=path, role=role, start=start, end=end, state=state)


def role_of(path: str, wishes: Wishes) -> str | None:
    """Return the role that sent the bytes of a file: as given, or as the file is named (`x.writer.bin`).

    Without either, return None if one layout serves all roles, else the first role of the protocol.
    """
    schema = wishes.package.schema
    if wishes.role is not None:
        return wishes.role
    named = [part for part in Path(path).name.split(".")[1:] if part in schema.roles]
    if named:
        return named[0]
    is_alike = len(set(schema.sends.values())) == 1 and not schema.opens
    first: str = schema.roles[0]
    return None if is_alike else first


def _known_cuts(path: str, role: str | None, options: ReadOptions) -> Cuts:
    """Return the cuts of a file, from the cache if the same file was cut in the same way."""
    place = _cache_place(path, role, options) if options.has_index else None
    if place is not None and place.is_file():
        return [(start, state) for start, state in json.loads(place.read_text(encoding="utf-8"))]
    cuts = list(_cuts(path, role, options))
    if place is not None:
        _keep(place, cuts)
    return cuts


def _cuts(path: str, role: str | None, options: ReadOptions) -> Iterator[tuple[int, Snapshot | None]]:
    """Yield the beginnings of all slices but the first, with the state of the connection there."""
    scanner = None if has_context(options.wishes.package) else scanner_of(options.wishes, role)
    if scanner is not None:
        yield from _scanned_cuts(path, role, options, scanner)
        return
    walk = Walk(options.wishes, role)
    error = options.wishes.package.native.DecodeError
    walk.due = options.split_size
    with storage_of(path).open(path) as file:
        while data := file.read(_CHUNK):
            for row in walk.feed(data):
                if walk.cut is None or row.offset < walk.cut[0]:
                    continue
                cut, walk.cut = walk.cut, None
                if row.offset == cut[0] and not isinstance(row.item, error):
                    yield cut
                    walk.due = row.offset + options.split_size
                else:
                    walk.due = row.offset


def _scanned_cuts(
    path: str, role: str | None, options: ReadOptions, scanner: Scanner
) -> Iterator[tuple[int, Snapshot | None]]:
    """Yield the same with the kernels, for frames that do not affect later ones."""
    from wirespark.kernels.alternating_reader import AlternatingReader
    from wirespark.kernels.cutting import Cutter

    reader = AlternatingReader(options.wishes, scanner, Walk(options.wishes, role))
    cutter = Cutter(options.split_size, options.wishes.package.native.DecodeError)
    with storage_of(path).open(path) as file:
        while data := file.read(_CHUNK):
            for part in reader.feed(data):
                for cut in cutter.take(part):
                    yield cut, None


def _cache_place(path: str, role: str | None, options: ReadOptions) -> Path | None:
    """Return the place of the cuts in the cache, or None if there is no cache that others cannot write."""
    folder = private_folder("cuts")
    if folder is None:
        return None
    state = storage_of(path).state(path)
    wishes = options.wishes
    facts = (
        path, state.size, state.modified, options.split_size, wishes.protocol, wishes.backend, role, wishes.variant,
        wishes.strict, sorted(wishes.limits.items()), wishes.kernel != "off" and has_numba(), repr(wishes.package.schema),
    )  # fmt: skip
    return folder / f"{sha256(repr(facts).encode()).hexdigest()}.json"


def _keep(place: Path, cuts: Cuts) -> None:
    """Write the cuts to the cache, completely or not at all. A cache that cannot be written is ignored."""
    try:
        with tempfile.NamedTemporaryFile("w", dir=place.parent, delete=False, encoding="utf-8") as file:
            json.dump(cuts, file)
        os.replace(file.name, place)
    except OSError:
        return
