"""Whether a build of code or of a site has anything to do, decided by contents alone: those of its inputs and of the last output.

Invariant: a tree counts as fresh only if a build would write every file as it is. Times, sizes and names are
ignored. Unknown parts count as changed: a third-party backend, a link, an unreadable file, a missing or
broken note.

The note is in the user's cache folder and not in the project, where the author of the project could have
written it.
"""

import os
import platform
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from hashlib import sha256
from importlib.metadata import PackageNotFoundError, entry_points, version
from itertools import chain
from pathlib import Path
from typing import Final

from wiregen.generate.backends import GROUP
from wiregen.generate.caches import caches_folder
from wiregen.generate.own_files import files_below, own_folder, templates_folder
from wiregen.generate.writer import contents_of_build, is_regular
from wiregen.generate.writer.manifest import MAX_FILE_SIZE
from wiregen.language.config import Config
from wiregen.language.locks import LOCK_SUFFIX
from wiregen.language.source import MAX_SOURCE_SIZE, SUFFIX, shipped_protocols

__all__ = ["BuiltTree", "built_code", "built_site", "inputs_of", "inputs_of_site", "is_fresh", "remember"]

_OUTPUT_COMES_THROUGH: Final = ("jinja2", "lark", "markupsafe", "ruff")
_SITE_COMES_THROUGH: Final = ("markdown-it-py", "pygments")
_SERIALIZATIONS: Final = {"msgpack": "msgspec", "protobuf": "protobuf"}
"""The packages that encode the samples of a site, by the backend that needs them."""


class _UnknownError(Exception):
    """A part of the inputs cannot be determined from contents."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BuiltTree:
    """The products of a build: a folder with a manifest, the files beside it in these folders, and the name of the note."""

    folder: Path
    locks: tuple[Path, ...] = ()
    note: str


def built_code(config: Config) -> BuiltTree:
    """Return the tree of `wiregen build`. The locks next to the sources belong to it: a build both reads and writes them."""
    return BuiltTree(folder=config.output, locks=config.sources, note=f"{_hash_of(config.root)}.build")


def built_site(config: Config, folder: Path) -> BuiltTree:
    """Return the site that `wiregen docs build` writes into a folder."""
    folder = folder.absolute()
    return BuiltTree(folder=folder, note=f"{_hash_of(config.root, folder)}.site")


def is_fresh(tree: BuiltTree, inputs: str | None) -> bool:
    """Return whether the last build was made from these inputs, and the tree is as that build left it."""
    if inputs is None:
        return False
    try:
        return _note(tree).read_bytes() == _noted(tree, inputs)
    except (OSError, RuntimeError, _UnknownError):
        return False


def remember(tree: BuiltTree, inputs: str | None) -> None:
    """Store the note for `is_fresh`; if it cannot be written, the next build is a whole one."""
    if inputs is None:
        return
    try:
        note = _note(tree)
        note.parent.mkdir(parents=True, exist_ok=True)
        unfinished = note.with_suffix(f".{os.getpid()}")
        unfinished.write_bytes(_noted(tree, inputs))
        os.replace(unfinished, note)
    except (OSError, RuntimeError, _UnknownError):
        return


def inputs_of(config: Config) -> str | None:
    """Return the hash of all inputs of a build of the whole configuration, or None if they cannot be determined."""
    return _hash_of_known(_parts(config))


def inputs_of_site(config: Config, others: Iterable[Path]) -> str | None:
    """Return the hash of all inputs of the site of the whole configuration, or None if they cannot be determined.

    `others`: files that only the site is made from, which may be missing.
    """
    return _hash_of_known(chain(_parts(config), _parts_of_site(config, others)))


def _hash_of_known(parts: Iterator[bytes]) -> str | None:
    try:
        return _digest(parts)
    except (OSError, _UnknownError):
        return None


def _parts_of_site(config: Config, others: Iterable[Path]) -> Iterator[bytes]:
    through = (package for name, package in _SERIALIZATIONS.items() if name in config.backends)
    yield from map(_version, (*_SITE_COMES_THROUGH, *through))
    yield from _locks(config.sources)
    for path in others:
        yield os.fsencode(path)
        yield from _content(path, MAX_FILE_SIZE) if os.path.lexists(path) else ()


def _parts(config: Config) -> Iterator[bytes]:
    about_code = (config.backends, config.formatter, config.sessions)
    about_names = (config.package, config.protocols, config.runtime, config.runtime_package)
    yield repr((about_code, about_names, config.proto_options)).encode()
    yield repr((platform.python_implementation(), platform.python_version())).encode()
    yield from map(_version, (*_OUTPUT_COMES_THROUGH, config.formatter))
    yield from _own_backends(config.backends)
    for folder in (*config.sources, config.output):
        yield folder.relative_to(config.root).as_posix().encode()
    for folder in (*config.sources, shipped_protocols()):
        yield from _named(folder, sorted(folder.glob(f"*{SUFFIX}")))
    for folder in (own_folder(), templates_folder()):
        yield from _named(folder, files_below(folder))


def _version(name: str) -> bytes:
    try:
        return f"{name} {version(name)}".encode()
    except PackageNotFoundError:
        raise _UnknownError from None


def _own_backends(names: tuple[str, ...]) -> Iterator[bytes]:
    """Yield the entry point of each backend.

    Raises:
        _UnknownError: A backend is not part of this package, so that its inputs are unknown.
    """
    for point in sorted(entry_points(group=GROUP)):
        if point.name in names:
            if point.module.partition(".")[0] != "wiregen":
                raise _UnknownError
            yield f"{point.name} {point.value}".encode()


def _named(folder: Path, paths: Iterator[Path] | list[Path]) -> Iterator[bytes]:
    """Yield the name below the folder and the content of each file."""
    for path in paths:
        yield path.relative_to(folder).as_posix().encode()
        yield from _content(path, MAX_SOURCE_SIZE)


def _content(path: Path, most_bytes: int) -> Iterator[bytes]:
    if not is_regular(path) or path.stat().st_size > most_bytes:
        raise _UnknownError
    yield path.read_bytes()


def _noted(tree: BuiltTree, inputs: str) -> bytes:
    """Return the note about the tree as it is.

    Raises:
        OSError: The tree is not as a build leaves it.
    """
    return f"{inputs} {_digest(chain(contents_of_build(tree.folder), _locks(tree.locks)))}\n".encode()


def _locks(folders: Iterable[Path]) -> Iterator[bytes]:
    for folder in folders:
        yield from _named(folder, sorted(folder.glob(f"*{LOCK_SUFFIX}")))


def _digest(parts: Iterator[bytes]) -> str:
    """Return a hash of parts in their order; the boundaries between parts count."""
    whole = sha256()
    for part in parts:
        whole.update(sha256(part).digest())
    return whole.hexdigest()


def _hash_of(*paths: Path) -> str:
    return sha256(b"\0".join(map(os.fsencode, paths))).hexdigest()


def _note(tree: BuiltTree) -> Path:
    """Return the path of the note.

    Raises:
        RuntimeError: The user does not have a home folder.
    """
    return caches_folder() / tree.note
