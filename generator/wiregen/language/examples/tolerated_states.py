"""States of a session that only tolerance leads to: a strict connection refuses the message before them."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache

from wiregen.runtime.schema.sessions import Go, Session, Transition, Violates

__all__ = ["tolerated_states"]


@lru_cache(maxsize=256)
def tolerated_states(session: Session) -> frozenset[str]:
    """Return the states that are reached only after a lenient violation."""
    if not session.states:
        return frozenset()
    seen, waiting = {session.states[0]}, [session.states[0]]
    while waiting:
        for state in _strictly_after(session, waiting.pop()):
            if state not in seen:
                seen.add(state)
                waiting.append(state)
    return frozenset(session.states) - seen


def _strictly_after(session: Session, state: str) -> Iterator[str]:
    before: list[Transition] = []
    for row in session.rows:
        if row.states is not None and state not in row.states:
            continue
        if isinstance(row.effect, Violates):
            before.append(row)
        elif row.effect.state is not None and not any(_refuses(each, row) for each in before):
            yield row.effect.state
    for timer in session.timers:
        if (
            isinstance(timer.effect, Go)
            and timer.effect.state is not None
            and (timer.states is None or state in timer.states)
        ):
            yield timer.effect.state


def _refuses(violation: Transition, row: Transition) -> bool:
    """Return whether a violation is tried for everything that a row takes, under the same condition or none."""
    if violation.role not in (None, row.role):
        return False
    if violation.when not in (None, row.when):
        return False
    if violation.targets is None:
        return True
    return row.targets is not None and set(row.targets) <= set(violation.targets)
