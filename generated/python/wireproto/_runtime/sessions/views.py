"""Sessions as an application sees them: the state of an instance, and the values of its variables, read-only."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Hashable, Iterator
from typing import Any, Generic, TypeVar

from ..codec.values import show
from .instances import Instance, Instances

__all__ = ["View", "Views", "single_view"]

V = TypeVar("V", bound="View")


class View:
    """The current view of an instance of a session; one that is not kept looks like a new one."""

    __slots__ = ("_find",)

    def __init__(self, find: Callable[[], Instance]) -> None:
        self._find = find

    @property
    def state(self) -> str:
        """The name of its current state."""
        instance = self._find()
        return instance.table.states[instance.state]

    def _value(self, name: str) -> Any:
        """Return the value of a variable; of a list, a copy."""
        instance = self._find()
        value = instance.values[instance.table.slots[name]]
        return tuple(value) if isinstance(value, deque) else value

    def _member(self, enum: type, name: str) -> Any:
        """Return the value of a variable as a member of an enum, where it is one."""
        value = self._value(name)
        try:
            return enum(value)
        except ValueError:
            return value

    def __repr__(self) -> str:
        instance = self._find()
        values = ", ".join(f"{name}={show(self._value(name))}" for name in instance.table.slots)
        return f"<{instance.table.name} in {self.state}{': ' if values else ''}{values}>"


class Views(Generic[V]):
    """The instances of a session by key, as a mapping: a key of several fields is a tuple.

    If a session has senders or roles of its own, these may precede the key: `["server", 7]`. Without them,
    the instance that is kept is meant, and of two the one where `role` has the first role.
    """

    __slots__ = ("_class", "_kept", "_role", "_roles")

    def __init__(self, kept: Instances, class_: type[V], role: str | None, roles: tuple[str, ...]) -> None:
        self._kept = kept
        self._class = class_
        self._role = role
        self._roles = roles

    def __getitem__(self, key: Hashable) -> V:
        return self._class(lambda: self._instance(key))

    def __contains__(self, key: Hashable) -> bool:
        return any(self._kept.find(*place) is not None for place in self._places(key))

    def __iter__(self) -> Iterator[Hashable]:
        return (instance.shown_key for instance in self._kept.all())

    def __len__(self) -> int:
        return len(self._kept)

    @property
    def n_forgotten(self) -> int:
        """The number of ended instances that were evicted because of `limits.open`: their keys start anew.
        It is None if strict.
        """
        return self._kept.n_forgotten

    def __repr__(self) -> str:
        n_forgotten = f", {self.n_forgotten} forgotten" if self.n_forgotten else ""
        return f"<{self._kept.table.name}: {len(self)} kept{n_forgotten}>"

    def _instance(self, key: Hashable) -> Instance:
        places = self._places(key)
        found = (self._kept.find(*place) for place in places)
        kept = next((instance for instance in found if instance is not None), None)
        if kept is not None:
            return kept
        bare, side, sender = places[0]
        return self._kept.get(bare, side=side, sender=sender)

    def _places(self, key: Hashable) -> list[tuple[Hashable, str | None, str | None]]:
        """Return the places where an instance of that key may be kept, the most likely first."""
        table = self._kept.table
        parts = key if isinstance(key, tuple) else (key,)
        n_named = len(parts) - len(table.keys)
        roles = sorted(self._roles, key=lambda role: role != self._role)
        named = [role for role in roles if n_named == 1 and role == parts[0]] or roles
        rest: Any = parts[n_named:] if n_named == 1 else parts
        bare = () if not table.keys else rest[0] if len(table.keys) == 1 and len(rest) == 1 else rest
        if table.per_sender:
            return [(bare, None, role) for role in named]
        return [(bare, role, None) for role in named] if table.roles else [(bare, None, None)]


def single_view(class_: type[V], kept: Instances) -> V:
    """Return the view of the only instance of a session."""
    assert kept.single is not None
    single = kept.single
    return class_(lambda: single)
