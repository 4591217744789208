"""Conversations in the documents are accepted by both connections, the session and the reference codec's session."""

from __future__ import annotations

from typing import Any, Literal
from uuid import UUID

import pytest
from tests.conformance.conversations import Talk, check
from tests.conformance.documented_talks import TALKS
from tests.conformance.test_sessions import violations

from wireproto import lumberjack as lj
from wireproto import pravega_documented as pd
from wireproto import pravega_proposal as pp
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
    noted, hello = server.receive(client.send(rs.ClientHello(1, [])))
    assert isinstance(noted, rs.Violation) and noted.name == "unsupported_version" and noted.lenient
    assert isinstance(hello, rs.Received)
    [received] = client.receive(server.send(rs.Goodbye("version 0 only")))
    assert isinstance(received, rs.Received) and received.frame.message == rs.Goodbye("version 0 only")
    [answered] = server.receive(client.send(rs.Goodbye("")))
    assert isinstance(answered, rs.Received)


def test_a_strict_side_refuses_another_version_and_its_goodbye_takes_despite() -> None:
    client, server = rs.Connection("client"), rs.Connection("server", strict=True)
    [refused] = server.receive(client.send(rs.ClientHello(1, [])))
    assert isinstance(refused, rs.Violation) and refused.name == "unsupported_version"
    goodbye = server.send(rs.Goodbye("version 0 only"), despite="unsupported_version")
    [received] = client.receive(goodbye)
    assert isinstance(received, rs.Received) and client.send(rs.Goodbye("")) == rs.encode(rs.Goodbye(""))


@pytest.mark.parametrize("role", ["client", "server"])
def test_only_a_goodbye_follows_a_hello_of_another_version(role: Literal["client", "server"]) -> None:
    """Messages in transit are noted; the Goodbye is not, nor its answer."""
    other = {"client": "server", "server": "client"}[role]
    hellos: dict[str, Any] = {"client": rs.ClientHello, "server": rs.ServerHello}
    session = rs.Session()

    def noted(sender: str, message: Any) -> list[str]:
        events: list[Any] = list(session.observe(sender, rs.encode(message)))
        assert not violations(events)
        return [event.name for event in events if isinstance(event, rs.Violation)]

    assert noted(other, hellos[other](1, [])) == ["unsupported_version"]
    assert noted(role, hellos[role](0, [])) == ["only_goodbye_follows"]
    assert noted(role, rs.Subscribe("p", 1, 1)) == ["only_goodbye_follows"]
    assert noted(other, rs.Subscribe("q", 1, 1)) == []
    assert noted(role, rs.Goodbye("version 0 only")) == noted(other, rs.Goodbye("")) == []


@pytest.mark.parametrize("ends", [(7, 8), (8, 7)], ids=["in order", "the other way round"])
def test_blocks_of_two_writers_are_open_at_a_time(ends: tuple[int, int]) -> None:
    """Their Events are in the data of AppendBlock, which is not forbidden, and an end names its block."""
    event = bytes.fromhex("00000000 00000002 6162")
    client, server = pd.Connection("client"), pd.Connection("server")
    for number in (7, 8):
        assert not violations(server.receive(client.send(pd.SetupAppend(number, UUID(int=number), "s", ""))))
        assert not violations(client.receive(server.send(pd.AppendSetup(number, "s", UUID(int=number), 0))))
    begin = [client.send(pd.AppendBlock(UUID(int=number), event)) for number in (7, 8)]
    assert names(server.receive(begin[0])) == []
    assert names(server.receive(begin[1])) == ["unexpected_in_append_block"]
    for number in ends:
        end = pd.AppendBlockEnd(UUID(int=number), len(event), b"", 1, 1)
        assert names(server.receive(client.send(end))) == []
    assert client.block.state == server.block.state == "closed"


def names(events: list[Any]) -> list[str]:
    assert not violations(events)
    return [event.name for event in events if type(event).__name__ == "Violation"]


