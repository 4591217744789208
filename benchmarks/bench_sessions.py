"""The cost of sessions, next to decoders without them, and of connections that also write.

Run `make bench`, or `python benchmarks/bench_sessions.py [--quick]`. One call is a conversation of ROUNDS exchanges; the first line
of each table is 1.00, smaller is faster.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from types import ModuleType
from typing import Any
from uuid import UUID

from harness import compare, table

from wireproto import geode, lumberjack, pravega, reactive_streams

ROUNDS = 200


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """A conversation: who says what, in order, after what opens it. `sides`: who opened the connection, and the other one."""

    name: str
    package: ModuleType
    sides: tuple[str, str]
    opening: Sequence[tuple[str, Any]]
    exchange: Callable[[int], Sequence[tuple[str, Any]]]

    def said(self) -> list[tuple[str, Any]]:
        return [*self.opening, *(each for number in range(ROUNDS) for each in self.exchange(number))]


def cases() -> tuple[Case, ...]:
    lj, rs, g, p = lumberjack, reactive_streams, geode, pravega
    writer = UUID(int=1)
    null, key = g.GeodeValue.Null(), g.GeodeValue.Integer(7)
    return (
        Case(
            name="lumberjack, a window of 8 events and its ack",
            package=lj,
            sides=("writer", "reader"),
            opening=(),
            exchange=lambda _: [
                ("writer", lj.Window(8)),
                *(("writer", lj.Json(number, b'{"message": "hello"}')) for number in range(1, 9)),
                ("reader", lj.Ack(8)),
            ],
        ),
        Case(
            name="reactive_streams, a request of 8 and the elements",
            package=rs,
            sides=("client", "server"),
            opening=(
                ("client", rs.ClientHello(0, [])),
                ("server", rs.ServerHello(0, [])),
                ("client", rs.Subscribe("numbers", 1, 0)),
                ("server", rs.Subscribed(1, 0)),
            ),
            exchange=lambda _: [
                ("client", rs.Request(1, 8)),
                *(("server", rs.OnNext(1, b"0123456789abcdef")) for _ in range(8)),
            ],
        ),
        Case(
            name="geode, a get and its answer",
            package=g,
            sides=("client", "server"),
            opening=(("client", g.Connect(g.Mode.WHOLE)),),
            exchange=lambda number: [
                ("client", g.Request(g.GetRequest("region", key, null), correlation_id=number)),
                ("server", g.Response(g.GetResponse(key), correlation_id=number)),
            ],
        ),
        Case(
            name="pravega, a block, its end and its ack",
            package=p,
            sides=("client", "server"),
            opening=(
                ("client", p.Hello(17, 5)),
                ("server", p.Hello(17, 5)),
                ("client", p.SetupAppend(1, writer, "a/b/0", "")),
                ("server", p.AppendSetup(1, "a/b/0", writer, -(2**63))),
            ),
            exchange=lambda number: [
                ("client", p.AppendBlockEnd(writer, 0, b"", 1, number + 1, 1)),
                ("server", p.DataAppended(writer, number + 1, number)),
            ],
        ),
    )


def streams(case: Case) -> list[tuple[str, bytes]]:
    """Return the bytes of a conversation, one message each, as two connections give them to each other."""
    sides = {role: case.package.Connection(role) for role in case.sides}
    sent = []
    for role, message in case.said():
        data = sides[role].send(message)
        sent.append((role, data))
        [event] = sides[case.sides[role == case.sides[0]]].receive(data)
        assert type(event).__name__ == "Received", event
    return sent


def ways(case: Case) -> dict[str, Callable[[], object]]:
    """Return ways through a conversation: seen from outside, and as two connections that face each other."""
    package, sent = case.package, streams(case)

    def decode() -> int:
        contexts = {"context": package.Context()} if hasattr(package, "Context") else {}
        decoders = {role: package.Decoder(role, **contexts) for role in case.sides}
        return sum(len(list(decoders[role].feed(data))) for role, data in sent)

    def observe() -> int:
        session = package.Session()
        return sum(len(session.observe(role, data)) for role, data in sent)

    assert decode() == observe() == len(sent)
    return {
        "decoders alone": decode,
        "held to the sessions": observe,
        "sent and received": lambda: streams(case),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--quick", action="store_true", help="a few short rounds: to see that it runs and that all agree"
    )
    rounds, seconds = (3, 0.0005) if parser.parse_args().quick else (15, 0.05)
    for case in cases():
        print(table(case.name, compare(ways(case), rounds=rounds, seconds=seconds)))


if __name__ == "__main__":
    main()
