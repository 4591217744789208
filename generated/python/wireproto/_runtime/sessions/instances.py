"""The instances of one session on one connection: one, or one for each key, side and sender.

If only sides and senders distinguish instances, all are kept from the beginning. If a key does, an instance
equal to a new one is not kept. One that no transition can change any more is evicted when the limit is
reached.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Hashable, Mapping

from ..reference.expressions import Value
from .table import Table

__all__ = ["Instance", "Instances"]


class Instance:
    """One instance.

    Attributes:
        key: The key of the message; () if only the sender distinguishes instances.
        side: The role that has the session's first role, or None if the session has no roles.
        sender: The sender of its direction, or None for both.
        is_kept: It differs from a new one, or its session has no keys.
        since: The start of its timers; `due`: the end of the next one; `fired`: the number that have run
            out; `queued`: its earliest time in the queue of timers.
    """

    __slots__ = (
        "due", "fired", "is_kept", "key", "queued", "sender", "side", "since", "state", "table", "values",
    )  # fmt: skip

    def __init__(
        self, table: Table, values: list[object], key: Hashable, side: str | None, sender: str | None
    ) -> None:
        self.table = table
        self.key = key
        self.side = side
        self.sender = sender
        self.state = 0
        self.values = values
        self.is_kept = False
        self.queued: float | None = None
        self.since = 0.0
        self.due: float | None = None
        self.fired = 0

    @property
    def place(self) -> Hashable:
        """Return the identity of the instance in its session."""
        return (self.key, self.side, self.sender)

    @property
    def shown_key(self) -> Hashable:
        """Return its key as an event shows it: side and sender before the rest, or None if there are none of these."""
        parts = (*(each for each in (self.side, self.sender) if each is not None), *self._keys())
        return None if not parts else parts[0] if len(parts) == 1 else parts

    def _keys(self) -> tuple[Hashable, ...]:
        if not self.table.keys:
            return ()
        return self.key if len(self.table.keys) > 1 else (self.key,)  # type: ignore[return-value]

    def snapshot(self) -> tuple[Value, ...]:
        values = _copy(self.values)
        return self.state, values, self.since, self.due, self.fired

    def restore(self, snapshot: tuple[Value, ...]) -> None:
        self.state, self.values, self.since, self.due, self.fired = snapshot


class Instances:
    """The instances of one session; `single` is the only one if they have no keys, sides or senders.

    Attributes:
        n_forgotten: The number of evicted instances that had ended; a later message with such a key starts a new one.
        forgotten: The last of them until it is reported, else None.
    """

    def __init__(
        self, table: Table, options: Mapping[str, object], limit: int, *, gives_way: bool = True
    ) -> None:
        """`gives_way`: at the limit, evict the oldest instance that no transition can change any more."""
        self.table = table
        self._first = table.first_values(options)
        self.limit = limit
        self.n_forgotten = 0
        self.forgotten: Instance | None = None
        self._gives_way = gives_way
        self._kept: dict[Hashable, Instance] = {}
        self._ended: dict[Hashable, Instance] = {}
        for place in table.places:
            self.take_back(self._new(*place))
        self.single = self._kept[(), None, None] if table.is_single else None

    @property
    def has_room(self) -> bool:
        """Return whether one more instance may be kept; an ended one is evicted."""
        if len(self._kept) < self.limit:
            return True
        return self._gives_way and bool(self._ended)

    def __len__(self) -> int:
        return len(self._kept)

    def all(self) -> tuple[Instance, ...]:
        return tuple(self._kept.values())

    def find(self, key: Hashable, side: str | None, sender: str | None) -> Instance | None:
        """Return an instance that is kept."""
        return self._kept.get((key, side, sender))

    def get(self, key: Hashable, *, side: str | None, sender: str | None) -> Instance:
        """Return the instance of a key, or a new one if it is not kept."""
        return self._kept.get((key, side, sender)) or self._new(key, side, sender)

    def settle(self, instance: Instance) -> None:
        """Keep the instance of a key after a change, or drop it if it is equal to a new one."""
        place = instance.place
        if instance.state == 0 and instance.values == self._first:
            self.forget(instance)
            return
        if not instance.is_kept:
            self._make_room()
            instance.is_kept = True
            self._kept[place] = instance
        if not self.table.is_left[instance.state]:
            self._ended[place] = instance

    def forget(self, instance: Instance) -> None:
        instance.is_kept = False
        instance.due = None
        self._kept.pop(instance.place, None)
        self._ended.pop(instance.place, None)

    def take_back(self, instance: Instance) -> None:
        """Keep an instance again that was dropped meanwhile."""
        instance.is_kept = True
        self._kept[instance.place] = instance
        if self.table.is_left[instance.state]:
            self._ended.pop(instance.place, None)
        elif self.table.keys:
            self._ended[instance.place] = instance

    def _make_room(self) -> None:
        while self._gives_way and len(self._kept) >= self.limit and self._ended:
            self.forgotten = next(iter(self._ended.values()))
            self.n_forgotten += 1
            self.forget(self.forgotten)

    def _new(self, key: Hashable, side: str | None, sender: str | None) -> Instance:
        return Instance(self.table, _copy(self._first), key, side, sender)


def _copy(values: list[object]) -> list[object]:
    return [value.copy() if isinstance(value, deque) else value for value in values]