@pytest.mark.parametrize("strict", [False, True], ids=["lenient", "strict"])
def test_a_writer_that_was_silent_is_not_refused(strict: bool) -> None:
    """No document names an end of a writer, so a day of silence forbids nothing."""
    client = pd.Connection("client", strict=strict)
    writer = UUID(int=7)
    client.send(pd.SetupAppend(1, writer, "s", ""), now=0.0)
    assert not violations(client.receive(pd.encode(pd.AppendSetup(1, "s", writer, 0)), now=1.0))
    day = client.next_timeout()
    assert day is not None and [type(event).__name__ for event in client.tick(day)] == ["TimedOut"]
    for message in (pd.AppendBlock(writer, b""), pd.AppendBlockEnd(writer, 0, b"", 1, 1)):
        client.send(message, now=day + 1)
    assert not violations(client.receive(pd.encode(pd.DataAppended(writer, 1, 0)), now=day + 2))


@pytest.mark.parametrize("strict", [False, True], ids=["lenient", "strict"])
def test_an_appender_that_was_silent_is_not_refused(strict: bool) -> None:
    client = pp.Connection("client", strict=strict)
    appender = UUID(int=7)
    client.send(pp.SetupAppend(appender, "s"), now=0.0)
    assert not violations(client.receive(pp.encode(pp.AppendSetup("s", appender, 0)), now=1.0))
    day = client.next_timeout()
    assert day is not None and [type(event).__name__ for event in client.tick(day)] == ["TimedOut"]
    for message in (
        pp.BeginAppendBlock(appender, 0, 9),
        pp.Event(b"a"),
        pp.EndAppendBlock(appender, 0, 9),
    ):
        client.send(message, now=day + 1)
    assert not violations(client.receive(pp.encode(pp.DataAppended(appender, 9)), now=day + 2))


def test_a_setup_in_an_open_block_is_noted_and_answered() -> None:
    """ "there can be multiple "Appends" setup": the page does not say that a block has to be over."""
    client, appender = pp.Connection("client"), UUID(int=7)
    client.send(pp.SetupAppend(appender, "s"))
    assert names(client.receive(pp.encode(pp.AppendSetup("s", appender, 0)))) == []
    for message in (pp.BeginAppendBlock(appender, 0, 9), pp.SetupAppend(appender, "s"), pp.Event(b"a")):
        client.send(message)
    assert names(client.receive(pp.encode(pp.AppendSetup("s", appender, 0)))) == []
    client.send(pp.EndAppendBlock(appender, 0, 9))
    assert names(client.receive(pp.encode(pp.DataAppended(appender, 9)))) == []
    assert client.appender[appender].state == "ready"


def test_elements_of_a_subscription_that_was_forgotten_are_noted() -> None:
    """After a cancellation, and silence for `limits.linger`, late elements were in transit, as far as the
    document says.
    """
    client = rs.Connection("client")
    client.send(rs.ClientHello(0, []))
    client.receive(rs.encode(rs.ServerHello(0, [])))
    client.send(rs.Subscribe("p", 1, 1))
    client.receive(rs.encode(rs.Subscribed(1)))
    client.send(rs.Cancel(1), now=1.0)
    client.tick(601.0)
    assert names(client.receive(rs.encode(rs.Subscribed(1)) + bytes.fromhex("07 01 01 61"), now=602.0)) == [
        "unknown_subscriber",
        "unknown_subscriber",
    ]


def test_a_wait_for_acks_that_no_document_limits_is_only_noted() -> None:
    writer = lj.Connection("writer")
    writer.send(lj.Window(1), now=0.0)
    writer.send(lj.Json(1, b"{}"), now=0.0)
    [late] = writer.tick(30.0)
    assert isinstance(late, lj.Violation) and late.name == "ack_timeout" and late.lenient
    assert not violations(writer.receive(lj.encode(lj.Ack(1)), now=40.0))
    strict = lj.Connection("writer", strict=True)
    strict.send(lj.Window(1), now=0.0)
    strict.send(lj.Json(1, b"{}"), now=0.0)
    assert violations(strict.tick(30.0)) == ["ack_timeout"]
