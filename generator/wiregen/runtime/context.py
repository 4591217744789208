"""What earlier messages said about later layouts: the contexts of one connection, as plain data.

An entry belongs to the direction that set it, or to both where the .wire file names the role that sets it. Rules act in
text order once a whole message is there.
"""

from __future__ import annotations

from .codec import ReadState, WriteState
from .errors import DecodeError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any, TypeAlias

    Key: TypeAlias = tuple[Any, ...]

__all__ = ["Context"]


class Context:
    """The contexts of one connection; both directions' decoders share it."""

    def __init__(self, plan: Mapping[str, Any], *, limits: Mapping[str, int | None] | None = None) -> None:
        from .context_rules import FrameScope  # a package is imported faster than its first context is made

        self._scope = FrameScope
        self._plan = plan
        self._open: int = (limits or {}).get("open") or plan["limits"]["open"]
        self._limits = {**plan["limits"], **(limits or {})}
        self.entries: dict[str, dict[Key, Any]] = {name: {} for name in plan["contexts"]}
        self._roles: dict[str, str | None] = {name: rules[2] for name, rules in plan["contexts"].items()}
        self._reading: dict[str | None, ReadState] = {}
        self._writing: dict[str | None, WriteState] = {}

    def lookup(self, name: str, keys: Key, sender: str | None) -> Any:
        """Return the entry of the context `name` under these keys, for what `sender` sends.

        Raises:
            KeyError: There is no such entry.
        """
        return self.entries[name][(self._roles[name] or sender, *keys)]

    def state_to_read(self, limits: Mapping[str, Any], role: str | None) -> ReadState:
        """Return the state of one frame of `role` within default `limits`; a context keeps one for each role."""
        state = self._reading.get(role)
        if state is None:
            state = self._reading[role] = ReadState(limits, role=role, context=self)
        state.begin()
        return state

    def state_to_write(self, limits: Mapping[str, Any], role: str | None) -> WriteState:
        """Return the same for writing."""
        state = self._writing.get(role)
        if state is None:
            state = self._writing[role] = WriteState(limits, role=role, context=self)
        state.begin()
        return state

    def apply(self, frame: Any, sender: str | None) -> None:
        """Let a whole frame of `sender` set and clear entries.

        Raises:
            DecodeError: `limit_exceeded`, more keys than `limits.open`.
        """
        for name, (_, keys, role, settings, clearings) in self._plan["contexts"].items():
            scope = self._scope(self._plan, self._limits, frame, self, sender)
            owner = role or sender
            for target, field, when in settings:
                if scope.is_target(target) and scope.holds(when):
                    self._set(name, (owner, *scope.keys(keys)), scope.field((field,), "own"))
            for targets, when in clearings:
                if any(scope.is_target(target) for target in targets) and scope.holds(when):
                    self.entries[name].pop((owner, *scope.keys(keys)), None)

    def _set(self, name: str, key: Key, value: Any) -> None:
        entries = self.entries[name]
        if key not in entries and len(entries) >= self._open:
            raise DecodeError("limit_exceeded", path=name, expected=f"at most {self._open} open keys")
        entries[key] = value

    def snapshot(self) -> dict[str, Any]:
        """Return the entries as JSON data."""
        from .context_rules import plain

        return {
            name: [[plain(part) for part in key] + [plain(entry)] for key, entry in entries.items()]
            for name, entries in self.entries.items()
        }

    def restore(self, snapshot: dict[str, Any]) -> None:
        """Take the entries of a snapshot in place of all that is known.

        Raises:
            ValueError: It is no snapshot of this protocol's contexts.
        """
        from .context_rules import value

        if set(snapshot) != set(self.entries):
            raise ValueError("not a snapshot of this protocol's contexts")
        restored = {
            name: {tuple(value(part) for part in row[:-1]): value(row[-1]) for row in rows}
            for name, rows in snapshot.items()
        }
        for name, entries in restored.items():  # in place: states hold on to these
            self.entries[name].clear()
            self.entries[name].update(entries)
