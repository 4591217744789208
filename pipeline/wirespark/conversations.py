"""Rows of a connection checked against the protocol's sessions: the effect of each row, and the request of each reply.

One connection is checked at a time, its rows in the order of time. Files of one direction each have no
connection. They belong together if their names agree up to the first dot, as `x.client.bin` and
`x.server.bin` do.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Hashable, Iterator
from functools import cache
from typing import TYPE_CHECKING, NamedTuple

import pyarrow as pa
import pyarrow.compute as pc

from wirespark.array_casting import plain
from wirespark.decoders import context_of
from wirespark.encoding import encoder_of
from wirespark.options import Wishes
from wirespark.packages import package_of
from wirespark.pairing import Event, History, RowPlace, expectations_of
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
variable `name`, or the length of its list, has changed); `pair` (the row answers the named request);
`unanswered` (the named request had no answer at `_time`, when the connection ended or gave it up); `rows` (`level`
rows of this connection are in `_file`, errors included)."""


def events_of(table: Batch, wishes: Wishes) -> Batch:
    """Return the events of the rows of one connection, a table of the wide columns.

    Time is the time of capture.
    """
    batch = table.combine_chunks()
    order = pc.sort_indices(batch, sort_keys=[(name, "ascending") for name in _order(batch, wishes)])
    batch = batch.take(order)
    counts = pc.value_counts(batch["_file"]).to_pylist()
    events: list[Event] = [
        {"_file": each["values"], "kind": "rows", "level": each["counts"]} for each in counts
    ]
    is_right = pc.and_(pc.is_valid(batch["_message"]), pc.is_valid(batch["_from"]))
    if wishes.package.schema.sessions:
        events += _Conversation(wishes).events(batch.filter(is_right))
    return pa.Table.from_pylist(events, schema=EVENTS)


def _order(batch: Batch, wishes: Wishes) -> tuple[str, ...]:
    """Return the columns by which rows are ordered. Without times, all rows of the first role come first."""
    if batch["_time"].null_count < len(batch):
        return ("_time", "_from", "_offset")
    roles = wishes.package.schema.roles
    return ("_from", "_offset") if sorted(roles) == list(roles) else ("_offset",)


