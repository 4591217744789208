"""The rules of the protocols' sessions for which nobody made a vector: who may say what when, on both sides."""

from __future__ import annotations

from typing import Any, Final
from uuid import UUID

import pytest

from wireproto import geode as g
from wireproto import pravega as p
from wireproto import reactive_streams as rs

WRITER: Final = UUID(int=7)
STACK: Final = {"server_stack_trace": ""}


def names(events: list[Any]) -> list[str]:
    """Return the names of events: violations by their name, frames by their message's."""
    return [
        event.name if hasattr(event, "name") else type(getattr(event.frame, "message", event.frame)).__name__
        for event in events
    ]


def refusal(package: Any, connection: Any, message: Any, now: float = 0.0, **header: Any) -> str:
    """Return the name of the violation for which a message is not sent; the state is then unchanged."""
    with pytest.raises(package.SessionError) as caught:
        connection.send(message, now, **header)
    return str(caught.value.violation)


# ---- Pravega


def greeted(role: Any, *, strict: bool = False) -> p.Connection:
    connection = p.Connection(role, strict=strict)
    connection.send(p.Hello())
    connection.receive(p.encode(p.Hello()))
    return connection


@pytest.mark.parametrize("first", ["client", "server"])
def test_either_side_may_say_hello_first(first: Any) -> None:
    sides = {role: p.Connection(role, strict=True) for role in ("client", "server")}
    second = "server" if first == "client" else "client"
    for role, other in ((first, second), (second, first)):
        assert names(sides[other].receive(sides[role].send(p.Hello()))) == ["Hello"]
    assert {side.handshake.state for side in sides.values()} == {"greeted"}


def test_hellos_may_cross() -> None:
    sides = [p.Connection("client", strict=True), p.Connection("server", strict=True)]
    sent = [side.send(p.Hello()) for side in sides]
    assert [names(side.receive(data)) for side, data in zip(sides, reversed(sent), strict=True)] == [
        ["Hello"],
        ["Hello"],
    ]


def test_who_has_said_hello_need_not_wait() -> None:
    client = p.Connection("client", strict=True)
    assert client.send(p.Hello()) and client.send(p.KeepAlive())


@pytest.mark.parametrize("role", ["client", "server"])
@pytest.mark.parametrize("has_peer_greeted", [False, True])
def test_nothing_comes_before_the_hello_of_its_side(role: Any, has_peer_greeted: bool) -> None:
    for strict in (True, False):
        side = p.Connection(role, strict=strict)
        if has_peer_greeted:
            side.receive(p.encode(p.Hello()))
        if strict:
            assert refusal(p, side, p.KeepAlive()) == "message_before_hello"
        else:
            assert side.send(p.KeepAlive())


@pytest.mark.parametrize("strict", [False, True])
@pytest.mark.parametrize("peer", [p.Hello(4, 1), p.Hello(19, 18)])
def test_a_server_answers_a_hello_that_does_not_fit(peer: p.Hello, strict: bool) -> None:
    client, server = p.Connection("client", strict=strict), p.Connection("server", strict=strict)
    assert names(server.receive(client.send(peer))) == ["Hello"]
    assert refusal(p, server, p.Hello()) == "incompatible_version"
    answer = server.send(p.Hello(), despite="incompatible_version")
    assert names(client.receive(answer)) == ["incompatible_version"] and client.is_closed


@pytest.mark.parametrize("peer", [p.Hello(4, 1), p.Hello(19, 18)])
def test_a_server_that_spoke_first_sees_at_once_what_does_not_fit(peer: p.Hello) -> None:
    server = p.Connection("server")
    server.send(p.Hello())
    assert names(server.receive(p.encode(peer))) == ["incompatible_version"] and server.is_closed


@pytest.mark.parametrize(
    ("role", "message"),
    [("server", p.SealSegment(1, "s", "")), ("client", p.SegmentSealed(1, "s")), ("server", p.Padding(b""))],
)
def test_what_only_the_other_side_says_is_in_the_wrong_direction(role: Any, message: Any) -> None:
    side, peer = greeted(role), greeted("client" if role == "server" else "server")
    assert refusal(p, side, message) == "wrong_direction"
    events = peer.receive(p.encode(message))
    assert names(events) == ["wrong_direction"] and peer.is_closed
    assert "replies from the server" in str(events[0])


