"""Run the sessions of a conversation with the reference codec, step by step, up to the first violation or error."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from wiregen.conformance.judge.implementation import CodecSetting, Move, Step, Traced
from wiregen.runtime.codec.errors import DecodeError
from wiregen.runtime.codec.options import Options
from wiregen.runtime.sessions.engine import Engine
from wiregen.runtime.sessions.events import Violation
from wiregen.runtime.sessions.table import Program
from wiregen.runtime.stream.context import Context
from wiregen.runtime.stream.reference_decoder import reference_decoder

__all__ = ["traced"]


def traced(
    program: Program, setting: CodecSetting, steps: Sequence[Step], options: Mapping[str, object]
) -> Traced:
    """Return the first violation and the transitions of the sessions in a conversation; `options` configure them."""
    watch = _Watch(program, setting, options)
    moves: list[tuple[Move, ...]] = []
    for step in steps:
        broken = next(watch.broken(step), None)
        moves.append(watch.moves())
        if broken is not None:
            return Traced(violation=broken, moves=tuple(moves))
    return Traced(moves=tuple(moves))


class _Watch:
    """One connection, observed from between its two sides."""

    def __init__(self, program: Program, setting: CodecSetting, options: Mapping[str, object]) -> None:
        limits = dict(setting.limits)
        context = Context(program.schema, limits=limits)
        self._engine = Engine(
            program,
            strict=setting.is_strict,
            limits=limits,
            contexts=context,
            options=options,
            variant=setting.variant,
        )
        self._trail: list[Any] = []
        self._engine.trail = self._trail
        self._decoders = {
            role: reference_decoder(
                program.schema,
                Options(
                    role, context=context, limits=limits, strict=setting.is_strict, variant=setting.variant
                ),
                "yield",
                context=context,
            )
            for role in program.roles
        }
        self._now = 0.0
        self._heard: list[Violation] | None = None
        context.listener = self._hear

    def broken(self, step: Step) -> Iterator[str]:
        """Yield the violations and errors of a step, lenient violations left out."""
        self._now = step.at
        timers = [event for event in self._engine.expire(step.at) if isinstance(event, Violation)]
        yield from (each.name for each in timers if not each.lenient)
        if step.role is None:
            return
        decoder = self._decoders[step.role]
        for _, _, item in decoder.finish_items() if step.is_end else decoder.items(step.data):
            if isinstance(item, DecodeError):
                violation = self._engine.miss(step.role, item, step.at)
                yield from () if violation is None else (violation.name,)
                yield item.code
                continue
            if self._heard is None:
                self._hear(item.value, step.role)
            heard, self._heard = self._heard or (), None
            yield from (each.name for each in heard if not each.lenient)

    def moves(self) -> tuple[Move, ...]:
        """Return the transitions since the last call."""
        found = tuple(dict.fromkeys((name, before, after) for name, _, before, after in self._trail))
        self._trail.clear()
        return found

    def _hear(self, frame: object, sender: str | None) -> None:
        if self._heard is None:
            self._heard = []
        assert sender is not None
        for inner in self._engine.step(sender, frame, self._now, self._heard):
            self._hear(inner, sender)
