"""What the documents describe of a conversation is accepted, by both connections, the session and the reference codec's session."""

from __future__ import annotations

import pytest
from tests.conformance.conversations import Talk, check
from tests.conformance.documented_talks import TALKS
from tests.conformance.test_sessions import violations

from wireproto import lumberjack as lj
from wireproto import reactive_streams as rs


@pytest.mark.parametrize("strict", [False, True], ids=["lenient", "strict"])
@pytest.mark.parametrize("talk", [pytest.param(each, id=f"{each.protocol}: {each.name}") for each in TALKS])
def test_a_conversation_is_judged_as_its_document_says(talk: Talk, strict: bool) -> None:
    check(talk, strict=strict)


@pytest.mark.parametrize("strict", [False, True], ids=["lenient", "strict"])
def test_batches_that_are_numbered_anew_are_acknowledged_one_by_one(strict: bool) -> None:
    """libbeat's habit: several windows under way, each from 1; the ack once more of the one before is of no window."""
    writer = lj.Connection("writer", strict=strict)
    for _ in range(3):
        writer.send(lj.Window(4), version=lj.Version.V1)
        for sequence in (1, 2, 3, 4):
            writer.send(lj.Data(sequence, []))
    for ack, left in ((2, 10), (4, 8), (3, 5), (2, 5), (4, 4), (4, 0), (4, 0)):
        assert not violations(writer.receive(lj.encode(lj.Ack(ack))))
        assert len(writer.transfer.outstanding) == left


def test_an_id_that_cannot_be_told_apart_is_free_when_it_was_cancelled_and_quiet() -> None:
    """A second subscription of an id that was cancelled before its answer is not judged; after Cancel and a pause the id is new."""
    client = rs.Connection("client", strict=True)
    client.send(rs.ClientHello(0, []))
    assert not violations(client.receive(rs.encode(rs.ServerHello(0, []))))
    for message in (rs.Subscribe("p", 1, 1), rs.Cancel(1), rs.Subscribe("q", 1, 1)):
        client.send(message)
    assert client.subscription[1].state == "unsettled"
    client.send(rs.Cancel(1), now=1.0)
    assert not violations(client.receive(rs.encode(rs.Subscribed(1)), now=2.0))
    assert client.next_timeout() == 602.0
    client.tick(602.0)
    with pytest.raises(rs.SessionError) as caught:
        client.send(rs.Request(1, 1), now=603.0)
    assert caught.value.violation == "unknown_subscriber"


def test_a_goodbye_refuses_a_version_before_the_own_hello() -> None:
    """ "it MUST send a goodbye message (defined below) and close the connection", and the other side acknowledges it."""
    client, server = rs.Connection("client"), rs.Connection("server")
    [refused] = server.receive(rs.encode(rs.ClientHello(1, [])))
    assert isinstance(refused, rs.Violation) and refused.name == "unsupported_version"
    goodbye = server.send(rs.Goodbye("version 0 only"), despite="unsupported_version")
    client.send(rs.ClientHello(1, []), despite="unsupported_version")
    [received] = client.receive(goodbye)
    assert isinstance(received, rs.Received) and received.frame.message == rs.Goodbye("version 0 only")
    assert client.send(rs.Goodbye("")) == rs.encode(rs.Goodbye(""))