REFUSALS: Final[list[Any]] = [
    p.WrongHost(5, "a/b/0", "", **STACK),
    p.NoSuchSegment(5, "a/b/0", **STACK, offset=-1),
    p.SegmentIsSealed(5, "a/b/0", **STACK, offset=-1),
    p.AuthTokenCheckFailed(5, **STACK, error_code=p.AuthError.CHECK_FAILED),
    p.OperationUnsupported(5, "setup", **STACK),
    p.ErrorMessage(5, "a/b/0", "no", p.ErrorCode.UNSPECIFIED),
]


@pytest.mark.parametrize("answer", REFUSALS, ids=lambda each: type(each).__name__)
def test_a_writer_that_is_refused_is_unknown_again(answer: Any) -> None:
    client = greeted("client")
    client.send(p.SetupAppend(5, WRITER, "a/b/0", ""))
    other = UUID(int=8)
    client.send(p.SetupAppend(6, other, "a/b/1", ""))
    assert names(client.receive(p.encode(answer))) == [type(answer).__name__]
    assert WRITER not in client.writer
    assert client.writer[other].state == "setting_up"
    assert refusal(p, client, p.AppendBlockEnd(WRITER, 0, b"", 1, 1, 5)) == "append_before_setup"
    client.send(p.SetupAppend(7, WRITER, "a/b/0", ""))
    assert client.writer[WRITER].state == "setting_up"


def test_an_error_that_answers_an_append_leaves_the_writer_ready() -> None:
    client = greeted("client")
    client.send(p.SetupAppend(5, WRITER, "a/b/0", ""))
    client.receive(p.encode(p.AppendSetup(5, "a/b/0", WRITER, 0)))
    client.send(p.AppendBlockEnd(WRITER, 0, b"", 1, 1, 5))
    client.receive(p.encode(p.NoSuchSegment(5, "a/b/0", **STACK, offset=-1)))
    assert client.writer[WRITER].state == "ready" and client.writer[WRITER].outstanding == (1,)


@pytest.mark.parametrize("strict", [False, True])
def test_an_ack_that_is_repeated_is_noted(strict: bool) -> None:
    client = greeted("client", strict=strict)
    client.send(p.SetupAppend(5, WRITER, "a/b/0", ""))
    client.receive(p.encode(p.AppendSetup(5, "a/b/0", WRITER, -(2**63))))
    for number in (1, 2):
        client.send(p.AppendBlockEnd(WRITER, 0, b"", 1, number, 5))
    ack = p.encode(p.DataAppended(WRITER, 1, 0))
    assert names(client.receive(ack)) == ["DataAppended"]
    again: list[Any] = client.receive(ack)
    assert names(again) == (["repeated_ack"] if strict else ["repeated_ack", "DataAppended"])
    assert again[0].lenient is not strict
    assert client.is_closed == strict
    assert client.writer[WRITER].outstanding == (2,)


# ---- Geode

ONE: Final = g.GeodeValue.Integer(1)
NULL: Final = g.GeodeValue.Null()
GET: Final = g.GetRequest("r", ONE, NULL)
PAIRS: Final[list[tuple[Any, Any]]] = [
    (g.PutRequest("r", ONE, NULL, NULL), g.PutResponse(True)),
    (GET, g.GetResponse(ONE)),
    (g.PutAllRequest("r", [], NULL), g.PutAllResponse(0)),
    (g.GetAllRequest("r", [], NULL), g.GetAllResponse([])),
    (g.ServerConfigRequest(b""), g.ServerConfigResponse(b"")),
    (g.AuthRequest(b""), g.AuthResponse(b"")),
    (g.ClientConfigRequest(b""), g.ClientConfigResponse(b"")),
]
"""Each request with its response."""


def connected(mode: g.Mode = g.Mode.WHOLE, **settings: Any) -> tuple[g.Connection, g.Connection]:
    """Return a client and a server after the connect byte."""
    client, server = g.Connection("client", **settings), g.Connection("server", **settings)
    server.receive(client.send(g.Connect(mode)))
    return client, server


