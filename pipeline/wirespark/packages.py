"""Generated packages by the names that users give them: their codec, their schema and their columns."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass
from functools import cache, cached_property
from types import ModuleType
from typing import TYPE_CHECKING

from wirespark.errors import WireSparkError
from wirespark.nodes import Nodes
from wirespark.untyped import ArrowSchema

if TYPE_CHECKING:
    from wireproto._runtime.schema.protocol import Schema

__all__ = ["SHIPPED", "Package", "forget", "look_in", "package_of"]

_ROOT = "wireproto"
SHIPPED = "wirespark_shipped"
"""The module that lists the trees that a worker was given."""
_roots: list[str] = []


@dataclass(frozen=True, kw_only=True, eq=False)
class Package:
    """The generated package of one protocol; `name` is its import name.

    One instance per package, so that derived values can be cached.
    """

    name: str
    native: ModuleType
    schema: Schema
    columns: ModuleType

    @property
    def messages(self) -> dict[str, ArrowSchema]:
        """Return the Arrow schema of each message's columns."""
        found: dict[str, ArrowSchema] = self.columns.MESSAGES
        return found

    @cached_property
    def has_one_frame(self) -> bool:
        """Whether all roles send the same frame."""
        return len(set(self.schema.sends.values())) == 1

    def codec(self, backend: str) -> ModuleType:
        """Return the module that reads and writes a serialization.

        Raises:
            WireSparkError: The package was built without it, or a dependency is not installed.
        """
        if backend == "native":
            return self.native
        name = f"{self.name}.{backend}"
        try:
            return importlib.import_module(name)
        except ModuleNotFoundError as error:
            if error.name != name:
                raise
            raise WireSparkError(
                f"{self.name} has no backend {backend!r}: build it with that backend"
            ) from None
        except ImportError as error:
            raise WireSparkError(str(error)) from None

    @property
    def nodes(self) -> Nodes:
        """Return the classes of the schema's nodes by name, and `nodes_in`, from the package's runtime."""
        return _nodes(self.runtime_name)

    @property
    def runtime_name(self) -> str:
        """The runtime that the package uses: that of its own tree, or one that trees share."""
        return type(self.schema).__module__.rpartition(".schema.")[0]

    def runtime(self, module: str) -> ModuleType:
        """Return a module of the runtime that the package uses."""
        return importlib.import_module(f"{self.runtime_name}.{module}")

    @property
    def declared_name(self) -> Callable[[object], str]:
        """Return the function that gives the name of the declaration that an object of a generated class is of."""
        name: Callable[[object], str] = self.runtime("reference.access").declared_name
        return name

    @property
    def attribute_name(self) -> Callable[[type, str], str]:
        """Return the function that gives the attribute of a class, which is its argument too, for a field's name."""
        spellings = self.runtime("reference.access").spellings
        return lambda class_, field: str(spellings(class_, field)[0])

    def may_send(self, role: str | None, message: object) -> bool:
        """Return whether a role may send a message; None: either role. Messages without a layout may be sent."""
        known = self.schema.messages.get(self.declared_name(message))
        return known is None or role is None or known.role in (None, role)


@cache
def _nodes(runtime: str) -> Nodes:
    parts = ("node", "expressions", "types", "declarations", "sessions", "shapes")
    modules = [importlib.import_module(f"{runtime}.schema.{part}") for part in parts]
    found = Nodes()
    vars(found).update(
        {name: value for module in modules for name, value in vars(module).items() if name in module.__all__}
    )
    return found


def look_in(packages: Iterable[str]) -> None:
    """Search these trees too for names without a dot, before the tree `wireproto`."""
    trees = tuple(dict.fromkeys((*packages, *_roots)))
    if trees != tuple(_roots):
        _roots[:] = trees
        package_of.cache_clear()


def _known_roots() -> tuple[str, ...]:
    """Return the trees of this process: those given to it, and in workers those that were shipped to it."""
    shipped: tuple[str, ...] = ()
    with suppress(ImportError):
        shipped = tuple(importlib.import_module(SHIPPED).PACKAGES)
    return tuple(dict.fromkeys((*_roots, *shipped, _ROOT)))


@cache
def package_of(protocol: str) -> Package:
    """Return the package of a protocol: `lumberjack` of `wireproto` or of a tree that the session knows, or a dotted name.

    Raises:
        WireSparkError: It is not there, or was built without the `columns` backend.
    """
    if "." in protocol:
        names: tuple[str, ...] = (protocol,)
    else:
        names = tuple(f"{root}.{name}" for root in _known_roots() for name in (protocol, f"{protocol}_"))
    for name in names:
        found = _package(name)
        if found is not None:
            return found
    raise WireSparkError(
        f"there is no protocol {protocol!r}: give the name of a package of `{_ROOT}`, or a dotted name; "
        "`wirespark.session(packages=…)` takes the folders of packages for the workers"
    )


def forget() -> None:
    """Clear the caches, so that packages are imported again: one of the same name may have changed."""
    package_of.cache_clear()
    _package.cache_clear()
    _nodes.cache_clear()


@cache
def _package(name: str) -> Package | None:
    try:
        native = importlib.import_module(name)
    except ModuleNotFoundError as error:
        if error.name is None or not f"{name}.".startswith(f"{error.name}."):
            raise
        return None
    return Package(name=name, native=native, schema=_part(name, "_plan").PLAN, columns=_part(name, "columns"))


def _part(name: str, module: str) -> ModuleType:
    try:
        return importlib.import_module(f"{name}.{module}")
    except ModuleNotFoundError as error:
        if error.name != f"{name}.{module}":
            raise
        raise WireSparkError(
            f"{name} has no module {module}: add `columns` to the backends in wiregen.toml and build again"
        ) from None
