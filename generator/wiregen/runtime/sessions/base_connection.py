"""The common part of one side of a connection and an observer of both: an engine, a context, and readers of frames."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal, TypeAlias

from ..codec.values import bounds_of
from .engine import Engine
from .events import Event, Violation
from .package import Package
from .receiving import Reading

__all__ = ["BaseConnection", "ErrorAction"]


ErrorAction: TypeAlias = Literal["close", "continue"]
"""The action of a connection after a recoverable error; the `.wire` file gives the protocol's own."""


class BaseConnection:
    """The common part of one side of a connection and an observer of both."""

    def __init__(
        self,
        package: Package,
        *,
        strict: bool,
        keep_going: bool,
        on_error: ErrorAction | None,
        limits: Any,
        context: Any,
        variant: str | None,
        options: Mapping[str, object],
        now: float,
    ) -> None:
        if on_error not in (None, "close", "continue"):
            raise ValueError(f"on_error is 'close' or 'continue', not {on_error!r}")
        bounds = bounds_of(limits, package.limits)
        if context is None and package.make_context is not None:
            context = package.make_context(limits=limits)
        self._package = package
        self._strict = strict
        self._keep_going = keep_going
        self._continues = (on_error or package.schema.on_error) == "continue"
        self._limits = limits
        self._context = context
        self._variant = variant
        self._engine = Engine(
            package.program,
            strict=strict,
            limits=bounds,
            contexts=context,
            options=options,
            variant=variant,
            now=now,
        )

    @property
    def context(self) -> Any:
        """The values that earlier messages set for later ones, or None if the protocol has no contexts and joins."""
        return self._context

    def next_timeout(self) -> float | None:
        """Return the time at which `tick` has an event, or None without a running timer."""
        return self._engine.next_timeout()

    def _reading(self, role: str, *, shows_pieces: bool) -> Reading:
        decoder = self._package.decoder(
            role, context=self._context, limits=self._limits, strict=self._strict, variant=self._variant
        )
        return Reading(
            self._package,
            self._engine,
            role,
            decoder,
            keep_going=self._keep_going,
            continues=self._continues,
            shows_pieces=shows_pieces,
        )

    def _expired(self, now: float) -> list[Event]:
        """Return the events of the timers that have run out."""
        events: list[Event] = []
        for event in self._engine.expire(now):
            events.append(event)
            if isinstance(event, Violation) and not event.lenient and not self._keep_going:
                break
        return events

    def _listen(self, reading: Reading) -> None:
        """Let the sessions see each frame before it changes the context."""
        if self._context is not None:
            self._context.listener = reading.observe
