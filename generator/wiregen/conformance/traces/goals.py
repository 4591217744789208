"""The goals of a protocol's traces: each row in each state for each role that takes it, and each violation."""

from __future__ import annotations

from collections.abc import Iterator

from wiregen.conformance.traces.candidates import Drafts
from wiregen.conformance.traces.openings import states_by_preamble
from wiregen.language.examples.connection_state import ConnectionState, Setup
from wiregen.language.examples.tolerated_states import tolerated_states
from wiregen.language.examples.trace import Goal
from wiregen.runtime.reference.tree import FrameValue
from wiregen.runtime.schema.sessions import Go, Transition, Update, Violates
from wiregen.runtime.sessions.engine import Engine
from wiregen.runtime.sessions.table import KindRows, Matters, Table

__all__ = ["goals_of"]


def goals_of(setup: Setup, drafts: Drafts) -> tuple[Goal, ...]:
    """Return the goals in the order of the `.wire` file, without rows that an earlier row always precludes."""
    engine = ConnectionState(setup).engine
    found: dict[Goal, None] = {}
    for sender, item in drafts.frames():
        for goal in _of_kind(engine, sender, item):
            found.setdefault(goal)
    for goal in (*_of_timers(setup), *_of_rooms(engine), *_of_joins(setup)):
        found.setdefault(goal)
    return tuple(sorted(found, key=lambda goal: _order(setup, goal)))


def _order(setup: Setup, goal: Goal) -> tuple[object, ...]:
    sessions = list(setup.schema.sessions)
    place = sessions.index(goal.session) if goal.session in sessions else len(sessions)
    states = setup.program.tables[place].states if place < len(sessions) else ()
    state = states.index(goal.state) if goal.state in states else len(states)
    kinds = ("row", "unexpected", "timer")
    kind = kinds.index(goal.kind) if goal.kind in kinds else len(kinds)
    return (place, kind, goal.number, state, goal.role, goal.message, goal.kind, goal.session)


def _of_kind(engine: Engine, sender: str, item: object) -> Iterator[Goal]:
    matters = engine.matters(sender, item)
    if matters.is_foreign and all(not _makes_violation(entry) for entry in matters.entries):
        yield Goal(kind="wrong_role", role=sender, violation=engine.program.foreign)
    for entry in matters.entries:
        session = engine.program.schema.sessions[entry.table.name]
        tolerated = tolerated_states(session)
        unopened, opened = states_by_preamble(session, sender, engine.program.schema.opens.get(sender))
        for number, state in enumerate(entry.table.states):
            is_there = state in (opened if isinstance(item, FrameValue) else unopened)
            for role in _speakers(entry, sender) if is_there else ():
                if not _is_never_met(entry, number):
                    yield from _in_state(
                        entry,
                        matters,
                        number,
                        state,
                        role,
                        is_preamble=not hasattr(item, "message"),
                        is_tolerated=state in tolerated,
                    )


def _makes_violation(entry: KindRows) -> bool:
    """Return whether a row of any state makes the message a violation."""
    return any(row.violation is not None for rows in entry.rows for _, group in rows for row in group)


def _speakers(entry: KindRows, sender: str) -> tuple[str, ...]:
    if not entry.table.roles:
        return (sender,)
    return entry.table.roles if entry.side is None else (entry.sender or "",)


def _is_never_met(entry: KindRows, number: int) -> bool:
    """Return whether a message without the key never finds an instance in a state.

    In the initial state an instance exists only if its variables differ from those of a new one.
    """
    if number != 0 or entry.key is not None or not entry.table.keys:
        return False
    return not any(_keeps_a_new_one(row, entry.table) for row in entry.table.rows)


def _keeps_a_new_one(row: Transition, table: Table) -> bool:
    """Return whether a row leaves an instance in the first state, with other values than those of a new one."""
    effect, first = row.effect, table.states[0]
    if not isinstance(effect, Go) or not _changes(effect.updates, table):
        return False
    return effect.state == first or (effect.state is None and _is_in(row, first))


def _is_in(row: Transition, state: str) -> bool:
    """Return whether a row applies in a state."""
    return row.states is None or state in row.states


def _changes(updates: tuple[Update, ...], table: Table) -> bool:
    """Return whether updates may leave a variable with a value other than its initial one."""
    return any(update.value != table.variables[update.variable].initial for update in updates)


def _in_state(
    entry: KindRows,
    matters: Matters,
    number: int,
    state: str,
    role: str,
    *,
    is_preamble: bool,
    is_tolerated: bool,
) -> Iterator[Goal]:
    """Yield the goals of one state. `is_tolerated`: only lenient violations lead to it; more are notes."""
    table: Table = entry.table
    rows = (entry.named_rows if entry.key is None and table.keys else entry.rows)[number]
    for when, row in ((when, row) for when, group in rows for row in group):
        told = table.rows[row.number]
        is_meant = row.violation is not None and (told.role is not None or told.targets is not None)
        if not matters.is_foreign or is_meant:
            yield Goal(
                kind="row",
                session=table.name,
                state=state,
                role=role,
                number=row.number,
                violation=None if row.is_lenient and is_tolerated else row.violation,
            )
        if when is None and not (row.violation is not None and row.is_lenient):
            return
    # A preamble is decoded only before the first frame, so that it cannot be an unexpected message.
    if not rows and not matters.is_foreign and not is_preamble:
        yield Goal(
            kind="unexpected",
            session=table.name,
            state=state,
            role=role,
            message=matters.name,
            violation="unexpected_message",
        )


def _of_timers(setup: Setup) -> Iterator[Goal]:
    for name, session in setup.schema.sessions.items():
        for number, timer in enumerate(session.timers):
            violation = timer.effect.name if isinstance(timer.effect, Violates) else None
            for state in session.states if timer.states is None else timer.states:
                yield Goal(kind="timer", session=name, state=state, number=number, violation=violation)


def _of_rooms(engine: Engine) -> Iterator[Goal]:
    for name, kept in engine.instances.items():
        # An instance in a state that no row leaves is evicted when needed, so only other states can reach
        # the limit.
        if kept.table.keys and any(kept.table.is_left[1:]):
            yield Goal(kind="too_many", session=name, violation="limit_exceeded")


def _of_joins(setup: Setup) -> Iterator[Goal]:
    for name in setup.schema.joins:
        yield Goal(kind="join", session=name)
        yield Goal(kind="cut", session=name, violation="truncated")
