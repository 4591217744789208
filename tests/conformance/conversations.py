"""Conversations compared with every implementation of sessions: the session, both connections, and the one
of `replay`.
"""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from tests.conformance.tracing import ROOT, plan_of

from wiregen.runtime.sessions.table import Program
from wiregen.runtime.stream.context import Context
from wiregen.tools.cli.decoding_options import DecodingSettings
from wiregen.tools.cli.direction import Direction
from wiregen.tools.cli.replayed import Watch

__all__ = ["Said", "Talk", "check"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Said:
    """A message, a frame or a preamble of one side."""

    role: str
    value: Any


@dataclass(frozen=True, slots=True, kw_only=True)
class Talk:
    """The messages of two sides, and their violations: by name, in order.

    `is_noted`: all violations are tolerated unless strict; `noted`: those with these names are.
    """

    protocol: str
    name: str
    said: tuple[Said, ...]
    breaks: tuple[str, ...] = ()
    is_noted: bool = False
    noted: tuple[str, ...] = ()
    options: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Seen:
    """A rule that was broken, and whether that was tolerated."""

    name: str
    is_noted: bool


def check(talk: Talk, *, strict: bool) -> None:
    """Let each of the four go through a conversation; all of them see the same."""
    wanted = [
        Seen(name=name, is_noted=(talk.is_noted or name in talk.noted) and not strict) for name in talk.breaks
    ]
    package = importlib.import_module(f"wireproto.{talk.protocol}")
    written = _between_connections(talk, package, wanted, strict=strict)
    session = package.Session(strict=strict, **talk.options)
    observed = [session.observe(said.role, data) for said, data in zip(talk.said, written, strict=True)]
    assert _seen(event for events in observed for event in events) == wanted
    assert _replayed(talk, written, strict=strict) == wanted


def _between_connections(talk: Talk, package: Any, wanted: list[Seen], *, strict: bool) -> list[bytes]:
    """Return the written bytes; each side has sent and received, and the senders knew their violations."""
    sides = {
        role: package.Connection(role, strict=strict, keep_going=True, **talk.options)
        for role in package.Session()._package.roles
    }
    written, received, refused = [], [], []
    for said in talk.said:
        (other,) = sides.keys() - {said.role}
        try:
            data = sides[said.role].send(said.value)
        except package.SessionError as error:
            refused.append(error.violation)
            data = sides[said.role].send(said.value, despite=error.violation)
        written.append(data)
        received += sides[other].receive(data)
    assert _seen(received) == wanted
    assert refused == [each.name for each in wanted if not each.is_noted]
    return written


def _seen(events: Any) -> list[Seen]:
    found = []
    for event in events:
        assert type(event).__name__ != "Fault", event
        if type(event).__name__ == "Violation":
            found.append(Seen(name=event.name, is_noted=event.lenient))
    return found


def _replayed(talk: Talk, written: list[bytes], *, strict: bool) -> list[Seen]:
    """Return the violations that the reference codec and its session see."""
    plan = plan_of(ROOT / "idl" / f"{talk.protocol}.wire")
    settings, context = DecodingSettings(schema=plan, is_strict=strict, limits={}), Context(plan)
    directions = {role: Direction(settings, role, context) for role in plan.roles}
    watch = Watch(Program(plan), settings, context, options=talk.options, closes=plan.on_error == "close")
    found = []
    for said, data in zip(talk.said, written, strict=True):
        for replayed in map(watch.judge, directions[said.role].feed(data)):
            assert not replayed.is_fault
            found += [Seen(name=each.name, is_noted=each.lenient) for each in replayed.violations]
    return found
