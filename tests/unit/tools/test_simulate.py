"""`simulate`: a peer that keeps the rules by chance or by a conversation, and the verdict on the other side."""

from __future__ import annotations

import re
import socket
import ssl
from pathlib import Path

import pytest
from tests.commands import called
from tests.interop.certificates import make_certificates
from tests.proxies import Ended, Listener, connected, received, running_tool

from wireproto import lumberjack as lj

ROOT = Path(__file__).resolve().parents[3]
LUMBERJACK = ROOT / "idl" / "lumberjack.wire"
TALK = ROOT / "tests" / "talk.wire"


def reader(peer: socket.socket) -> None:
    """Acknowledge events as a reader that keeps the rules: the last one of all that arrived together."""
    connection = lj.Connection("reader")
    while data := peer.recv(65536):
        events = connection.receive(data)
        assert not [event for event in events if not isinstance(event, lj.Received)], events
        outstanding = connection.transfer.outstanding
        if outstanding:
            peer.sendall(connection.send(lj.Ack(outstanding[-1])))


def simulated_writer(folder: Path, port: int, *more: str) -> Ended:
    with running_tool(
        folder, "simulate", LUMBERJACK, "--as", "writer", "--connect", str(port), *more
    ) as tool:
        return tool.wait()


def test_messages_by_chance_keep_the_rules(tmp_path: Path) -> None:
    target = Listener(reader)
    ended = simulated_writer(tmp_path, target.port, "--messages", "30", "--seed", "5")
    target.join()
    assert ended.code == 0, ended.errors
    sent = ended.messages("writer")
    assert len(sent) == 30
    assert {"Window", "Data", "Json"} <= set(sent)
    assert ended.messages("reader")
    assert "0 errors, 0 violations" in ended.summary


def test_the_same_seed_makes_the_same_choices(tmp_path: Path) -> None:
    """With a peer whose messages do not depend on time: one that sends none."""
    runs = []
    for seed in ("1", "1", "2"):
        target = Listener(received)
        ended = simulated_writer(
            tmp_path, target.port, "--messages", "8", "--seed", seed, "--pause", "0.001", "--timeout", "120"
        )
        target.join()
        runs.append([(line["message"], line["fields"]) for line in ended.lines])
    assert runs[0] == runs[1] != runs[2]


def test_a_listener_plays_the_other_role(tmp_path: Path) -> None:
    with running_tool(
        tmp_path, "simulate", LUMBERJACK, "--as", "reader", "--listen", "0", "--messages", "1"
    ) as tool:
        connection = lj.Connection("writer")
        with connected(tool.port()) as peer:
            peer.sendall(connection.send(lj.Window(1)) + connection.send(lj.Json(1, b"{}")))
            events = connection.receive(received(peer, 6))
        ended = tool.wait()
    assert [type(event) for event in events] == [lj.Received]
    assert (ended.code, ended.messages("reader")) == (0, ["Ack"])


def answering(*answers: bytes) -> Listener:
    """Return a peer that sends these bytes at once, and reads to the end."""

    def handle(peer: socket.socket) -> None:
        peer.sendall(b"".join(answers))
        received(peer)

    return Listener(handle)


@pytest.mark.parametrize(
    ("answer", "shown"),
    [
        (lj.encode(lj.Ack(7)), {"violation": "ack_out_of_window", "from": "reader", "offset": 0}),
        (b"9?" + bytes(8), {"offset": 0, "from": "reader", "size": 10}),
        (lj.encode(lj.Window(1)), {"violation": "wrong_direction", "from": "reader", "offset": 0}),
    ],
    ids=["rule", "bytes", "role"],
)
def test_a_peer_that_breaks_a_rule_is_a_finding(
    answer: bytes, shown: dict[str, object], tmp_path: Path
) -> None:
    target = answering(answer)
    ended = simulated_writer(tmp_path, target.port)
    target.join()
    assert ended.code == 1
    assert "error: reader broke a rule" in ended.errors
    assert any(shown.items() <= line.items() for line in ended.lines), ended.lines


def test_a_peer_that_closes_before_the_end_is_a_finding(tmp_path: Path) -> None:
    target = Listener(lambda peer: received(peer, 6))
    ended = simulated_writer(tmp_path, target.port)
    target.join()
    assert ended.code == 1
    assert "error: reader has closed the connection" in ended.errors


def test_a_conversation_is_played_with_a_peer_that_takes_its_part(tmp_path: Path) -> None:
    target = Listener(reader)
    ended = simulated_writer(tmp_path, target.port, "--conversation", "six events and one ack")
    target.join()
    assert ended.code == 0, ended.errors
    assert ended.messages("writer") == ["Window", *["Data"] * 6]


def test_a_conversation_without_an_answer_is_a_finding(tmp_path: Path) -> None:
    target = Listener(received)
    ended = simulated_writer(
        tmp_path, target.port, "--conversation", "six events and one ack", "--timeout", "0.5"
    )
    target.join()
    assert ended.code == 1
    assert "error: reader has sent 0 of 1 messages within 0.5 s" in ended.errors


