"""Streams of every shipped protocol for tests: whole connections by chance, those with contexts and preambles included."""

from __future__ import annotations

import random
from dataclasses import dataclass
from itertools import islice
from typing import Any

from tests.built_schema import schema_of
from tests.property import grown

from wiregen.runtime.codec.options import Options
from wiregen.runtime.reference.explain import explain
from wiregen.runtime.schema.protocol import Schema
from wireproto import geode
from wireproto import reactive_streams as rs
from wirespark.packages import package_of

__all__ = ["STREAMS", "Stream", "stream_of"]

STREAMS = ("lumberjack", "pravega", "pravega_documented", "pravega_proposal", "geode", "reactive_streams")

FREE: dict[str, Any] = {"n_others": 1.0, "cuts_regions": False, "deep": 2}
"""Boundary values come in many frames, so that what damage leaves of two of them would often be a third."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Stream:
    """The bytes that one role sends; `ends` are the ends of its frames."""

    protocol: str
    role: str
    data: bytes
    ends: tuple[int, ...]


def stream_of(protocol: str, seed: int, n_frames: int = 60) -> Stream:
    """Return a stream whose frames are right, each of them written by a codec that knew of those before."""
    dice = random.Random(f"{protocol} {seed}")
    role, frames = {"geode": _geode, "reactive_streams": _reactive_streams}.get(protocol, _by_chance)(
        protocol, dice, n_frames
    )
    ends, end = [], 0
    for frame in frames:
        end += len(frame)
        ends.append(end)
    return Stream(protocol=protocol, role=role, data=b"".join(frames), ends=tuple(ends))


def _by_chance(protocol: str, dice: random.Random, n_frames: int) -> tuple[str, list[bytes]]:
    plan = schema_of(package_of(protocol).native)
    role = dice.choice(plan.roles)
    options = Options(role)
    made = (data for _, data in grown.frames(plan, dice, 4 * n_frames, options, **FREE))
    own = (data for data in made if _is_own(plan, data, options))
    return role, [*islice((data for data in own if dice.random() < 0.2 or not _is_odd(data)), n_frames)]


def _is_odd(data: bytes) -> bool:
    """Say whether a frame may have text that Java writes in its own way: kernels leave it to the objects."""
    return b"\xc0\x80" in data or b"\xed" in data


def _is_own(plan: Schema, data: bytes, options: Options) -> bool:
    """Say whether the role may send a frame by itself: pieces of something want others."""
    message = explain(plan, data, 0, len(data), options).value.message
    name = getattr(message, "name", "")
    known = plan.messages.get(name)
    pieces = {each.target for join in plan.joins.values() for each in (*join.parts, *join.lasts)}
    return known is not None and known.role in (None, options.from_role) and name not in pieces


def _geode(protocol: str, dice: random.Random, n_frames: int) -> tuple[str, list[bytes]]:
    """Return the messages of a client: its preamble, then requests, some of them in fragments with others between."""
    opening = geode.Connect(geode.Mode.DIVIDED).encode()
    waiting = [_request(number, dice) for number in range(n_frames)]
    frames = []
    while waiting:
        request = waiting[dice.randrange(min(3, len(waiting)))]
        frames.append(request.pop(0))
        waiting = [each for each in waiting if each]
    return "client", [opening, *frames]


def _request(number: int, dice: random.Random) -> list[bytes]:
    """Return the frames of a request: one, or its pieces."""
    key = geode.GeodeValue.Integer(number)
    value = geode.GeodeValue.StringBytes("v" * dice.randrange(200))
    frame = geode.Request(
        geode.PutRequest("region", key, geode.GeodeValue.Null(), value), correlation_id=number
    )
    if dice.random() < 0.6:
        return [frame.encode()]
    block = frame.encode()[10:]
    ends = [*sorted(dice.sample(range(1, len(block)), dice.randrange(1, 4))), len(block)]
    return [
        geode.Request(
            geode.RequestPart(block[start:end]), correlation_id=number, is_partial=end != len(block)
        ).encode()
        for start, end in zip([0, *ends], ends, strict=False)
    ]


def _reactive_streams(protocol: str, dice: random.Random, n_frames: int) -> tuple[str, list[bytes]]:
    """Return the messages of a publisher: elements whose layout an earlier message gave, some in parts."""
    context = rs.Context()
    sizes: dict[int, int] = {}
    frames = []

    def send(message: Any) -> None:
        frames.append(rs.encode(message, from_role="server", context=context))
        context.apply(rs.Message(message), "server")

    send(rs.ServerHello(extensions=[]))
    while len(frames) < n_frames:
        subscriber = dice.randrange(5)
        if subscriber not in sizes or dice.random() < 0.1:
            sizes[subscriber] = dice.choice((0, 0, 1, 7, 300))
            send(rs.Subscribed(subscriber, sizes[subscriber]))
            continue
        size = sizes[subscriber] or dice.randrange(40)
        match dice.randrange(4):
            case 0 | 1:
                send(rs.OnNext(subscriber, dice.randbytes(size)))
            case 2:
                send(rs.OnNextPart(subscriber, dice.randrange(3), dice.randbytes(dice.randrange(20))))
            case _:
                send(rs.OnNextLastPart(subscriber, dice.randrange(3), dice.randbytes(dice.randrange(20))))
    return "server", frames
