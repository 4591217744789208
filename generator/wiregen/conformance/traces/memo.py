"""Earlier verdicts of sessions and contexts under one setup: equal values in equal states have equal verdicts.

Invariant: a verdict is stored under every value that it may depend on, so that the order of queries makes
no difference.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from dataclasses import dataclass
from typing import Any

from wiregen.conformance.traces.message_values import Spread
from wiregen.language.examples.connection_state import Atom, ConnectionState, Setup
from wiregen.language.examples.trace import Goal
from wiregen.runtime.schema.expressions import ContextReference, JoinReference
from wiregen.runtime.schema.node import nodes_in
from wiregen.runtime.schema.sessions import Transition
from wiregen.runtime.sessions.events import Violation

__all__ = ["SessionVerdict", "Verdicts"]


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionVerdict:
    """The verdict of one session on a message; without a session, the remembered entries after it."""

    session: str | None = None
    met: tuple[Goal, ...] = ()
    violations: tuple[Violation, ...] = ()
    atoms: tuple[Atom, ...]
    is_refused: bool = False


class Verdicts:
    """Parts by their numbers, and the values that met which states; shared by all searches under one setup."""

    def __init__(self, setup: Setup) -> None:
        self.parts: list[SessionVerdict] = []
        self._numbers: dict[object, int] = {}
        self._known: dict[Hashable, dict[object, int]] = {}
        self._asked = {
            name: tuple(dict.fromkeys(_memories_in(session.rows)))
            for name, session in setup.schema.sessions.items()
        }

    def of(self, session: str | None, spread: Spread, world: ConnectionState) -> dict[Any, int]:
        """Return the numbers of the verdicts on such a message in an equal connection state."""
        what = (session, *spread.what, *self._state(session, spread, world))
        return self._known.setdefault(what, {})

    def _state(self, session: str | None, spread: Spread, world: ConnectionState) -> tuple[Hashable, ...]:
        if session is None:
            return (world.remembered_exactly(),)
        names = None if spread.is_measured_by(session) else self._asked[session]
        return (world.exact(session), world.remembered_exactly(names))

    def number(self, part: SessionVerdict) -> int:
        """Return the number of a part; equal parts have the number of the first one."""
        says = tuple((each.name, each.lenient) for each in part.violations)
        number = self._numbers.setdefault((part.session, part.met, says, part.atoms), len(self.parts))
        if number == len(self.parts):
            self.parts.append(part)
        return number


def _memories_in(rows: tuple[Transition, ...]) -> Iterator[str]:
    """Yield the contexts and reassemblies on which rows depend."""
    for node in nodes_in(rows):
        match node:
            case ContextReference(name) | JoinReference(name):
                yield name
