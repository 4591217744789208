"""Rows of a connection checked against the protocol's sessions: the effect of each row, and the request of each reply.

One connection is checked at a time, its rows in the order of time. Files of one direction each have no
connection. They belong together if their names agree up to the first dot, as `x.client.bin` and
`x.server.bin` do.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.compute as pc

from wirespark.array_casting import plain
from wirespark.decoders import context_of
from wirespark.encoding import encoder_of
from wirespark.options import Wishes
from wirespark.packages import package_of
from wirespark.untyped import Batch

if TYPE_CHECKING:
    from wireproto._runtime.sessions.events import Violation
    from wireproto._runtime.sessions.instances import Instance
    from wireproto._runtime.sessions.table import Program

__all__ = ["EVENTS", "events_of"]

_TIME = pa.timestamp("us", tz="UTC")
EVENTS = pa.schema(
    [
        pa.field("_file", pa.string()),
        pa.field("_flow", pa.string()),
        pa.field("_from", pa.string()),
        pa.field("_offset", pa.int64()),
        pa.field("_time", _TIME),
        pa.field("_message", pa.string()),
        pa.field("kind", pa.string()),
        pa.field("session", pa.string()),
        pa.field("key", pa.string()),
        pa.field("name", pa.string()),
        pa.field("rule", pa.string()),
        pa.field("lenient", pa.bool_()),
        pa.field("before", pa.string()),
        pa.field("after", pa.string()),
        pa.field("level", pa.int64()),
        pa.field("request", pa.string()),
        pa.field("request_from", pa.string()),
        pa.field("request_offset", pa.int64()),
        pa.field("request_time", _TIME),
    ]
)
"""The columns of an event.

