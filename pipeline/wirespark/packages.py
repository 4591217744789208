"""Generated packages by the names that users give them: their codec, their plan and their columns."""

from __future__ import annotations

import importlib
from dataclasses import dataclass
from functools import cache
from types import ModuleType
from typing import Any

from wirespark.errors import WireSparkError

__all__ = ["Package", "package_of"]

_ROOT = "wireproto"


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Package:
    """One protocol's generated package; `name` is what it is imported by. There is one of each, so that what is made of it is kept."""

    name: str
    native: ModuleType
    plan: dict[str, Any]
    columns: ModuleType

    @property
    def messages(self) -> dict[str, Any]:
        """Return the Arrow schema of each message's columns."""
        found: dict[str, Any] = self.columns.MESSAGES
        return found

    def codec(self, backend: str) -> ModuleType:
        """Return the module that reads and writes a serialization.

        Raises:
            WireSparkError: The package was built without it, or what it needs is not installed.
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

    def runtime(self, module: str) -> ModuleType:
        """Return a module of the runtime that the package stands on."""
        return importlib.import_module(f"{self.name.rpartition('.')[0]}._runtime.{module}")


@cache
def package_of(protocol: str) -> Package:
    """Return the package of a protocol: `lumberjack` of `wireproto`, or a dotted name of any other tree.

    Raises:
        WireSparkError: It is not there, or was built without the `columns` backend.
    """
    names = (protocol,) if "." in protocol else (f"{_ROOT}.{protocol}", f"{_ROOT}.{protocol}_")
    for name in names:
        try:
            native = importlib.import_module(name)
        except ModuleNotFoundError as error:
            if error.name is None or not f"{name}.".startswith(f"{error.name}."):
                raise
            continue
        return Package(
            name=name, native=native, plan=_part(name, "_plan").PLAN, columns=_part(name, "columns")
        )
    raise WireSparkError(
        f"there is no protocol {protocol!r}: give the name of a package of `{_ROOT}`, or a dotted name; "
        "`wirespark.session(packages=…)` takes the trees that workers are to find"
    )


def _part(name: str, module: str) -> ModuleType:
    try:
        return importlib.import_module(f"{name}.{module}")
    except ModuleNotFoundError as error:
        if error.name != f"{name}.{module}":
            raise
        raise WireSparkError(
            f"{name} has no module {module}: add `columns` to the backends in wiregen.toml and build again"
        ) from None
