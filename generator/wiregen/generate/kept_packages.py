"""Native packages that are kept for the next process: to make one takes longer than to decode 40 MB with it.

A package is kept as code, as Python keeps its own modules. It is valid for the texts of all files that the protocol may
consist of, for the files of this installation by size and time, and for one version of Python. The user's cache folder
holds one for each .wire file with the folders that its imports may lead into.
"""

import marshal
import os
import sys
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from hashlib import sha256
from importlib.abc import InspectLoader, MetaPathFinder
from importlib.machinery import ModuleSpec
from importlib.util import MAGIC_NUMBER, spec_from_loader
from itertools import chain, count, islice
from pathlib import Path
from types import CodeType
from typing import TYPE_CHECKING, Final

from wiregen.generate.caches import folder_of_code
from wiregen.generate.own_files import files_below, own_folder, templates_folder
from wiregen.generate.serialization import LoadedPackage
from wiregen.language.config import WrittenSources
from wiregen.language.locks import LOCK_SUFFIX
from wiregen.language.regular_files import read_regular
from wiregen.language.source import MAX_LISTED, MAX_SOURCE_SIZE, SUFFIX

if TYPE_CHECKING:
    from wiregen.generate.packages import Package

__all__ = ["KeptPackage", "PackageInputs", "find_kept", "inputs_of_package", "keep"]

_FOLDER: Final = "packages"
_DIGEST_SIZE: Final = 32
_MOST_BYTES: Final = 16 << 20
"""Bytes of all sources from which on it takes too long to read them for each input."""
_NUMBERS: Final = count(1)


@dataclass(frozen=True, slots=True, kw_only=True)
class PackageInputs:
    """The inputs of the package of a .wire file, as hashes: `place` of the paths, `content` of all."""

    place: str
    content: bytes


@dataclass(frozen=True, slots=True, kw_only=True)
class KeptPackage(LoadedPackage):
    """A native package of an earlier run. `ports`: those that the protocol declares."""

    name: str
    ports: tuple[int, ...]


def inputs_of_package(path: Path, sources: WrittenSources) -> PackageInputs | None:
    """Return the inputs of the package of a .wire file, or None if they cannot be determined.

    `sources`: those of the configuration, which imports may lead into; its text is an input, as a wrong one is an error.
    """
    path = path.absolute()
    folders = (path.parent, *sources.folders)
    place = sha256(b"\0".join(map(os.fsencode, (path, *folders)))).hexdigest()
    whole = sha256(MAGIC_NUMBER + place.encode())
    try:
        for part in chain((sources.text.encode(),), _installation(), _sources(path, folders)):
            whole.update(sha256(part).digest())
    except (OSError, ValueError):  # missing, too large, not regular: the front end tells why
        return None
    return PackageInputs(place=place, content=whole.digest())


def _installation() -> Iterator[bytes]:
    for folder in (own_folder(), templates_folder()):
        for file in files_below(folder):
            status = file.stat()
            yield f"{file} {status.st_size} {status.st_mtime_ns}".encode()


def _sources(path: Path, folders: tuple[Path, ...]) -> Iterator[bytes]:
    """Yield the name and the text of each file that an import may find, and of the file's lock, which is checked too."""
    lock = path.with_suffix(LOCK_SUFFIX)
    found = [path, *((lock,) if lock.exists() else ())]
    for folder in folders:
        found += sorted(islice(folder.glob(f"*{SUFFIX}"), MAX_LISTED + 1))
        if len(found) > MAX_LISTED:
            raise ValueError
    n_left = _MOST_BYTES
    for file in found:
        text = read_regular(file, min(n_left, MAX_SOURCE_SIZE))
        n_left -= len(text)
        yield os.fsencode(file.resolve())
        yield text


def find_kept(inputs: PackageInputs) -> KeptPackage | None:
    """Return the package that an earlier run made from the same inputs, or None."""
    folder = folder_of_code(_FOLDER)
    try:
        data = b"" if folder is None else _file(folder, inputs).read_bytes()
    except OSError:
        return None
    digest, content = data[:_DIGEST_SIZE], data[_DIGEST_SIZE:]
    if digest != _digest(inputs, content):
        return None
    name, ports, codes = marshal.loads(content)
    root = f"_wiregen_kept_{next(_NUMBERS)}"
    sys.meta_path.append(_KeptModules(root, codes))
    return KeptPackage(name=root + name, ports=ports)


def keep(inputs: PackageInputs, package: "Package") -> None:
    """Keep a package, as far as it is imported; if it cannot be written, the next run makes it again."""
    folder = folder_of_code(_FOLDER)
    if folder is None:
        return
    root, _, name = package.name.partition(".")
    ports = tuple(port.number for port in package.subject.protocol.ports)
    content = marshal.dumps((f".{name}", ports, _codes_below(root)))
    file = _file(folder, inputs)
    unfinished = file.with_suffix(f".{os.getpid()}")
    with suppress(OSError):  # a full disk, a folder without the right to write
        unfinished.write_bytes(_digest(inputs, content) + content)
        os.replace(unfinished, file)


def _codes_below(root: str) -> dict[str, tuple[bool, CodeType]]:
    """Return for each imported module of a package its name below the root, whether it is a package, and its code."""
    found: dict[str, tuple[bool, CodeType]] = {}
    for name, module in tuple(sys.modules.items()):
        if name == root or name.startswith(f"{root}."):
            loader = module.__loader__
            assert isinstance(loader, InspectLoader)
            code = loader.get_code(name)
            assert code is not None
            found[name.removeprefix(root)] = loader.is_package(name), code
    return found


def _file(folder: Path, inputs: PackageInputs) -> Path:
    return folder / f"{inputs.place}.{sys.implementation.cache_tag}"


def _digest(inputs: PackageInputs, content: bytes) -> bytes:
    return sha256(inputs.content + content).digest()


class _KeptModules(MetaPathFinder, InspectLoader):
    """Finds the modules of one package that was kept."""

    def __init__(self, root: str, codes: Mapping[str, tuple[bool, CodeType]]) -> None:
        self._codes = {root + name: code for name, code in codes.items()}

    def find_spec(self, fullname: str, path: object, target: object = None) -> ModuleSpec | None:
        return spec_from_loader(fullname, self, origin="kept") if fullname in self._codes else None

    def is_package(self, fullname: str) -> bool:
        return self._codes[fullname][0]

    def get_code(self, fullname: str) -> CodeType:
        return self._codes[fullname][1]

    def get_source(self, fullname: str) -> None:
        """Return None: the text is not kept."""
