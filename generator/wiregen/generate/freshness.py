"""Whether a build has anything to do, decided by contents alone: those of its inputs and of the last output.

Invariant: a tree counts as fresh only if a build would write every file as it is. Times, sizes and names are
ignored. Unknown parts count as changed: a third-party backend, a link, an unreadable file, a missing or
broken note.

The note is in the user's cache folder and not in the project, where the author of the project could have
written it.
"""

import os
import platform
from collections.abc import Iterator
from hashlib import sha256
from importlib.metadata import PackageNotFoundError, entry_points, version
from itertools import chain
from pathlib import Path
from typing import Final

from wiregen.generate.backends import GROUP
from wiregen.generate.caches import caches_folder
from wiregen.generate.emitter import templates_folder
from wiregen.generate.writer import contents_of_build, is_regular
from wiregen.language.config import Config
from wiregen.language.locks import LOCK_SUFFIX
from wiregen.language.source import MAX_SOURCE_SIZE, SUFFIX, shipped_protocols

__all__ = ["inputs_of", "is_fresh", "remember"]

_OUTPUT_COMES_THROUGH: Final = ("jinja2", "lark", "markupsafe", "ruff")


class _UnknownError(Exception):
    """A part of the inputs cannot be determined from contents."""


def is_fresh(config: Config, inputs: str | None) -> bool:
    """Return whether the last build was made from these inputs, and the tree is as that build left it."""
    if inputs is None:
        return False
    try:
        return _note(config).read_bytes() == _noted(config, inputs)
    except (OSError, RuntimeError, _UnknownError):
        return False


def remember(config: Config, inputs: str | None) -> None:
    """Store the note for `is_fresh`; if it cannot be written, the next build is a whole one."""
    if inputs is None:
        return
    try:
        note = _note(config)
        note.parent.mkdir(parents=True, exist_ok=True)
        unfinished = note.with_suffix(f".{os.getpid()}")
        unfinished.write_bytes(_noted(config, inputs))
        os.replace(unfinished, note)
    except (OSError, RuntimeError, _UnknownError):
        return


def inputs_of(config: Config) -> str | None:
    """Return the hash of all inputs of a build of the whole configuration, or None if they cannot be determined."""
    try:
        return _digest(_parts(config))
    except (OSError, _UnknownError):
        return None


def _parts(config: Config) -> Iterator[bytes]:
    about_code = (config.backends, config.formatter, config.sessions)
    about_names = (config.package, config.protocols, config.runtime, config.runtime_package)
    yield repr((about_code, about_names)).encode()
    yield repr((platform.python_implementation(), platform.python_version())).encode()
    yield from map(_version, (*_OUTPUT_COMES_THROUGH, config.formatter))
    yield from _own_backends(config.backends)
    for folder in (*config.sources, config.output):
        yield folder.relative_to(config.root).as_posix().encode()
    for folder in (*config.sources, shipped_protocols()):
        yield from _named(folder, sorted(folder.glob(f"*{SUFFIX}")))
    own = Path(__file__).resolve().parents[1]
    for folder in (own, templates_folder()):
        yield from _named(folder, _files_below(folder))


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


def _files_below(folder: Path) -> Iterator[Path]:
    for place, folders, files in os.walk(folder):
        folders[:] = sorted(name for name in folders if name != "__pycache__")
        yield from (Path(place, name) for name in sorted(files) if not name.endswith((".pyc", ".pyo")))


def _named(folder: Path, paths: Iterator[Path] | list[Path]) -> Iterator[bytes]:
    """Yield the name below the folder and the content of each file."""
    for path in paths:
        if not is_regular(path) or path.stat().st_size > MAX_SOURCE_SIZE:
            raise _UnknownError
        yield path.relative_to(folder).as_posix().encode()
        yield path.read_bytes()


def _noted(config: Config, inputs: str) -> bytes:
    """Return the note about the tree as it is.

    Raises:
        OSError: The tree is not as a build leaves it.
    """
    return f"{inputs} {_digest(chain(contents_of_build(config.output), _locks(config)))}\n".encode()


def _locks(config: Config) -> Iterator[bytes]:
    """Yield the locks next to the sources: a build both reads and writes them."""
    for folder in config.sources:
        yield from _named(folder, sorted(folder.glob(f"*{LOCK_SUFFIX}")))


def _digest(parts: Iterator[bytes]) -> str:
    """Return a hash of parts in their order; the boundaries between parts count."""
    whole = sha256()
    for part in parts:
        whole.update(sha256(part).digest())
    return whole.hexdigest()


def _note(config: Config) -> Path:
    """Return the path of the note.

    Raises:
        RuntimeError: The user does not have a home folder.
    """
    return caches_folder() / f"{sha256(os.fsencode(config.root)).hexdigest()}.build"