def test_messages_by_chance_end_with_the_time_of_the_run(tmp_path: Path) -> None:
    """With pauses after all messages it would take a thousand seconds at least."""
    target = Listener(reader)
    ended = simulated_writer(
        tmp_path,
        target.port,
        "--messages",
        "100000",
        "--pause",
        "0.01",
        "--seconds",
        "1.5",
        "--timeout",
        "120",
    )
    target.join()
    assert ended.code == 0, ended.errors
    assert len(ended.messages("writer")) < 100_000
    assert "0 errors, 0 violations" in ended.summary


def test_a_conversation_that_does_not_end_in_the_time_of_the_run_is_a_finding(tmp_path: Path) -> None:
    target = Listener(received)
    options = ("--conversation", "six events and one ack", "--timeout", "120", "--seconds", "1")
    ended = simulated_writer(tmp_path, target.port, *options)
    target.join()
    assert ended.code == 1
    assert "error: the conversation did not end within 1 s" in ended.errors


def test_no_peer_in_the_time_of_the_run_is_a_finding(tmp_path: Path) -> None:
    options = ("--as", "writer", "--listen", "0", "--timeout", "120", "--seconds", "0.5")
    with running_tool(tmp_path, "simulate", LUMBERJACK, *options) as tool:
        ended = tool.wait()
    assert ended.code == 1
    assert "error: no connection of reader within 0.5 s" in ended.errors


def test_both_sides_may_be_simulated(tmp_path: Path) -> None:
    """The conversations of a file with itself: each side accepts what the other one sends."""
    for name in ("six events and one ack", "a window that slides"):
        with running_tool(
            tmp_path, "simulate", LUMBERJACK, "--as", "reader", "--listen", "0", "--conversation", name
        ) as tool:
            ended = simulated_writer(tmp_path, tool.port(), "--conversation", name)
            other = tool.wait()
        assert (ended.code, other.code) == (0, 0), (name, ended.errors, other.errors)
        for role in ("writer", "reader"):
            assert ended.messages(role) == other.messages(role)


def test_two_peers_by_chance_keep_the_rules_of_every_construct(tmp_path: Path) -> None:
    for seed in ("1", "2"):
        bounds = ("--messages", "15", "--seed", seed, "--timeout", "120")
        with running_tool(tmp_path, "simulate", TALK, "--as", "answerer", "--listen", "0", *bounds) as tool:
            port = str(tool.port())
            with running_tool(
                tmp_path, "simulate", TALK, "--as", "asker", "--connect", port, *bounds
            ) as other:
                ended = other.wait()
            tool.wait()
        # Whoever has sent all and hears nothing for a moment closes, on a busy machine before the other one is done.
        n_sent = len(ended.messages("asker"))
        assert n_sent == 15 or (n_sent and "answerer has closed the connection" in ended.errors), ended.errors
        assert "0 errors, 0 violations" in ended.summary, ended.errors


def test_a_peer_with_tls(tmp_path: Path) -> None:
    made = make_certificates(tmp_path)
    server = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    server.load_cert_chain(made.server, made.server_key)

    def secured(peer: socket.socket) -> None:
        with server.wrap_socket(peer, server_side=True) as wire:
            reader(wire)

    target = Listener(secured)
    ended = simulated_writer(tmp_path, target.port, "--tls", "--ca", made.ca, "--messages", "5")
    target.join()
    assert ended.code == 0, ended.errors
    assert len(ended.messages("writer")) == 5


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ((), "either --connect or --listen"),
        (("--connect", "1", "--listen", "0"), "either --connect or --listen"),
        (("--connect", "x:y:z"), "is not HOST:PORT"),
        (("--connect", "1", "--conversation", "six events and one"), "six events and one ack"),
        (("--connect", "1", "--conversation", "a window said twice"), "violates `window_overrun`"),
        (("--connect", "1", "--ca", __file__), "is only for TLS"),
        (("--listen", "0", "--tls"), "needs --cert and --key"),
    ],
)
def test_a_wrong_option_is_refused(options: tuple[str, ...], message: str, tmp_path: Path) -> None:
    result = called("simulate", str(LUMBERJACK), "--as", "writer", *options, folder=tmp_path)
    assert result.exit_code == 2, result.output
    assert message in result.output


def test_no_peer_is_a_finding(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    result = called("simulate", str(LUMBERJACK), "--as", "writer", "--connect", str(port), folder=tmp_path)
    assert (result.exit_code, "no connection of reader" in result.output) == (1, True)
    result = called(
        "simulate", str(LUMBERJACK), "--as", "writer", "--listen", "0", "--timeout", "0.2", folder=tmp_path
    )
    assert result.exit_code == 1
    assert re.search("no connection of reader: the time is over", result.output)
