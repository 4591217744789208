"""The instances of one session on one connection: one, or one for each key, side and sender.

Where only sides and senders tell them apart, all are kept from the beginning. Of a key, an instance that is as it began is
not kept; one that nothing can change any more makes room when room is needed.
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
        key: Of the message; () where only the sender tells instances apart.
        side: Who plays the session's first role; None where there are no such roles.
        sender: Whose direction it is; None: both.
        is_kept: It differs from a new one, or its session has no keys.
        since: When its timers began; `due`: when the next one runs out; `fired`: how many have; `queued`: the earliest
            time at which it stands among those that wait.
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
        """Return what tells it from the other instances of its session."""
        return (self.key, self.side, self.sender)

    @property
    def shown_key(self) -> Hashable:
        """Return its key as an event shows it: sides and senders before the rest; None where there is nothing."""
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
    """Those of one session; `single` is the only one where nothing tells instances apart.

    Attributes:
        n_forgotten: How many that had ended have given way; what speaks of such a key later begins anew.
        forgotten: The last of them, for whoever reports it and takes it out; None: reported.
    """

    def __init__(
        self, table: Table, options: Mapping[str, object], limit: int, *, gives_way: bool = True
    ) -> None:
        """`gives_way`: of those that nothing changes any more, the oldest is forgotten where there are too many."""
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
        """Say whether one more may be kept; one that has ended gives way."""
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
        """Return the instance of a key, a new one where none is kept."""
        return self._kept.get((key, side, sender)) or self._new(key, side, sender)

    def settle(self, instance: Instance) -> None:
        """Keep the instance of a key after a change, or let it go if it is as a new one."""
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
        """Keep an instance that was let go meanwhile."""
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
