"""Functions and classes of modules that a generated tree holds only where its protocols need them.

Invariant: a module that every tree holds does not import any of these modules. It names them here. A test
compares each name with the definitions of its module.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Any

__all__ = ["Dispatch", "Lazy"]


class Lazy:
    """A name in an optional module, given relative to the runtime: `Lazy("reference.reading.choices", "read_union")`."""

    __slots__ = ("_found", "module", "name")

    def __init__(self, module: str, name: str) -> None:
        self.module = module
        self.name = name
        self._found: Any = None

    def load(self) -> Any:
        """Return the function or class; its module is imported when it is first needed.

        Raises:
            ModuleNotFoundError: The tree was built without it, as no protocol of the tree needs it.
        """
        if self._found is None:
            from importlib import import_module

            self._found = getattr(import_module(f".{self.module}", __package__), self.name)
        return self._found


class Dispatch(dict["type[Any]", "Callable[..., Any]"]):
    """Functions by the class of a node; those of optional modules are imported with the first node of their class."""

    def __init__(
        self, functions: Mapping[type[Any], Callable[..., Any]], optional: Mapping[type[Any], Lazy]
    ) -> None:
        super().__init__(functions)
        self.optional = optional

    def __missing__(self, kind: type[Any]) -> Callable[..., Any]:
        function: Callable[..., Any] = self.optional[kind].load()
        self[kind] = function
        return function
