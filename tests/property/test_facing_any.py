"""Connections of every protocol face each other, strict and lenient, and send all messages of its schema:
legal or not, in both directions.

A message that one may not send, the other refuses by the same name; a sent message leaves both in the same
states.
"""

from __future__ import annotations

import pkgutil
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from typing import Any
from uuid import UUID

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import rule, run_state_machine_as_test
from tests.built_schema import schema_of
from tests.property.any_values import AnyValues
from tests.property.facing import SETTINGS, Facing

import wireproto
from wiregen.conformance.samples import RandomChoices
from wiregen.conformance.samples.unconstrained import FewBits
from wiregen.runtime.schema.types import Bytes, Integer, Text, Type, Uuid, Varint
from wiregen.runtime.sessions.compiled_rows import STAY

NAMES = "lumberjack pravega pravega_documented pravega_proposal reactive_streams geode".split()


N_SEEDS = 200
"""Frames of each message: they are made once, since most of their values are the same few."""
SEEDS = st.integers(0, N_SEEDS - 1)
CHOICES = st.integers(0, 2**16)
RARELY = st.sampled_from([False] * 7 + [True])
SIZES = st.lists(st.integers(1, 40), max_size=3)
"""Where the bytes are cut."""


@dataclass(slots=True, kw_only=True)
class FewChoices(RandomChoices):
    """Numbers, keys and texts of which there are few, so that messages have to do with each other."""

    n_others: float = 1.0

    def other(self, type_: Type) -> Any:
        match type_:
            case Integer() | Varint() | FewBits(is_flag=False):
                low, high = type_.bounds
                return self.dice.choice((0, 1, 1, min(2, high), -1 if low < 0 else high))
            case Bytes():
                return self.dice.choice((b"", b"ab"))
            case Text():
                return self.dice.choice(("", "a"))
            case Uuid():
                return UUID(int=self.dice.randrange(2))
            case _:
                return None


class FewValues(AnyValues):
    """Makes frames with few values."""

    choices = FewChoices


@cache
def values_of(name: str) -> FewValues:
    return FewValues(import_module(f"wireproto.{name}"), schema_of(name))


