"""Messages that are sent in fragments: blocks, frames and bytes, as each document divides them; reassembled
on the other side.
"""

from __future__ import annotations

from typing import Any
from uuid import UUID

import pytest

from wireproto import geode
from wireproto import pravega_proposal as proposal
from wireproto import reactive_streams as rs

ID = UUID(int=5)
SIZES = [1, 2, 7, 40]


def heard(connection: Any, data: bytes) -> list[Any]:
    """Return the frames that arrive, byte by byte; each must be valid."""
    events = [event for byte in data for event in connection.receive(bytes((byte,)))]
    assert {type(event).__name__ for event in events} <= {"Received"}
    return [event.frame for event in events]


def divided(mode: geode.Mode) -> tuple[geode.Connection, geode.Connection]:
    client, server = geode.Connection("client"), geode.Connection("server")
    heard(server, client.send(geode.Connect(mode)))
    return client, server


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("metadata", [None, [geode.RequestMetadata.JsonKey(True)]], ids=["bare", "metadata"])
def test_blocks(size: int, metadata: Any) -> None:
    """The flag that the header has in every piece is the whole message's."""
    client, server = divided(geode.Mode.DIVIDED)
    request = geode.GetRequest("/region" * 5, geode.GeodeValue.Integer(1), geode.GeodeValue.Null())
    data = client.send(request, correlation_id=5, metadata=metadata, split=size)
    observed = [event.frame for event in geode_session(data)]
    (frame,) = heard(server, data)
    assert (frame.message, frame.metadata, frame.part.last) == (request, metadata, True)
    assert [each.part.last for each in observed] == [False] * (len(observed) - 1) + [True]
    assert all(len(each.message.data) <= size for each in observed[:-1])
    assert client.calls.pending == server.calls.pending == (5,)
    answer = geode.GetResponse(geode.GeodeValue.String("x" * 50))
    (frame,) = heard(client, server.send(answer, correlation_id=5, split=size))
    assert frame.message == answer
    assert not (client.calls.pending or server.calls.pending)
    assert len(client.parts) == len(server.parts) == 0


def geode_session(data: bytes) -> list[Any]:
    session = geode.Session()
    session.observe("client", geode.encode(geode.Connect(geode.Mode.DIVIDED)))
    events = session.observe("client", data)
    assert {type(event).__name__ for event in events} == {"Received"}
    return events


def test_a_connection_of_whole_messages_sends_no_pieces() -> None:
    client, server = divided(geode.Mode.WHOLE)
    request = geode.GetRequest("/region", geode.GeodeValue.Integer(1), geode.GeodeValue.Null())
    before = repr(client.calls)
    with pytest.raises(geode.SessionError) as caught:
        client.send(request, correlation_id=5, split=4)
    assert (caught.value.violation, repr(client.calls), len(client.parts)) == ("partial_under_110", before, 0)
    data = client.send(request, correlation_id=5, split=1000)
    assert heard(server, data)[0].message == request


@pytest.mark.parametrize("size", SIZES)
def test_frames(size: int) -> None:
    """Begin, middle and end are found by trying: the last step's rules say which may come."""
    client, server = proposal.Connection("client"), proposal.Connection("server")
    message = proposal.SetupAppend(ID, "scope/stream/0" * 4)
    data = client.send(message, split=size)
    events = proposal.Session().observe("client", data)
    parts = [event.frame.message.part for event in events]  # type: ignore[union-attr]
    assert (parts[0], parts[-1]) == (proposal.Part.BEGIN, proposal.Part.END)
    assert set(parts[1:-1]) <= {proposal.Part.MIDDLE}
    (frame,) = heard(server, data)
    assert frame.message == message
    assert client.appender[ID].state == server.appender[ID].state == "setting_up"
    assert client.pieces["client"].state == server.pieces["client"].state == "none"


