"""The engine of a watched connection: it records each row that it takes, and predicts the effects of a frame."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from wiregen.language.examples.tolerated_states import tolerated_states
from wiregen.language.examples.trace import Goal
from wiregen.runtime.schema.protocol import Schema
from wiregen.runtime.sessions.closures import NOTHING, Term
from wiregen.runtime.sessions.compiled_rows import Row, Rows
from wiregen.runtime.sessions.decisions import Decision
from wiregen.runtime.sessions.engine import Engine
from wiregen.runtime.sessions.events import Violation
from wiregen.runtime.sessions.instances import Instance
from wiregen.runtime.sessions.table import Matters, Program
from wiregen.runtime.stream.context import Context

__all__ = ["Setup", "Watched"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Setup:
    """The settings of all connections of a search."""

    schema: Schema
    program: Program
    is_strict: bool
    options: Mapping[str, Any]
    limits: Mapping[str, int]
    variant: str | None = None


class Watched(Engine):
    """An engine that records each row that it takes, and each row that refuses a message."""

    def __init__(self, setup: Setup, contexts: Context) -> None:
        self.met: list[Goal] = []
        self._message = ""
        self._only: Matters | None = None
        super().__init__(
            setup.program,
            strict=setup.is_strict,
            limits=setup.limits,
            contexts=contexts,
            options=setup.options,
            variant=setup.variant,
        )
        self._tolerated = {name: tolerated_states(session) for name, session in setup.schema.sessions.items()}
        self.firsts = {table.name: table.first_values(setup.options) for table in setup.program.tables}

    def shared(self) -> tuple[object, ...]:
        """Return the parts that engines of the same setup may share."""
        return self.limits, self.firsts, self._tolerated, self._matters, self._delays

    def matters(self, sender: str, item: object) -> Matters:
        found = self._only or super().matters(sender, item)
        self._message = found.name
        return found

    def step(self, sender: str, item: object, now: float, found: list[Violation]) -> tuple[Any, ...]:
        self.matters(sender, item)
        return super().step(sender, item, now, found)

    def foresee(self, sender: str, item: object) -> tuple[Decision, list[Goal]]:
        """Return the effects that a frame would have, and the goals that it would reach."""
        self.met = []
        decision = self.decide(sender, item, self.now)
        self.add_general(decision.violations, sender)
        return decision, self.met

    def foresee_one(self, matters: Matters, sender: str, item: object) -> tuple[Decision, list[Goal]]:
        """Return the same for one session: the one that `matters` belong to."""
        self._only = matters
        try:
            return self.foresee(sender, item)
        finally:
            self._only = None

    def add_general(self, violations: Iterable[Violation], sender: str) -> None:
        """Record the violations that do not belong to a row."""
        for each in violations:
            if each.name == self.program.foreign and not each.session:
                self.met.append(Goal(kind="wrong_role", role=sender, violation=each.name))
            if each.name == "limit_exceeded" and each.session:
                self.met.append(Goal(kind="too_many", session=each.session, violation=each.name))

    def _choose_row(
        self, instance: Instance, rows: tuple[Rows, ...], m: object, f: object, found: list[Violation]
    ) -> Row | None:
        taken = super()._choose_row(instance, rows, m, f, found)
        for when, group in rows[instance.state]:
            for row in group:
                is_hard = row.violation is not None and (self._strict or not row.is_lenient)
                if row is taken or (is_hard and self._holds(when, instance, m, f)):
                    self.met.append(self._goal(instance, row))
                    return taken
                if row.is_lenient and self._is_tolerated(instance) and self._holds(when, instance, m, f):
                    self.met.append(self._goal(instance, row))
        name, state = instance.table.name, instance.table.states[instance.state]
        self.met.append(
            Goal(
                kind="unexpected",
                session=name,
                state=state,
                role=self._speaker(instance),
                message=self._message,
                violation="unexpected_message",
            )
        )
        return taken

    def _holds(self, when: Term | None, instance: Instance, m: object, f: object) -> bool:
        try:
            return when is None or bool(when(m, f, instance.values, self))
        except NOTHING:
            return False

    def _goal(self, instance: Instance, row: Row) -> Goal:
        table = instance.table
        return Goal(
            kind="row",
            session=table.name,
            state=table.states[instance.state],
            role=self._speaker(instance),
            number=row.number,
            violation=None if row.is_lenient and self._is_tolerated(instance) else row.violation,
        )

    def _is_tolerated(self, instance: Instance) -> bool:
        """Return whether an instance is in a state that only tolerance leads to: a lenient violation is a note there."""
        table = instance.table
        return table.states[instance.state] in self._tolerated[table.name]

    def _speaker(self, instance: Instance) -> str:
        """Return the sender, by the session's own name."""
        roles = instance.table.roles
        sender = self.sender or ""
        if not roles:
            return sender
        return roles[0] if instance.side == sender else roles[1]