@pytest.mark.parametrize("variant", [None, "example"])
@pytest.mark.parametrize("number", range(len(PAIRS)))
def test_a_response_of_another_kind_than_its_request_is_not_sent(number: int, variant: Any) -> None:
    request, own = PAIRS[number]
    client, server = connected(variant=variant)
    server.receive(client.send(request, correlation_id=1))
    for _, response in PAIRS[:number] + PAIRS[number + 1 :]:
        assert refusal(g, server, response, correlation_id=1) == "wrong_kind"
        partial = {"correlation_id": 1, "status": g.Status.PARTIAL_RESPONSE}
        assert refusal(g, server, response, **partial) in ("wrong_kind", "partial_scalar")
    assert refusal(g, server, g.Unknown(None, b"\1"), correlation_id=1) == "wrong_kind"
    assert refusal(g, server, g.ErrorResponse("no"), correlation_id=1) == "wrong_kind"
    assert names(client.receive(server.send(own, correlation_id=1))) == [type(own).__name__]


def test_an_error_answers_every_request() -> None:
    client, server = connected()
    for number, (request, _) in enumerate(PAIRS):
        server.receive(client.send(request, correlation_id=number))
        error = server.send(g.ErrorResponse("no"), correlation_id=number, status=g.Status.GENERIC_ERROR)
        assert names(client.receive(error)) == ["ErrorResponse"]


def test_a_response_of_another_kind_is_not_sent_in_pieces_either() -> None:
    client, server = connected(g.Mode.DIVIDED)
    server.receive(client.send(GET, correlation_id=1))
    with pytest.raises(g.SessionError, match="wrong_kind"):
        server.send(g.PutAllResponse(0), correlation_id=1, split=2)
    assert server.send(g.GetResponse(ONE), correlation_id=1, split=2)


def test_the_connect_byte_comes_first_once_and_from_the_client() -> None:
    client, server = g.Connection("client"), g.Connection("server")
    assert refusal(g, client, GET, correlation_id=1) == "message_before_connect"
    assert refusal(g, server, g.Connect(g.Mode.WHOLE)) == "wrong_direction"
    client.send(g.Connect(g.Mode.DIVIDED))
    for _ in range(2):
        assert refusal(g, client, g.Connect(g.Mode.WHOLE)) == "second_connect"
        client.send(GET, correlation_id=1) if not client.calls.pending else None


@pytest.mark.parametrize(("request_", "response"), PAIRS, ids=lambda each: type(each).__name__)
def test_requests_come_from_the_client_and_responses_from_the_server(request_: Any, response: Any) -> None:
    client, server = connected()
    server.receive(client.send(request_, correlation_id=1))
    assert refusal(g, server, request_, correlation_id=1) == "wrong_direction"
    assert refusal(g, client, response, correlation_id=1) == "wrong_direction"


def test_an_empty_part_is_noted_and_adds_nothing() -> None:
    client, server = connected(g.Mode.DIVIDED)
    events: list[Any] = server.receive(client.send(g.RequestPart(b""), correlation_id=1, is_partial=True))
    assert [event.name for event in events if isinstance(event, g.Violation)] == ["empty_fragment"]
    assert all(event.lenient for event in events if isinstance(event, g.Violation))


def test_a_part_says_that_it_is_one_and_is_not_empty() -> None:
    client, _ = connected(g.Mode.DIVIDED)
    assert refusal(g, client, g.RequestPart(b"abc"), correlation_id=1) == "wrong_kind"
    assert refusal(g, client, g.RequestPart(b""), correlation_id=1) == "wrong_kind"
    strict = g.Connection("client", strict=True)
    strict.send(g.Connect(g.Mode.DIVIDED))
    assert refusal(g, strict, g.RequestPart(b""), correlation_id=1, is_partial=True) == "empty_fragment"
    with pytest.raises(g.EncodeError):
        client.send(GET, correlation_id=1, is_partial=True)
    assert client.send(g.RequestPart(b"abc"), correlation_id=2, is_partial=True)
    assert client.send(GET, correlation_id=1, split=3)


# ---- Reactive Streams


def talking(*, strict: bool = True) -> tuple[rs.Connection, rs.Connection]:
    """Return a client that subscribes and a server that publishes, after their hellos."""
    client, server = rs.Connection("client", strict=strict), rs.Connection("server", strict=strict)
    server.receive(client.send(rs.ClientHello(0, [])))
    client.receive(server.send(rs.ServerHello(0, [])))
    return client, server


def subscribed(size: int = 0) -> tuple[rs.Connection, rs.Connection]:
    client, server = talking()
    server.receive(client.send(rs.Subscribe("news", 1, 9)))
    client.receive(server.send(rs.Subscribed(1, size)))
    return client, server