`kind` is one of these: `step` (from one state to another); `violation`; `level` (the number of the session's
variable `name`, or the length of its list, has changed); `pair` (the row answers the named request)."""
Event = dict[str, object]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Place:
    """A row, as its events refer to it."""

    role: str
    message: str | None
    time: int | None
    told: Event


@dataclass(slots=True, kw_only=True)
class _Known:
    """The history of an instance.

    It has its levels, the row that put each item on its lists, and the row that left its first state.
    """

    levels: dict[str, int] = field(default_factory=dict)
    items: dict[str, deque[tuple[object, _Place]]] = field(default_factory=dict)
    opened: _Place | None = None


def events_of(table: Batch, wishes: Wishes) -> Batch:
    """Return the events of the rows of one connection, a table of the wide columns.

    Time is the time of capture.
    """
    batch = table.combine_chunks()
    order = pc.sort_indices(batch, sort_keys=[(name, "ascending") for name in _order(batch, wishes)])
    batch = batch.take(order)
    is_right = pc.and_(pc.is_valid(batch["_message"]), pc.is_valid(batch["_from"]))
    conversation = _Conversation(wishes)
    events = list(conversation.events(batch.filter(is_right))) if wishes.package.plan.sessions else []
    return pa.Table.from_pylist(events, schema=EVENTS)


def _order(batch: Batch, wishes: Wishes) -> tuple[str, ...]:
    """Return the columns by which rows are ordered. Without times, all rows of the first role come first."""
    if batch["_time"].null_count < len(batch):
        return ("_time", "_from", "_offset")
    roles = wishes.package.plan.roles
    return ("_from", "_offset") if sorted(roles) == list(roles) else ("_offset",)


@cache
def _program(protocol: str) -> Program:
    package = package_of(protocol)
    program: Program = package.runtime("sessions.table").Program(package.plan)
    return program


class _Conversation:
    """The sessions of one connection, and their history."""

    def __init__(self, wishes: Wishes) -> None:
        package = wishes.package
        self._wishes = wishes
        self._context = context_of(wishes)
        self._engine = package.runtime("sessions.engine").Engine(
            _program(wishes.protocol),
            strict=wishes.strict,
            limits=dict(wishes.limits),
            contexts=self._context,
            variant=wishes.variant,
        )
        self._steps: list[tuple[str, Hashable, str, str]] = []
        self._engine.trail = self._steps
        self._known: dict[tuple[str, Hashable], _Known] = {}
        self._violation = package.runtime("sessions.events").Violation

    def events(self, batch: Batch) -> Iterator[Event]:
        rows = {name: batch[name].combine_chunks() for name in batch.column_names}
        frames = encoder_of(self._wishes.protocol, "native", self._wishes.variant).frames(rows, len(batch))
        told = batch.select(["_file", "_flow", "_from", "_offset", "_time", "_message"]).to_pylist()
        times = plain(rows["_time"].cast(pa.int64()))
        for frame, row, time in zip(frames, told, times, strict=True):
            yield from self._row(
                frame, _Place(role=row["_from"], message=row["_message"], time=time, told=row)
            )

    def _row(self, frame: object, place: _Place) -> Iterator[Event]:
        now = (place.time or 0) / 1e6
        for event in self._engine.expire(now):
            if isinstance(event, self._violation):
                yield _violated(event, {**place.told, "_message": None, "_from": None, "_offset": None})
        found: list[Violation] = []
        inside = [frame]
        while inside:
            inside = [each for outer in inside for each in self._engine.step(place.role, outer, now, found)]
        if self._context is not None and hasattr(frame, "message"):
            self._context.apply(frame, place.role)
        for violation in found:
            yield _violated(violation, place.told)
        yield from self._moved(place)
        yield from self._levels(place)

    # ---- states

    def _moved(self, place: _Place) -> Iterator[Event]:
        """Yield the steps of a row. A step back to the first state answers the step that left it."""
        steps = tuple(self._steps)
        self._steps.clear()
        for session, key, before, after in steps:
            event = {"session": session, "key": _text(key)}
            yield {**place.told, **event, "kind": "step", "before": before, "after": after}
            table = self._engine.instances[session].table
            known = self._known.setdefault((session, key), _Known())
            if not table.keys or table.per_sender:
                continue
            if before == table.states[0]:
                known.opened = place
            elif after == table.states[0] and known.opened is not None:
                if known.opened.role != place.role:
                    yield {**place.told, **event, **_pair(known.opened)}
                self._known.pop((session, key))

    # ---- variables

    def _levels(self, place: _Place) -> Iterator[Event]:
        for session, instances in self._engine.instances.items():
            for instance in instances.all() if instances.single is None else (instances.single,):
                key = instance.shown_key
                known = self._known.setdefault((session, key), _Known())
                told = {**place.told, "session": session, "key": _text(key)}
                yield from self._changes(instance, known, place, told)

    def _changes(self, instance: Instance, known: _Known, place: _Place, told: Event) -> Iterator[Event]:
        """Yield the changes in an instance's variables. Its first list determines which row answers which."""
        is_first = True
        for name, slot in instance.table.slots.items():
            value = instance.values[slot]
            items = value if isinstance(value, list | tuple | deque) else None
            if items is not None:
                level = len(items)
            elif isinstance(value, int) and not isinstance(value, bool):
                level = int(value)
            else:
                continue
            if level != known.levels.get(name, 0):
                known.levels[name] = level
                yield {**told, "kind": "level", "name": name, "level": level}
            if items is not None and is_first:
                is_first = False
                yield from self._answers(known, name, items, place, told)

    @staticmethod
    def _answers(
        known: _Known, name: str, value: Sequence[object], place: _Place, told: Event
    ) -> Iterator[Event]:
        """Yield the requests whose items were removed from a list. New items on it belong to this row."""
        items = known.items.setdefault(name, deque())
        n_items = len(items)
        if len(value) == n_items and (not items or items[-1][0] == value[-1]):
            return
        if len(value) != n_items + 1 or (items and items[-1][0] != value[n_items - 1]):
            left = deque(value)
            for item, request in tuple(items):
                items.popleft()
                if left and left[0] == item:
                    items.append((left.popleft(), request))
                elif request.role != place.role:
                    yield {**told, **_pair(request)}
        items.extend((item, place) for item in list(value)[len(items) :])


def _pair(request: _Place) -> Event:
    return {
        "kind": "pair",
        "request": request.message,
        "request_from": request.role,
        "request_offset": request.told["_offset"],
        "request_time": request.told["_time"],
    }


def _violated(violation: Violation, told: Event) -> Event:
    return {
        **told,
        "kind": "violation",
        "session": violation.session or None,
        "key": _text(violation.key),
        "name": violation.name,
        "rule": violation.rule,
        "lenient": violation.lenient,
        "before": violation.state or None,
    }


def _text(key: Hashable) -> str | None:
    if key is None:
        return None
    return ", ".join(map(str, key)) if isinstance(key, tuple) else str(key)