class Talking(Facing):
    """A message of one side arrives before the other side sends; `name` is the protocol's."""

    name: str

    def __init__(self) -> None:
        self.package = import_module(f"wireproto.{self.name}")
        self.schema = schema_of(self.name)
        self.roles = (self.schema.roles[0], self.schema.roles[1])
        # Pieces whose bytes mean nothing together would be faults and not steps.
        self.pieces = tuple(
            getattr(self.package, setting.target)
            for join in self.schema.joins.values()
            for setting in (*join.parts, *join.lasts)
            if join.block is None
        )
        self.taken: Counter[Any] = Counter()
        self.n_begun = 0
        super().__init__()

    def restart(self) -> None:
        """Begin anew: with the preamble of a connection, at every second time also where it is not needed to read on."""
        super().restart()
        self.n_begun += 1
        if self.name == "geode":
            self.open(self.package.Connect(self.package.Mode(111)))
        if self.name == "reactive_streams" and self.n_begun % 2 == 0:
            self.open(self.package.ClientHello(0, []), self.package.ServerHello(0, []))

    def open(self, *messages: Any) -> None:
        for role, message in zip(self.roles, messages, strict=False):
            assert super().say(role, message)
            self.deliver_all(role, [])

    def shown(self, side: Any) -> Any:
        engine = side._engine
        kept = {
            (name, instance.place): (
                instance.state,
                list(map(repr, instance.values)),
                (instance.since, instance.due) if instance.table.has_timers else None,
            )
            for name, instances in engine.instances.items()
            for instance in instances.all()
        }
        return kept, None if side.context is None else side.context.snapshot()

    def frames(self, seed: int) -> list[Any]:
        frames = values_of(self.name).frames(seed % N_SEEDS)
        return [frame for _, frame in frames if not isinstance(frame.message, self.pieces)]

    def encoded(self, role: str, message: Any) -> bytes:
        side = self.sides[role]
        data: bytes = side._encoded(message, {})
        return data

    def say(self, role: str, message: Any, *, for_good: bool = False) -> bool:
        if not self.is_read_back(role, message):
            return False
        return super().say(role, message, for_good=for_good)

    def is_read_back(self, role: str, message: Any) -> bool:
        """Return whether the message can be encoded now, and decoded: its layout may depend on earlier messages."""
        context = self.sides[self.other(role)].context
        more = {} if context is None else {"context": context}
        known = None if context is None else context.snapshot()
        if context is not None:
            context.listener = None  # the sessions are not to see it yet
        try:
            found = self.package.decode(self.encoded(role, message), from_role=role, **more)
            return bool(found == self.sides[role]._package.framed(role, message, {}))
        except (self.package.EncodeError, self.package.DecodeError):
            return False
        finally:
            if known is not None:
                context.restore(known)

    @rule(
        role=st.integers(0, 1),
        seed=SEEDS,
        choice=CHOICES,
        sizes=SIZES,
        for_good=RARELY,
    )
    def speak(self, role: int, seed: int, choice: int, sizes: list[int], for_good: bool) -> None:
        """Say anything, of whichever side it is."""
        frames = [each for each in self.frames(seed) if self.may_frame(self.roles[role], each)]
        self.say(self.roles[role], frames[choice % len(frames)], for_good=for_good)
        self.deliver_all(self.roles[role], sizes)

    @rule(seed=SEEDS, choice=CHOICES, sizes=SIZES)
    def go_on(self, seed: int, choice: int, sizes: list[int]) -> None:
        """Send a legal message, preferably one that was seldom sent so far: random messages do not reach deep states."""
        steps = self.possible(seed, is_legal=True)
        if choice % 16 == 0:
            self.restart()
            return
        if not steps:
            return
        role, frame = self.seldom(steps, choice // 16)
        self.say(role, frame)
        self.deliver_all(role, sizes)

    @rule(seed=SEEDS, choice=CHOICES, for_good=RARELY)
    def cheat(self, seed: int, choice: int, for_good: bool) -> None:
        """Say what is illegal, rather what was seldom said so far."""
        steps = self.possible(seed, is_legal=False)
        if steps:
            role, frame = self.seldom(steps, choice)
            assert not self.say(role, frame, for_good=for_good)

    def possible(self, seed: int, *, is_legal: bool) -> dict[Any, tuple[str, Any]]:
        """Return a step of each kind: of states that change, or else of messages; or of violations."""
        found: dict[Any, tuple[str, Any]] = {}
        for frame in [frame for each in range(3) for frame in self.frames(seed + each)]:
            for role in self.roles:
                if self.may_frame(role, frame):
                    decision = self.sides[role]._engine.decide(role, frame, self.now)
                    if (decision.refusal is None) == is_legal:
                        found.setdefault(kind_of(decision, frame), (role, frame))
        return found

    def seldom(self, steps: dict[Any, tuple[str, Any]], choice: int) -> tuple[str, Any]:
        """Return one of the steps that were taken least, and with messages that were said least."""
        counts = {
            kind: self.taken[kind] + self.taken[type(frame.message)] for kind, (_, frame) in steps.items()
        }
        kinds = [kind for kind, count in counts.items() if count == min(counts.values())]
        chosen = kinds[choice % len(kinds)]
        self.taken.update((chosen, type(steps[chosen][1].message)))
        return steps[chosen]

    def may_frame(self, role: str, frame: Any) -> bool:
        """Say whether the frames of a role are of that class: another's would be read as something else."""
        return isinstance(frame, self.sides[role]._package.frames[role])


def kind_of(decision: Any, frame: Any) -> Any:
    if decision.refusal is not None:
        return str(decision.refusal.name)
    moves = {
        (instance.table.name, instance.state, row.state)
        for instance, row, _ in decision.moves
        if row.state not in (STAY, instance.state)
    }
    return frozenset(moves) if moves else type(frame.message)


@pytest.mark.parametrize("is_strict", [False, True], ids=["lenient", "strict"])
@pytest.mark.parametrize("name", NAMES)
def test_two_sides_agree(name: str, is_strict: bool) -> None:
    machine = type(f"Talking_{name}", (Talking,), {"name": name, "options": {"strict": is_strict}})
    fewer: Callable[..., Any] = settings(SETTINGS, max_examples=SETTINGS.max_examples // 2)
    run_state_machine_as_test(machine, settings=fewer)  # type: ignore[arg-type]


def test_every_protocol_with_sessions_is_here() -> None:
    shipped = {each.name for each in pkgutil.iter_modules(wireproto.__path__) if each.ispkg}
    assert shipped - {"_runtime"} == set(NAMES)