def whole(messages: list[Any]) -> list[str]:
    """Return the names of messages that are events: a part that is not the last is not one."""
    return [type(message).__name__ for message in messages if not isinstance(message, rs.OnNextPart)]


UNDER_WAY: Final = [
    [rs.OnNext(1, b"abcd")],
    [rs.OnNextPacked(1, 2, b"abcdefgh")],
    [rs.OnNextPart(1, 3, b"ab"), rs.OnNextLastPart(1, 3, b"cd")],
    [rs.OnNext(1, b"abcd"), rs.OnComplete(1)],
    [rs.OnNext(1, b"abcd"), rs.OnError(1, "no")],
]


@pytest.mark.parametrize("messages", UNDER_WAY, ids=lambda each: type(each[-1]).__name__)
def test_what_is_under_way_when_the_subscriber_says_goodbye_is_taken(messages: list[Any]) -> None:
    client, server = subscribed(4)
    sent = b"".join(server.send(message) for message in messages)
    goodbye = client.send(rs.Goodbye("enough"))
    assert names(client.receive(sent)) == whole(messages)
    assert names(server.receive(goodbye)) == ["Goodbye"]
    assert names(client.receive(server.send(rs.Goodbye("")))) == ["Goodbye"]
    assert refusal(rs, client, rs.Cancel(1)) == "message_after_goodbye"
    assert names(client.receive(rs.encode(rs.OnComplete(1)))) == ["message_after_goodbye"]


def test_what_a_subscriber_says_crosses_the_publishers_goodbye() -> None:
    client, server = subscribed()
    said: list[Any] = [rs.Request(1, 2), rs.Cancel(1), rs.Subscribe("more", 2, 1), rs.Goodbye("")]
    sent = b"".join(client.send(message) for message in said)
    server.send(rs.Goodbye("down"))
    assert names(server.receive(sent)) == ["Request", "Cancel", "Subscribe", "Goodbye"]


@pytest.mark.parametrize("messages", UNDER_WAY, ids=lambda each: type(each[-1]).__name__)
def test_an_id_that_is_used_again_still_gets_what_was_under_way(messages: list[Any]) -> None:
    client, server = subscribed(4)
    sent = b"".join(server.send(message) for message in messages)
    asked = client.send(rs.Cancel(1)) + client.send(rs.Subscribe("other", 1, 1))
    assert names(client.receive(sent)) == whole(messages)
    assert names(server.receive(asked)) == ["Cancel", "Subscribe"]
    answer = server.send(rs.Subscribed(1, 2)) + server.send(rs.OnNext(1, b"xy"))
    events = client.receive(answer)
    assert names(events) == ["Subscribed", "OnNext"] and client.failure is None
    assert events[-1].frame.message.element == b"xy"  # type: ignore[union-attr]


def test_the_demand_of_an_id_that_is_used_again_is_its_own() -> None:
    client, server = subscribed()
    sent = b"".join(server.send(rs.OnNext(1, b"")) for _ in range(3))
    server.receive(client.send(rs.Cancel(1)) + client.send(rs.Subscribe("other", 1, 1)))
    client.receive(sent)
    client.receive(server.send(rs.Subscribed(1)))
    assert names(client.receive(server.send(rs.OnNext(1, b"")))) == ["OnNext"]
    assert refusal(rs, server, rs.OnNext(1, b"")) == "demand_exceeded"
    assert names(client.receive(b"\x07\x01\x00")) == ["demand_exceeded"]


def test_an_id_cancelled_before_subscribed_and_used_again_is_not_held_to_either() -> None:
    """Which of the two Subscribed answers cannot be told, nor whether there are two."""
    client, server = talking()
    ask = client.send(rs.Subscribe("news", 1, 1))
    cancel, again = client.send(rs.Cancel(1)), client.send(rs.Subscribe("other", 1, 1))
    server.receive(ask)
    sent = [server.send(rs.Subscribed(1)), server.send(rs.OnNext(1, b"old"))]
    server.receive(cancel + again)
    sent += [server.send(rs.Subscribed(1)), server.send(rs.OnNext(1, b"new"))]
    assert names(client.receive(b"".join(sent))) == ["Subscribed", "OnNext"] * 2
    assert client.failure is None
