"""The sessions of a connection whose directions are both known: the effects of each frame on them.

Invariant: time stands still, since the page does not know when bytes were sent. No timer runs out.
"""

from __future__ import annotations

from dataclasses import dataclass

from wiregen.generate.escaping import harmless
from wiregen.runtime.codec.errors import DecodeError
from wiregen.runtime.schema.protocol import Schema
from wiregen.runtime.sessions.engine import Engine
from wiregen.runtime.sessions.events import Violation
from wiregen.runtime.sessions.table import Program
from wiregen.runtime.stream.context import Context
from wiregen.site.playground.both_directions import DecodedItem

__all__ = ["FollowedSessions", "SessionEffects"]

_NOW = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionEffects:
    """The effects of a frame, as texts: changes of states, violations with their place, and tolerated ones."""

    steps: tuple[str, ...] = ()
    violations: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()


class FollowedSessions:
    """Follows the frames that are decoded with a context, in their order; `hides_keys`: they may be secret."""

    def __init__(self, schema: Schema, context: Context, *, hides_keys: bool) -> None:
        self._hides_keys = hides_keys
        self._engine = Engine(Program(schema), contexts=context, options={}, now=_NOW)
        self._engine.trail = []
        self._violations: list[Violation] = []
        self._was_heard = False
        context.listener = self._hear

    def effects(self, item: DecodedItem) -> SessionEffects:
        """Return the effects of an item that was decoded just now."""
        if isinstance(item.found, DecodeError):
            self._miss(item.role, item.found)
        elif not self._was_heard:
            self._hear(item.found.value, item.role)
        violations, self._violations, self._was_heard = self._violations, [], False
        steps = self._engine.trail or []
        self._engine.trail = []
        return SessionEffects(
            steps=tuple(
                f"{self._named(name, key)}: {before} → {after}" for name, key, before, after in steps
            ),
            violations=tuple(self._shown(each) for each in violations if not each.lenient),
            notes=tuple(self._shown(each) for each in violations if each.lenient),
        )

    def _miss(self, role: str | None, error: DecodeError) -> None:
        """Report an error to the sessions, except the end of the given bytes."""
        if role is not None and error.code != "truncated":
            violation = self._engine.miss(role, error, _NOW)
            self._violations += [] if violation is None else [violation]

    def _hear(self, frame: object, sender: str | None) -> None:
        assert sender is not None
        self._was_heard = True
        for inner in self._engine.step(sender, frame, _NOW, self._violations):
            self._hear(inner, sender)

    def _shown(self, violation: Violation) -> str:
        place = (
            f" [{self._named(violation.session, violation.key)} in {violation.state}]"
            if violation.session
            else ""
        )
        return harmless(f"{violation.name}{place}{f': {violation.rule}' if violation.rule else ''}")

    def _named(self, session: str, key: object) -> str:
        return session if key is None or self._hides_keys else harmless(f"{session} {key}")
