"""What earlier messages said about later layouts: the contexts of one connection, as plain data.

An entry belongs to the direction that set it, or to both where the .wire file names the role that sets it. Rules act in
text order once a whole message is there.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeAlias
from uuid import UUID

from .access import MISSING, attribute, declared_name
from .errors import DecodeError
from .expressions import Undefined, evaluate

__all__ = ["Context"]

Key: TypeAlias = tuple[Any, ...]


class Context:
    """The contexts of one connection; both directions' decoders share it."""

    def __init__(self, plan: Mapping[str, Any], *, limits: Mapping[str, int | None] | None = None) -> None:
        self._plan = plan
        self._open: int = (limits or {}).get("open") or plan["limits"]["open"]
        self._limits = {**plan["limits"], **(limits or {})}
        self._entries: dict[str, dict[Key, Any]] = {name: {} for name in plan["contexts"]}
        self.listener: Callable[[Any, str | None], None] | None = None
        """What hears of each whole frame before it changes anything here."""

    def lookup(self, name: str, keys: Key, sender: str | None) -> Any:
        """Return the entry of the context `name` under these keys, for what `sender` sends.

        Raises:
            KeyError: There is no such entry.
        """
        role = self._plan["contexts"][name][2]
        return self._entries[name][(role or sender, *keys)]

    def apply(self, frame: Any, sender: str | None) -> None:
        """Let a whole frame of `sender` set and clear entries.

        Raises:
            DecodeError: `limit_exceeded`, more keys than `limits.open`.
        """
        if self.listener is not None:
            self.listener(frame, sender)
        for name, (_, keys, role, settings, clearings) in self._plan["contexts"].items():
            scope = _FrameScope(self._plan, self._limits, frame, self, sender)
            owner = role or sender
            for target, field, when in settings:
                if scope.is_target(target) and scope.holds(when):
                    self._set(name, (owner, *scope.keys(keys)), scope.field((field,), "own"))
            for targets, when in clearings:
                if any(scope.is_target(target) for target in targets) and scope.holds(when):
                    self._entries[name].pop((owner, *scope.keys(keys)), None)

    def _set(self, name: str, key: Key, value: Any) -> None:
        entries = self._entries[name]
        if key not in entries and len(entries) >= self._open:
            raise DecodeError("limit_exceeded", path=name, expected=f"at most {self._open} open keys")
        entries[key] = value

    def snapshot(self) -> dict[str, Any]:
        """Return the entries as JSON data."""
        return {
            name: [[_plain(part) for part in key] + [_plain(value)] for key, value in entries.items()]
            for name, entries in self._entries.items()
        }

    def restore(self, snapshot: dict[str, Any]) -> None:
        """Take the entries of a snapshot in place of all that is known.

        Raises:
            ValueError: It is no snapshot of this protocol's contexts.
        """
        if set(snapshot) != set(self._entries):
            raise ValueError("not a snapshot of this protocol's contexts")
        self._entries = {
            name: {tuple(_value(part) for part in row[:-1]): _value(row[-1]) for row in rows}
            for name, rows in snapshot.items()
        }


class _FrameScope:
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


def _plain(value: Any) -> Any:
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


def _value(value: Any) -> Any:
    match value:
        case {"uuid": str(text)}:
            return UUID(text)
        case {"hex": str(text)}:
            return bytes.fromhex(text)
        case dict() | list():
            raise ValueError("not a snapshot of this protocol's contexts")
        case _:
            return value
