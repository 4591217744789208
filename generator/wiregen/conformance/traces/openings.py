"""The states of a session before and after the preamble of a role, which comes first and once in its direction."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TypeAlias

from wiregen.runtime.schema.sessions import Go, Session, Timer, Transition

__all__ = ["states_by_preamble"]

_Place: TypeAlias = tuple[str, bool]
"""A state, and whether the preamble has come."""


def states_by_preamble(
    session: Session, sender: str, preamble: str | None
) -> tuple[frozenset[str], frozenset[str]]:
    """Return the states in which the preamble of a sender may come, and those in which its frames may.

    Both are all states for a sender without a preamble, and for a session whose rows do not name it.
    """
    everywhere = frozenset(session.states)
    if preamble is None or not any(preamble in (row.targets or ()) for row in session.rows):
        return everywhere, everywhere
    seen: set[_Place] = set()
    left: list[_Place] = [(session.states[0], False)]
    while left:
        place = left.pop()
        if place not in seen:
            seen.add(place)
            left += _after(session, place, sender, preamble)
    unopened = frozenset(state for state, is_open in seen if not is_open)
    return unopened, frozenset(state for state, is_open in seen if is_open)


def _after(session: Session, place: _Place, sender: str, preamble: str) -> Iterator[_Place]:
    """Yield the places to which legal rows and timers lead."""
    state, is_open = place
    lines: tuple[Transition | Timer, ...] = (*session.rows, *session.timers)
    for row in lines:
        if not isinstance(row.effect, Go) or (row.states is not None and state not in row.states):
            continue
        after = state if row.effect.state is None else row.effect.state
        if isinstance(row, Timer):
            yield after, is_open
            continue
        may_open = row.role in (None, sender) and (row.targets is None or preamble in row.targets)
        if may_open and not is_open:
            yield after, True
        if row.targets != (preamble,) and (is_open or row.role != sender):
            yield after, is_open
