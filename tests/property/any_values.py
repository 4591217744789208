"""Random frames of the generated classes for every message of a protocol: most of them can be written."""

from __future__ import annotations

import random
from typing import Any

from wiregen.conformance.samples import RandomChoices, SampleBasis, SampleValue, grow
from wiregen.conformance.samples.choices import CONTEXT, UngrownError
from wiregen.runtime.reference.objects import build
from wiregen.runtime.reference.tree import FrameValue
from wiregen.runtime.schema.declarations import Message
from wiregen.runtime.schema.node import nodes_in
from wiregen.runtime.schema.protocol import Schema
from wiregen.runtime.schema.types import MessageReference

_N_ATTEMPTS = 60


class AnyValues:
    """Makes frames of one generated package; equal seeds make equal frames.

    Derived fields and conditions are ignored, so that some frames cannot be written.
    """

    choices: type[RandomChoices] = RandomChoices

    def __init__(self, module: Any, plan: Schema) -> None:
        self._module = module
        self._schema = plan
        self._basis = SampleBasis(schema=plan)
        self._made: dict[int, list[tuple[str | None, Any]]] = {}

    def frames(self, seed: int) -> list[tuple[str | None, Any]]:
        """Return a frame with each message that it can carry, and who sends it."""
        if seed not in self._made:
            dice = random.Random(seed)
            self._made[seed] = [
                (role, build(self._schema, sample.value, vars(self._module)))
                for name in self._schema.messages
                for role, sample in self._samples(name, dice)
            ]
        return self._made[seed]

    def _samples(self, name: str, dice: random.Random) -> list[tuple[str | None, SampleValue]]:
        """Return a frame of each kind that can carry a message."""
        message = self._schema.messages[name]
        demands = self._demands(message)
        found = []
        for frame, role in self._senders(name, message).items():
            for _ in range(_N_ATTEMPTS):
                try:
                    sample = grow(
                        self._basis,
                        self.choices(dice=dice, by_site=demands),
                        role=role or self._schema.roles[0],
                    )
                except UngrownError:
                    continue
                if _is_meant(sample, frame, name):
                    found.append((role, sample))
                    break
        return found

    def _senders(self, name: str, message: Message) -> dict[str, str | None]:
        """Return who sends a message, by the frame that carries it."""
        found: dict[str, str | None] = {}
        for frame, declared in self._schema.frames.items():
            named = {each.name for each in nodes_in(declared.fields) if isinstance(each, MessageReference)}
            is_sent = message.code is not None and (
                None in (declared.role, message.role) or declared.role == message.role
            )
            if is_sent or name in named:
                found[frame] = declared.role or message.role
        return found

    def _demands(self, message: Message) -> dict[str, Any]:
        """Return the values with which a frame carries a message: of its code, and of contexts that hold one."""
        sites = (*self._basis.code_sites, *(f"{CONTEXT}{name}" for name in self._schema.contexts))
        return {} if message.code is None else dict.fromkeys(sites, message.code)


def _is_meant(sample: SampleValue, frame: str, message: str) -> bool:
    """Return whether a sample is a frame with that message, and equal to itself: without NaN."""
    value = sample.value
    taken = (choice.options[choice.taken][1] for choice in sample.made if choice.taken is not None)
    is_right = isinstance(value, FrameValue) and (value.name, getattr(value.message, "name", "")) == (
        frame,
        message,
    )
    return is_right and all(each == each for each in taken)  # noqa: PLR0124
