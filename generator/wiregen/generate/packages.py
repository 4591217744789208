"""A protocol's generated package in memory, so that every serialization of any .wire file is available without a build.

Invariant: files are never written, and the package uses wiregen's own runtime, so its errors and contexts are
those of `wiregen.runtime`.
"""

from __future__ import annotations

import importlib
import sys
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from importlib.abc import InspectLoader, MetaPathFinder
from importlib.machinery import ModuleSpec
from importlib.util import spec_from_loader
from itertools import count
from pathlib import PurePosixPath
from types import CodeType, ModuleType
from typing import Final

from wiregen.generate.backends import Backend, Page, Subject, blamed, is_ours, load_backends, pages_of
from wiregen.generate.emitter import render, rendered_text
from wiregen.generate.serialization import NATIVE, LoadedPackage, Serialization
from wiregen.language.diagnostics import Report
from wiregen.runtime.stream.context import Context
from wiregen.schema.copies import replace

__all__ = ["Package", "make"]

_RUNTIME: Final = "wiregen.runtime"
_NUMBERS: Final = count(1)


@dataclass(frozen=True, slots=True, kw_only=True)
class Package(LoadedPackage):
    """A package in memory."""

    subject: Subject
    name: str
    backends: tuple[str, ...]

    def context(self, limits: Mapping[str, int] | None = None) -> Context:
        """Return a new context of one connection."""
        return Context(self.schema, limits=limits)

    def serialization(self, backend: str) -> Serialization:
        """Return one of the serializations that the package was made with.

        Raises:
            ImportError: The library that it needs is not installed, or its backend prints no module with a codec.
        """
        module = self._module(backend) if backend in self.backends else None
        if module is None or not _is_codec(module):
            raise ImportError(f"the backend `{backend}` generates no code that encodes and decodes")
        return Serialization(self, backend, module)

    def carriers(self) -> tuple[Serialization, ...]:
        """Return all its serializations but the native one; backends that print no codec are skipped.

        Raises:
            ImportError: The library that one of them needs is not installed.
        """
        others = ((name, self._module(name)) for name in self.backends if name != NATIVE)
        return tuple(Serialization(self, name, module) for name, module in others if _is_codec(module))

    def _module(self, backend: str) -> ModuleType:
        return self.native if backend == NATIVE else importlib.import_module(f"{self.name}.{backend}")


def make(subject: Subject, backends: tuple[str, ...], report: Report) -> Package | None:
    """Return the package of a protocol with the native and these serializations, or None and an error."""
    names = tuple(dict.fromkeys((NATIVE, *backends)))
    root = f"_wiregen_made_{next(_NUMBERS)}"
    found = load_backends(names, report)
    modules = {
        backend.name: dict(_modules_of(backend, pages_of(backend, subject, report), root, report))
        for backend in found
    }
    if report.has_errors:
        return None
    every = {name: module for part in modules.values() for name, module in part.items()}
    sys.meta_path.append(_Modules(root, every))
    for backend in found:
        _try(backend, modules[backend.name], report)
    package = next(name for name, module in every.items() if module.is_package)
    printed = tuple(name for name in names if name == NATIVE or f"{package}.{name}" in every)
    return None if report.has_errors else Package(subject=subject, name=package, backends=printed)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Module:
    """A page that is a module; it has no `text` until the module is imported."""

    page: Page
    text: str | None = None

    @property
    def is_package(self) -> bool:
        return self.page.path.name == "__init__.py"

    def printed(self) -> str:
        """Return the text as it was rendered: it is only executed, so its layout does not matter."""
        page = self.page
        if self.text is not None:
            return self.text
        return rendered_text(page.template, page.view, page.templates, _RUNTIME)


def _modules_of(
    backend: Backend, pages: tuple[Page, ...], root: str, report: Report
) -> Iterator[tuple[str, _Module]]:
    """Yield the modules among a backend's pages by name; those of a third-party backend are printed at once."""
    for page in filter(_is_module, pages):
        module = _Module(page=page)
        if not is_ours(backend):
            with blamed(backend, str(page.path), report):
                module = replace(module, text=render(page.template, page.view, page.templates, _RUNTIME))
        yield _module_name(root, page.path), module


def _try(backend: Backend, modules: Mapping[str, _Module], report: Report) -> None:
    """Import the modules of a third-party backend; a missing library is reported when the serialization is requested."""
    for name, module in () if is_ours(backend) else modules.items():
        with blamed(backend, f"the import of {module.page.path}", report), suppress(ImportError):
            importlib.import_module(name)


class _Modules(MetaPathFinder, InspectLoader):
    """Finds the modules of one package among its pages; a page is printed when its module is imported."""

    def __init__(self, root: str, modules: Mapping[str, _Module]) -> None:
        self._root = root
        self._modules = modules
        self._codes: dict[str, CodeType | None] = {}

    def find_spec(self, fullname: str, path: object, target: object = None) -> ModuleSpec | None:
        is_mine = fullname == self._root or fullname in self._modules
        return spec_from_loader(fullname, self, origin="made in memory") if is_mine else None

    def is_package(self, fullname: str) -> bool:
        return fullname == self._root or self._modules[fullname].is_package

    def get_code(self, fullname: str) -> CodeType | None:
        """Return the code of a module, which is compiled once."""
        if fullname not in self._codes:
            self._codes[fullname] = super().get_code(fullname)
        return self._codes[fullname]

    def get_source(self, fullname: str) -> str:
        if fullname == self._root:
            return ""
        return self._modules[fullname].printed()


def _is_module(page: Page) -> bool:
    return page.place is None and page.path.suffix == ".py"


def _module_name(root: str, path: PurePosixPath) -> str:
    parts = path.with_suffix("").parts
    return ".".join((root, *(parts[:-1] if parts[-1] == "__init__" else parts)))


def _is_codec(module: ModuleType) -> bool:
    return hasattr(module, "encode") and hasattr(module, "Decoder")
