"""The archive of the playground in a browser: wiregen's modules that answer questions, and the models of protocols.

Invariant: it is a function of the protocols. It is not compressed, as compressed bytes differ between versions of zlib.
"""

from __future__ import annotations

import io
import json
from collections.abc import Iterator
from modulefinder import ModuleFinder
from pathlib import Path
from typing import Final
from zipfile import ZIP_STORED, ZipFile, ZipInfo

from wiregen.schema import model as m
from wiregen.schema.json_form import as_json
from wiregen.site.playground.browser import INDEX, protocol_file
from wiregen.site.playground.questions import described

__all__ = ["archive_of", "module_finder"]

_SOURCES: Final = Path(__file__).resolve().parents[3]
_UNIX: Final = 3
"""The system that an entry of an archive names, whatever the machine."""
_ENTRY: Final = "wiregen.site.playground.browser"
_LOADED_BY_NAME: Final = ("codec", "records", "reference", "schema", "stream")
"""Packages of the runtime whose modules import each other by name, where a protocol needs them."""


def archive_of(protocols: tuple[m.Protocol, ...], package: str) -> bytes:
    """Return the archive for protocols; `package`: of their generated code."""
    made = io.BytesIO()
    with ZipFile(made, "w", ZIP_STORED) as opened:
        for name, content in (*_modules(), *_models(protocols, package)):
            entry = ZipInfo(name)  # of 1980, whatever the time
            entry.create_system = _UNIX
            opened.writestr(entry, content)
    return made.getvalue()


def module_finder() -> ModuleFinder:
    """Return the modules that answer questions, those that functions import too.

    Modules that are not wiregen's are among its `badmodules`.
    """
    finder = ModuleFinder(path=[str(_SOURCES)])
    finder.import_hook(_ENTRY)
    for package in _LOADED_BY_NAME:
        for path in sorted((_SOURCES / "wiregen" / "runtime" / package).rglob("*.py")):
            module = path.parent if path.stem == "__init__" else path.with_suffix("")
            finder.import_hook(".".join(module.relative_to(_SOURCES).parts))
    return finder


def _modules() -> Iterator[tuple[str, bytes]]:
    found = module_finder().modules.items()
    named = (getattr(each, "__file__", None) for name, each in found if name.split(".")[0] == "wiregen")
    for path in sorted(Path(each) for each in named if each is not None):
        yield path.relative_to(_SOURCES).as_posix(), path.read_bytes()


def _models(protocols: tuple[m.Protocol, ...], package: str) -> Iterator[tuple[str, bytes]]:
    index = {"package": package, "protocols": [described(each) for each in protocols]}
    yield INDEX, json.dumps(index).encode()
    for protocol in protocols:
        yield protocol_file(protocol.name), json.dumps(as_json(protocol), separators=(",", ":")).encode()
