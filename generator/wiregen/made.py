"""A protocol's generated package made in memory, so that every serialization of any .wire file is there without a build.

Invariant: nothing is written, and the package runs on wiregen's own runtime, so its errors and contexts are those of
`wiregen.runtime`.
"""

from __future__ import annotations

import importlib
import inspect
import re
import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from importlib.abc import InspectLoader, MetaPathFinder
from importlib.machinery import ModuleSpec
from importlib.util import spec_from_loader
from itertools import count
from pathlib import PurePosixPath
from types import ModuleType
from typing import Any, Final, Protocol, TypeAlias

from wiregen.backends import Page, Subject, load_backends, pages_of
from wiregen.diagnostics import Report
from wiregen.emitter import render
from wiregen.runtime.built import build
from wiregen.runtime.context import Context
from wiregen.runtime.errors import DecodeError
from wiregen.runtime.options import Options

__all__ = ["NATIVE", "Package", "Serialization", "StreamItem", "make"]

NATIVE: Final = "native"
StreamItem: TypeAlias = "tuple[int, int, Any | DecodeError]"
"""Offset, size, and the frame, preamble or error there."""

_RUNTIME_IMPORT: Final = re.compile(r"^( *from )\.\._runtime\.", re.MULTILINE)
_NUMBERS: Final = count(1)


class ItemDecoder(Protocol):
    """What the stream decoders of all serializations have in common."""

    def items(self, chunk: bytes) -> Iterator[StreamItem]: ...

    def finish_items(self) -> Iterator[StreamItem]: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Package:
    """A package in memory: `name` is what its native module is imported by."""

    subject: Subject
    name: str
    backends: tuple[str, ...]

    @property
    def native(self) -> ModuleType:
        return importlib.import_module(self.name)

    @property
    def plan(self) -> dict[str, Any]:
        plan: dict[str, Any] = importlib.import_module(f"{self.name}._plan").PLAN
        return plan

    def context(self, limits: Mapping[str, int] | None = None) -> Context:
        """Return a new context of one connection."""
        return Context(self.plan, limits=limits)

    def serialization(self, backend: str) -> Serialization:
        """Return one of the serializations that the package was made with.

        Raises:
            ImportError: The library that it stands on is not installed; or it prints no module that encodes and decodes.
        """
        module = self.native if backend == NATIVE else importlib.import_module(f"{self.name}.{backend}")
        if not (hasattr(module, "encode") and hasattr(module, "Decoder")):
            raise ImportError(f"the backend `{backend}` makes nothing that encodes and decodes")
        return Serialization(self, backend, module)


class Serialization:
    """One serialization of a package, called alike whatever options its protocol has.

    Attributes:
        name: Of the backend.
    """

    __slots__ = ("_decoder", "_encode", "_encoding", "_native", "_package", "name")

    def __init__(self, package: Package, name: str, module: Any) -> None:
        self.name = name
        self._package = package
        self._native = package.native
        self._encode: Callable[..., bytes] = module.encode
        self._encoding = _options_of(module.encode)
        self._decoder: Callable[..., ItemDecoder] = module.Decoder

    def decoder(self, options: Options) -> ItemDecoder:
        """Return a decoder of a stream, which takes in what its frames say about later ones."""
        limits = self._native.Limits(**options.limits) if options.limits else None
        wishes = {"context": options.context, "limits": limits, "strict": options.strict}
        wishes |= {"variant": options.variant}
        known = _options_of(self._decoder)
        chosen = {name: wish for name, wish in wishes.items() if name in known}
        return self._decoder(options.from_role, errors="yield", **chosen)

    def encode(self, frame: Any, options: Options) -> bytes:
        """Return the bytes of a frame of the package.

        Raises:
            EncodeError: The protocol does not allow a value, or this serialization cannot carry it.
        """
        wishes = {"from_role": options.from_role, "context": options.context, "variant": options.variant}
        return self._encode(frame, **{name: wish for name, wish in wishes.items() if name in self._encoding})

    def write(self, value: Any, options: Options) -> bytes:
        """Return the bytes of a frame that is given as the careful codec has it.

        Raises:
            EncodeError: As `encode`.
        """
        return self.encode(build(self._package.plan, value, vars(self._native)), options)


def make(subject: Subject, backends: tuple[str, ...], report: Report) -> Package | None:
    """Return the package of a protocol with these serializations besides the native one; None: the report says why."""
    names = tuple(dict.fromkeys((NATIVE, *backends)))
    pages = [page for backend in load_backends(names, report) for page in pages_of(backend, subject, report)]
    if report.has_errors:
        return None
    root = f"_wiregen_made_{next(_NUMBERS)}"
    modules = {_module_name(root, page.path): page for page in pages if _is_module(page)}
    sys.meta_path.append(_Modules(root, modules))
    package = next(name for name, page in modules.items() if page.path.name == "__init__.py")
    return Package(subject=subject, name=package, backends=names)


class _Modules(MetaPathFinder, InspectLoader):
    """Finds the modules of one package among its pages; a page is printed when its module is imported."""

    def __init__(self, root: str, pages: Mapping[str, Page]) -> None:
        self._root = root
        self._pages = pages

    def find_spec(self, fullname: str, path: object, target: object = None) -> ModuleSpec | None:
        is_mine = fullname == self._root or fullname in self._pages
        return spec_from_loader(fullname, self, origin="made in memory") if is_mine else None

    def is_package(self, fullname: str) -> bool:
        return fullname == self._root or self._pages[fullname].path.name == "__init__.py"

    def get_source(self, fullname: str) -> str:
        if fullname == self._root:
            return ""
        page = self._pages[fullname]
        return _RUNTIME_IMPORT.sub(r"\1wiregen.runtime.", render(page.template, page.view, page.templates))


def _is_module(page: Page) -> bool:
    return page.place is None and page.path.suffix == ".py"


def _module_name(root: str, path: PurePosixPath) -> str:
    parts = path.with_suffix("").parts
    return ".".join((root, *(parts[:-1] if parts[-1] == "__init__" else parts)))


def _options_of(function: Callable[..., Any]) -> frozenset[str]:
    return frozenset(inspect.signature(function).parameters)