def test_a_last_piece_is_refused_with_what_it_makes_whole() -> None:
    """Sent by hand, a fragment is seen first and the whole message after it, as by its reader."""
    client, server = proposal.Connection("client"), proposal.Connection("server")
    event = proposal.encode(proposal.Event(b"ab"))

    def known() -> tuple[object, ...]:
        return client.context.snapshot(), repr(client.pieces["client"]), repr(client.block)

    data = client.send(proposal.PartialMessage(proposal.Part.BEGIN, event[:3]))
    before, last = known(), proposal.PartialMessage(proposal.Part.END, event[3:])
    with pytest.raises(proposal.SessionError, match="event_outside_block"):
        client.send(last)
    assert known() == before
    with pytest.raises(proposal.EncodeError, match="truncated"):
        client.send(proposal.PartialMessage(proposal.Part.END, b""))
    assert known() == before
    data += client.send(last, despite="event_outside_block")
    (violation,) = (each for each in server.receive(data) if isinstance(each, proposal.Violation))
    assert violation.name == "event_outside_block"
    assert client.pieces["client"].state == "none"


def subscribed(element_size: int) -> tuple[rs.Connection, rs.Connection]:
    client, server = rs.Connection("client"), rs.Connection("server")
    for sender, receiver, message in (
        (client, server, rs.ClientHello(0, [])),
        (server, client, rs.ServerHello(0, [])),
        (client, server, rs.Subscribe("p", 1, 2)),
        (server, client, rs.Subscribed(1, element_size)),
    ):
        heard(receiver, sender.send(message))
    return client, server


@pytest.mark.parametrize("size", SIZES)
def test_bytes(size: int) -> None:
    client, server = subscribed(0)
    data = server.send(rs.OnNextPart(1, 9, b"never "))
    data += server.send(rs.OnNextLastPart(1, 9, b"a whole element, and then some more of it"), split=size)
    (frame,) = heard(client, data)
    assert frame.part.joined == b"never a whole element, and then some more of it"
    assert client.subscription[1].credit == server.subscription[1].credit == 1
    assert client.subscription[1].open == ()


def test_the_size_of_what_is_joined_counts_for_the_sender_too() -> None:
    client, server = subscribed(6)
    (frame,) = heard(client, server.send(rs.OnNextLastPart(1, 9, b"abcdef"), split=4))
    assert frame.part.joined == b"abcdef"
    before = repr(server.subscription[1])
    with pytest.raises(rs.SessionError, match="split_size_mismatch"):
        server.send(rs.OnNextLastPart(1, 9, b"abcdefg"), split=4)
    assert repr(server.subscription[1]) == before
    assert heard(client, server.send(rs.OnNextLastPart(1, 9, b"ABCDEF"), split=4))[0].part.joined == b"ABCDEF"


@pytest.mark.parametrize("size", [0, -1, "3", 2.5, [3]])
def test_a_size_that_is_not_a_number_of_bytes_is_refused(size: Any) -> None:
    _, server = subscribed(0)
    with pytest.raises(ValueError, match="integer from 1 on, as a fragment has at least one byte, not "):
        server.send(rs.OnNextLastPart(1, 9, b"ab"), split=size)


@pytest.mark.parametrize(
    ("path", "values"), [("data", (1, 9, 5)), ("data", (1, 9, None)), ("subscriber", ([1], 9, b"abcdef"))]
)
def test_a_value_that_cannot_be_written_is_refused_before_it_is_divided(path: str, values: Any) -> None:
    client, server = subscribed(0)
    before = repr(server.subscription[1])
    with pytest.raises(rs.EncodeError, match=rf"OnNextLastPart\.{path}: invalid_value"):
        server.send(rs.OnNextLastPart(*values), split=3)
    assert repr(server.subscription[1]) == before
    assert heard(client, server.send(rs.OnNextLastPart(1, 9, b"abcdef"), split=3))[0].part.joined == b"abcdef"


def test_the_end_of_the_stream_in_a_divided_thing_is_a_fault() -> None:
    client, server = subscribed(0)
    heard(client, server.send(rs.OnNextPart(1, 9, b"never")))
    events: list[Any] = client.eof()
    assert [type(event).__name__ for event in events] == ["Fault", "Ended"]
    assert events[0].error.code == "truncated"
