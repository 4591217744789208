"""What a whole frame sets and clears in a context, and entries as JSON data; loaded when a context is made."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeAlias
from uuid import UUID

from .access import MISSING, attribute, declared_name
from .expressions import Undefined, evaluate

if TYPE_CHECKING:
    from .context import Context

__all__ = ["FrameScope", "plain", "value"]

Key: TypeAlias = tuple[Any, ...]


class FrameScope:
    """A frame, as the names of a context's rules see it: the message's fields, then the frame's."""

    def __init__(
        self,
        plan: Mapping[str, Any],
        limits: Mapping[str, Any],
        frame: Any,
        contexts: Context,
        sender: str | None,
    ) -> None:
        self._plan = plan
        self._limits = limits
        self._frame = frame
        self._message = frame.message
        self._contexts = contexts
        self._sender = sender

    def is_target(self, name: str) -> bool:
        return name in (declared_name(self._frame), declared_name(self._message))

    def holds(self, when: Any) -> bool:
        """Say whether a `when` holds; reading what is not there makes it false."""
        try:
            return when is None or bool(evaluate(when, self))
        except Undefined:
            return False

    def keys(self, names: tuple[str, ...]) -> Key:
        return tuple(self.field((name,), "own") for name in names)

    def field(self, path: tuple[str, ...], scope: str) -> Any:
        value = self._first(path[0])
        for name in path[1:]:
            value = attribute(value, name, name)
        return value

    def _first(self, name: str) -> Any:
        for owner in (self._message, self._frame):
            value = attribute(owner, name, name)
            if value is not MISSING:
                return value
        return self._derived(name)

    def _derived(self, name: str) -> Any:
        """Return a code field of the frame, which is derived and so not in the value."""
        fields = self._plan["frames"][declared_name(self._frame)][1]
        for field_name, _, _, value, *_ in _flat(fields):
            if field_name == name and value is not None and value[0] == "derived":
                return evaluate(value[1], self)
        raise Undefined("field", name)

    def limit(self, name: str) -> int:
        value: int = self._limits[name]
        return value

    def context(self, name: str, keys: Key) -> Any:
        try:
            return self._contexts.lookup(name, keys, self._sender)
        except KeyError:
            raise Undefined("context", name) from None

    def variable(self, name: str) -> Any:
        if name == "sender":
            return self._sender
        raise Undefined("variable", name)

    def code(self, path: tuple[str, ...]) -> int:
        code: int | None = self._plan["messages"].get(declared_name(self._message), (None,))[0]
        if code is None:
            raise Undefined("code", declared_name(self._message))
        return code

    def count(self, path: tuple[str, ...]) -> int | None:
        value = self.field(path, "own")
        return None if value is None else len(value)

    def present(self, path: tuple[str, ...]) -> bool:
        return self.field(path, "own") is not None

    def remaining(self) -> int:
        raise Undefined("remaining")

    def offset(self) -> int:
        raise Undefined("offset")

    def size(self, path: tuple[str, ...]) -> int:
        raise Undefined("size", ".".join(path))

    def checksum(self, algorithm: str, first: str, last: str) -> int:
        raise Undefined("field", first)


def _flat(fields: tuple[Any, ...]) -> list[tuple[Any, ...]]:
    """Return fields, those of blocks in their place."""
    found: list[tuple[Any, ...]] = []
    for field in fields:
        inner = field[2]
        while inner[0] == "region":
            inner = inner[1]
        found += _flat(inner[1]) if inner[0] == "block" else [field]
    return found


def plain(value: Any) -> Any:
    """Return a key or an entry as JSON data."""
    match value:
        case bool() | None | str():
            return value
        case int():
            return int(value)
        case UUID():
            return {"uuid": str(value)}
        case bytes():
            return {"hex": value.hex()}
        case _:
            raise ValueError(f"a context cannot hold a {type(value).__name__}")


def value(data: Any) -> Any:
    """Return what `plain` gave this of.

    Raises:
        ValueError: It gave no such thing.
    """
    match data:
        case {"uuid": str(text)}:
            return UUID(text)
        case {"hex": str(text)}:
            return bytes.fromhex(text)
        case dict() | list():
            raise ValueError("not a snapshot of this protocol's contexts")
        case _:
            return data
