"""Output files to the tree, and the comparison that `--check` makes."""

import os
import shutil
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from wiregen.generate.writer.exclusive import exclusive
from wiregen.generate.writer.journal import JournaledRename, apply, recover, write_file
from wiregen.generate.writer.manifest import MAX_FILE_SIZE, hash_of, hash_of_file, manifest, read_manifest
from wiregen.generate.writer.paths import (
    MANIFEST,
    STAGING,
    WriteError,
    check_parents,
    check_paths,
    check_places,
    holds,
    is_inside,
    is_regular,
)
from wiregen.language.regular_files import read_regular


@dataclass(frozen=True, kw_only=True, slots=True)
class Output:
    """An output file, with its path relative to the output folder."""

    path: PurePosixPath
    content: bytes


@dataclass(frozen=True, kw_only=True, slots=True)
class WrittenTree:
    """The changes of a build to the tree, the manifest included; `kept`: outdated files that were not deleted.

    Such a file was changed by someone else after a build wrote it.
    """

    changed: tuple[PurePosixPath, ...]
    deleted: tuple[PurePosixPath, ...]
    kept: tuple[PurePosixPath, ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class TreeDifference:
    """The changes that a build would make.

    Attributes:
        extra: Files of a former build, and foreign files below the folders of generated files.
        kept: Those of `extra` that a build does not delete: files that it never wrote, or that were changed since.
        is_unfinished: A build is writing the tree, or was killed while it did; the next one undoes its changes first.
    """

    stale: tuple[PurePosixPath, ...]
    missing: tuple[PurePosixPath, ...]
    extra: tuple[PurePosixPath, ...]
    kept: tuple[PurePosixPath, ...]
    is_unfinished: bool

    def __bool__(self) -> bool:
        return bool(self.stale or self.missing or self.extra or self.is_unfinished)


def write(
    outputs: Iterable[Output],
    folder: Path,
    *,
    partial: bool = False,
    at_wait: Callable[[str], None] = lambda text: None,
    first: Callable[[], None] = lambda: None,
) -> WrittenTree:
    """Make `folder` hold `outputs` and a manifest of them; unchanged files keep their times.

    Files of a former build that this one does not write are deleted. If `partial`, they stay, in the manifest
    too. One process at a time writes: `at_wait` is called with the holder if this one has to wait, and
    `first` when it is its turn.

    Raises:
        WriteError: A path is unsafe, a foreign file is at an output's path, or another process writes for too long.
        OSError: The system refuses; the tree is unchanged.
    """
    with exclusive(folder, at_wait):
        first()
        return _write(outputs, folder, partial=partial)


def _write(outputs: Iterable[Output], folder: Path, *, partial: bool) -> WrittenTree:
    recover(folder)
    former = read_manifest(folder)
    wanted = _wanted(outputs, former if partial else {})
    if not os.path.lexists(folder):
        return _write_new_tree(wanted, folder)
    check_places(wanted, folder)
    _check_strangers(wanted, former, folder)
    stale, missing = _differing(wanted, folder)
    left_over = () if partial else _left_over(former, wanted, folder)
    deleted = _as_written(left_over, former, folder)
    changes = (
        *(JournaledRename(path=path, content=wanted[path], was_there=True) for path in stale),
        *(JournaledRename(path=path, content=wanted[path], was_there=False) for path in missing),
        *(JournaledRename(path=path, content=None, was_there=True) for path in deleted),
    )
    apply(changes, folder)
    kept = tuple(path for path in left_over if path not in deleted)
    return WrittenTree(changed=tuple(sorted((*stale, *missing))), deleted=deleted, kept=kept)


def compare(outputs: Iterable[Output], folder: Path, *, partial: bool = False) -> TreeDifference:
    """Return the changes that `write` would make, without writing.

    Raises:
        WriteError: A path is unsafe.
    """
    former = read_manifest(folder)
    wanted = _wanted(outputs, former if partial else {})
    check_places(wanted, folder)
    stale, missing = _differing(wanted, folder)
    extra, kept = set[PurePosixPath](), set[PurePosixPath]()
    if not partial:
        left_over = _left_over(former, wanted, folder)
        extra = {*left_over, *_strangers(wanted, folder)}
        kept = extra.difference(_as_written(left_over, former, folder))
    return TreeDifference(
        stale=stale,
        missing=missing,
        extra=tuple(sorted(extra)),
        kept=tuple(sorted(kept)),
        is_unfinished=os.path.lexists(folder / STAGING),
    )


def contents_of_build(folder: Path) -> Iterator[bytes]:
    """Yield name and content of each file that the manifest names, and of the manifest.

    Raises:
        OSError: The tree is not as a build leaves it: a file is missing or not regular, or a build was interrupted.
    """
    if os.path.lexists(folder / STAGING):
        raise FileExistsError(folder / STAGING)
    paths = (MANIFEST, *map(PurePosixPath, sorted(read_manifest(folder))))
    try:
        check_parents(paths, folder)
    except WriteError as error:
        raise NotADirectoryError(str(error)) from None
    for path in paths:
        yield str(path).encode()
        yield read_regular(folder / path, MAX_FILE_SIZE, follow_links=False)


def _wanted(outputs: Iterable[Output], also: Mapping[str, str]) -> dict[PurePosixPath, bytes]:
    """Return content by path, the manifest last; `also` are hashes of files that stay."""
    wanted = {}
    for output in outputs:
        if output.path in wanted:
            raise WriteError(f"{output.path} is written twice")
        wanted[output.path] = output.content
    hashes = {**also, **{str(path): hash_of(content) for path, content in wanted.items()}}
    check_paths(map(PurePosixPath, hashes))
    return {**dict(sorted(wanted.items())), MANIFEST: manifest(hashes)}


def _check_strangers(wanted: Mapping[PurePosixPath, bytes], former: Mapping[str, str], folder: Path) -> None:
    """Refuse to replace a file that builds did not write, unless its content is the same."""
    for path, content in wanted.items():
        place = folder / path
        if path != MANIFEST and str(path) not in former and place.exists() and not holds(place, content):
            raise WriteError(f"{place} was not written by wiregen: move it away or delete it")


def _differing(
    wanted: Mapping[PurePosixPath, bytes], folder: Path
) -> tuple[tuple[PurePosixPath, ...], tuple[PurePosixPath, ...]]:
    """Return the paths whose content differs, and those that do not exist."""
    missing = tuple(path for path in wanted if not (folder / path).exists())
    there = sorted(wanted.keys() - set(missing))
    return tuple(path for path in there if not holds(folder / path, wanted[path])), missing


def _left_over(
    former: Mapping[str, str], wanted: Mapping[PurePosixPath, bytes], folder: Path
) -> tuple[PurePosixPath, ...]:
    """Return the regular files that the manifest names and this build does not write."""
    paths = (PurePosixPath(name) for name in sorted(former))
    return tuple(path for path in paths if path not in wanted and is_inside(path, folder))


def _as_written(
    paths: Iterable[PurePosixPath], former: Mapping[str, str], folder: Path
) -> tuple[PurePosixPath, ...]:
    """Return the paths whose files are unchanged since a former build wrote them, so that they may be deleted."""
    return tuple(path for path in paths if hash_of_file(folder / path) == former[str(path)])


def _strangers(wanted: Mapping[PurePosixPath, bytes], folder: Path) -> Iterator[PurePosixPath]:
    """Yield files that this build does not write, at any depth below a folder that holds generated ones.

    The root and its own folders belong to the user; hidden files and caches are ignored.
    """
    parents = {path.parent for path in wanted if path.parent.parts}
    outermost = sorted(parent for parent in parents if parents.isdisjoint(parent.parents))
    for parent in outermost:
        for path in _files_below(folder / parent):
            stranger = PurePosixPath(path.relative_to(folder).as_posix())
            if stranger not in wanted:
                yield stranger


def _files_below(folder: Path) -> Iterator[Path]:
    """Yield the regular files of a tree, without hidden ones and caches; links are not followed."""
    for place, folders, files in os.walk(folder, followlinks=False):
        folders[:] = sorted(name for name in folders if not _is_cache(name))
        paths = (Path(place, name) for name in sorted(files) if not _is_cache(name))
        yield from filter(is_regular, paths)


def _is_cache(name: str) -> bool:
    return name.startswith(".") or name == "__pycache__" or name.endswith((".pyc", ".pyo", ".egg-info"))


def _write_new_tree(wanted: Mapping[PurePosixPath, bytes], folder: Path) -> WrittenTree:
    staging = folder.with_name(f".{folder.name}{STAGING}")
    folder.parent.mkdir(parents=True, exist_ok=True)
    if staging.is_symlink():
        raise WriteError(f"{staging} is a symbolic link")
    shutil.rmtree(staging, ignore_errors=True)
    try:
        for path, content in wanted.items():
            write_file(staging / path, content)
        os.replace(staging, folder)
    finally:
        shutil.rmtree(staging, ignore_errors=True)
    return WrittenTree(changed=tuple(sorted(wanted)), deleted=(), kept=())