@cache
def _program(protocol: str) -> Program:
    package = package_of(protocol)
    program: Program = package.runtime("sessions.table").Program(package.schema)
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
            options=wishes.session_options,
            limits=dict(wishes.limits),
            contexts=self._context,
            variant=wishes.variant,
        )
        self._steps: list[tuple[str, Hashable, str, str]] = []
        self._engine.trail = self._steps
        self._known: dict[tuple[str, Hashable], History] = {}
        self._violation = package.runtime("sessions.events").Violation

    def events(self, batch: Batch) -> Iterator[Event]:
        rows = {name: batch[name].combine_chunks() for name in batch.column_names}
        frames = encoder_of(self._wishes.protocol, "native", self._wishes.variant).frames(rows, len(batch))
        places = batch.select(["_file", "_flow", "_from", "_offset", "_time", "_message"]).to_pylist()
        times = plain(rows["_time"].cast(pa.int64()))
        for frame, row, time in zip(frames, places, times, strict=True):
            yield from self._row(
                frame, RowPlace(role=row["_from"], message=row["_message"], time=time, row=row)
            )
        for (session, key), known in self._known.items():
            for event in known.ended():
                yield {**places[-1], "session": session, "key": _text(key), **event}

    def _row(self, frame: object, place: RowPlace) -> Iterator[Event]:
        assert place.role is not None
        now = (place.time or 0) / 1e6
        timer_row = {**place.row, "_message": None, "_from": None, "_offset": None}
        for event in self._engine.expire(now):
            if isinstance(event, self._violation):
                yield _violated(event, timer_row)
        timer = RowPlace(role=None, message=None, time=place.time, row=timer_row)
        yield from self._moved(timer, self._drained(), {})
        found: list[Violation] = []
        touched: dict[_Where, _Sent] = {}
        inside = [frame]
        while inside:
            for each in inside:
                touched.update(self._touched(place.role, each))
            inside = [each for outer in inside for each in self._engine.step(place.role, outer, now, found)]
        if self._context is not None and hasattr(frame, "message"):
            self._context.apply(frame, place.role)
        for violation in found:
            yield _violated(violation, place.row)
        levels = [event for where, sent in touched.items() for event in self._levels(where, sent.role, place)]
        sent_by_session = {where.session: sent for where, sent in touched.items()}
        yield from self._moved(place, self._drained(), sent_by_session)
        yield from levels
        for where in touched:
            self._forget(where)

    def _drained(self) -> list[tuple[str, Hashable, str, str]]:
        steps = self._steps.copy()
        self._steps.clear()
        return steps

    def _touched(self, sender: str, item: object) -> Iterator[tuple[_Where, _Sent]]:
        """Yield the instances that a frame may change, each with the message as its session names it."""
        message = getattr(item, "message", item)
        frame = None if message is item else item
        matters = self._engine.matters(sender, item)
        for entry in matters.entries:
            table, kept = entry.table, self._engine.instances[entry.table.name]
            key = () if not table.keys else entry.key and entry.key(message, frame)
            sent = _Sent(entry.sender or sender, matters.name)
            if key is None or (entry.side is None and table.roles):
                yield from ((_Where(table.name, each.place), sent) for each in kept.all())
            else:
                yield _Where(table.name, (key, entry.side, sender if table.per_sender else None)), sent

    def _instance(self, where: _Where) -> Instance:
        """Return an instance, or a new one if none is kept there: then it is as in the beginning."""
        key, side, sender = where.place
        found: Instance = self._engine.instances[where.session].get(key, side=side, sender=sender)
        return found

    def _forget(self, where: _Where) -> None:
        """Forget an instance that is as in the beginning, and waits for nothing."""
        instance = self._instance(where)
        place = (where.session, instance.shown_key)
        if not instance.is_kept and place in self._known and self._known[place].asked is None:
            del self._known[place]

    # ---- states

    def _moved(
        self, place: RowPlace, steps: list[tuple[str, Hashable, str, str]], sent_by_session: dict[str, _Sent]
    ) -> Iterator[Event]:
        for session, key, before, after in steps:
            columns = {**place.row, "session": session, "key": _text(key)}
            yield {**columns, "kind": "step", "before": before, "after": after}
            known = self._known.setdefault((session, key), History())
            expected = expectations_of(self._wishes.protocol, session)
            sent = sent_by_session.get(session)
            is_request = (
                sent is not None
                and not known.has_put(place)
                and expected.is_request(sent.role, sent.message, after)
            )
            for event in known.stepped(place, is_request=is_request, is_over=expected.is_first(after)):
                yield {**columns, **event}

    # ---- variables

    def _levels(self, where: _Where, role: str, place: RowPlace) -> Iterator[Event]:
        """Yield the changes in an instance's variables. Its first list that is awaited tells which row answers which."""
        instance = self._instance(where)
        if not instance.is_kept and (where.session, instance.shown_key) not in self._known:
            return
        known = self._known.setdefault((where.session, instance.shown_key), History())
        columns = {**place.row, "session": where.session, "key": _text(instance.shown_key)}
        expected = expectations_of(self._wishes.protocol, where.session)
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
                yield {**columns, "kind": "level", "name": name, "level": level}
            if items is not None and expected.requests == name:
                is_awaited = expected.is_awaited(name, role)
                for event in known.listed(items, place, is_awaited=is_awaited):
                    yield {**columns, **event}


class _Sent(NamedTuple):
    """The sender of a message, as a session names it, and the name of the message."""

    role: str
    message: str


class _Where(NamedTuple):
    """The session of an instance, and its key, side and sender."""

    session: str
    place: tuple[Hashable, str | None, str | None]


def _violated(violation: Violation, row: Event) -> Event:
    return {
        **row,
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
