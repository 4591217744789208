"""`vectors run --connect` and `--listen`: conversation traces held with live peers, good and bad ones, in both roles."""

from __future__ import annotations

import asyncio
import json
import os
import re
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace
from functools import cache, partial
from pathlib import Path
from typing import Any, cast

import pytest
from click.testing import Result
from tests.built_schema import schema_of
from tests.interop.certificates import make_certificates
from tests.unit.tools.test_cli_decode import run

from wiregen.conformance.judge import Verdict
from wiregen.conformance.vectors.endpoints import Live, Patience, Script, Side, Unfit, script_of, talk
from wiregen.conformance.vectors.endpoints.conversation import Action, Finish, Hear, News, Send
from wiregen.conformance.vectors.endpoints.network import Network
from wiregen.conformance.vectors.endpoints.network import held as held_by_all
from wiregen.conformance.vectors.endpoints.script import ScriptStep
from wiregen.conformance.vectors.format import Trace, VectorFile, read_vectors
from wireproto import lumberjack as lj
from wireproto.lumberjack import aio

ROOT = Path(__file__).resolve().parents[3]
HOST = "127.0.0.1"
LUMBERJACK = ROOT / "idl" / "lumberjack.wire"
WINDOW, EVENT = lj.encode(lj.Window(1)), bytes.fromhex("32440000000000000000")


# ---- one conversation, without a network


@cache
def file_of(protocol: str) -> VectorFile:
    return read_vectors((ROOT / "generated" / "vectors" / f"{protocol}.json").read_bytes())


N_TRACES = sum(isinstance(vector, Trace) for vector in file_of("lumberjack").vectors)


def side_of(protocol: str, own: str, **more: Any) -> Side:
    plan = schema_of(protocol)
    peer = next(role for role in plan.roles if role != own)
    return Side(schema=plan, own=own, peer=peer, **more)


def script(id_: str, side: Side) -> Script:
    protocol = side.schema.name
    trace = next(vector for vector in file_of(protocol).vectors if vector.id == id_)
    assert isinstance(trace, Trace)
    return script_of(trace, side)


class Conversation:
    """A conversation with a peer that sends the test's messages; its clock advances with each silence."""

    def __init__(self, id_: str, side: Side, **patience: float) -> None:
        self.now = 0.0
        self.verdict: Verdict | None = None
        self._talk = talk(script(id_, side), Live(side=side), Patience(**patience), lambda: self.now)
        self.asked: Action | None = next(self._talk)

    def tell(self, news: News = None) -> Action | None:
        """Answer the last action; return the next one."""
        if isinstance(self.asked, Hear) and news is None:
            self.now += self.asked.seconds
        try:
            self.asked = self._talk.send(news)
        except StopIteration as stop:
            self.asked, self.verdict = None, stop.value
        return self.asked

    @property
    def outcome(self) -> tuple[str, str]:
        """Return the outcome, and the reason or the first finding."""
        assert self.verdict is not None, self.asked
        found = str(self.verdict.findings[0]) if self.verdict.findings else self.verdict.reason
        return self.verdict.outcome, found


WRITER, READER = side_of("lumberjack", "writer"), side_of("lumberjack", "reader")


def test_a_legal_conversation_is_accepted_when_the_peer_stays() -> None:
    talking = Conversation("trace-transfer-idle-writer-data-2", WRITER)
    assert talking.asked == Send(WINDOW)
    assert talking.tell() == Send(EVENT)
    assert talking.tell() == Hear(0.5)
    talking.tell(lj.encode(lj.Ack(0)))
    talking.tell()
    assert talking.outcome == ("passed", "")


def test_a_legal_conversation_is_refused_by_closing() -> None:
    talking = Conversation("trace-transfer-idle-writer-data-2", WRITER)
    talking.tell()
    talking.tell()
    talking.tell("closed")
    assert talking.outcome == ("failed", "step 2, Data: expected it accepted, found a closed connection")


@pytest.mark.parametrize(
    ("said", "found"),
    [
        pytest.param(lj.encode(lj.Ack(7)), "ack_out_of_window (Ack)", id="violation"),
        pytest.param(b"HTTP/1.1 400", "invalid_enum in the peer's bytes from 0 on", id="no frame"),
        pytest.param(WINDOW, "wrong_direction (Window)", id="wrong direction"),
    ],
)
def test_what_the_peer_says_must_be_legal(said: bytes, found: str) -> None:
    talking = Conversation("trace-transfer-idle-writer-data-2", WRITER)
    talking.tell()
    talking.tell()
    talking.tell(said)
    assert talking.outcome == ("failed", f"step 2, Data: expected legal messages, found {found}")


def test_a_violation_is_sent_when_nothing_is_under_way_and_must_be_refused() -> None:
    def until_sent() -> Conversation:
        talking = Conversation("trace-transfer-waiting-writer-ack-wrong-direction", WRITER)
        assert [talking.asked, talking.tell(), talking.tell()] == [Send(WINDOW), Send(EVENT), Hear(0.5)]
        assert talking.tell() == Send(lj.encode(lj.Ack(0)))
        assert talking.tell() == Hear(10.0)
        return talking

    talking = until_sent()
    talking.tell("closed")
    assert talking.outcome == ("passed", "")
    talking = until_sent()
    talking.now += 4
    assert talking.tell(lj.encode(lj.Ack(0))) == Hear(6.0), "an answer does not prolong the time"
    talking.tell()
    expected = "step 3, Ack: expected wrong_direction refused within 10 s, found an open connection, and Ack"
    assert talking.outcome == ("failed", expected)


def test_a_close_before_the_violation_is_no_refusal_of_it() -> None:
    talking = Conversation("trace-transfer-waiting-writer-ack-wrong-direction", WRITER)
    talking.tell()
    talking.tell()
    talking.tell("closed")
    assert talking.outcome[0] == "failed" and "it accepted" in talking.outcome[1]


def test_a_message_may_be_the_refusal() -> None:
    """Reactive Streams says Goodbye with a reason; whether that refuses is the user's to say."""
    for refusals, legal, refused in (((), "passed", "failed"), (("Goodbye",), "failed", "passed")):
        side = side_of("reactive_streams", "client", refusals=frozenset(refusals))
        talking = Conversation("trace-side-talking-client-serverhello-hello-from-wrong-side", side)
        while isinstance(talking.asked, Send) or talking.asked == Hear(0.5):
            talking.tell()
        talking.tell(bytes.fromhex("020000"))
        talking.tell(bytes.fromhex("0d00"))
        while talking.verdict is None:
            talking.tell()
        assert talking.outcome[0] == refused
        talking = Conversation("trace-negotiation-agreed-client-clienthello", side)
        talking.tell()
        talking.tell(bytes.fromhex("0200000d00"))
        while talking.verdict is None:
            talking.tell()
        assert talking.outcome[0] == legal


def test_a_peer_may_close_when_the_runner_has_said_its_last_word() -> None:
    side = side_of("reactive_streams", "client")
    talking = Conversation("trace-side-talking-client-goodbye", side)
    assert isinstance(talking.tell(), Send)
    talking.tell()
    talking.tell("closed")
    assert talking.outcome == ("passed", "")


def test_the_peer_chooses_its_numbers_and_the_runner_answers_them() -> None:
    """The trace acknowledges the event 0 of a window of one; the live writer sends three from 101 on, compressed."""
    talking = Conversation("trace-transfer-waiting-reader-ack-5", READER)
    assert isinstance(talking.asked, Hear)
    events = [lj.Frame(lj.Json(number, b"{}")) for number in (101, 102, 103)]
    said = lj.encode(lj.Window(3)) + lj.encode(lj.Compressed(events))
    assert isinstance(talking.tell(said[:9]), Hear)
    assert talking.tell(said[9:]) == Send(lj.encode(lj.Ack(103)))
    assert talking.tell() == Hear(0.5)
    talking.tell(lj.encode(lj.Window(1)))
    talking.tell()
    assert talking.outcome == ("passed", "")


def test_a_peer_that_is_silent_makes_its_own_choice() -> None:
    talking = Conversation("trace-transfer-waiting-reader-ack-5", WRITER)
    for _ in range(3):
        talking.tell()
    assert talking.outcome == ("skipped", "reader sent no Ack, which is its own choice")
    talking = Conversation("trace-transfer-waiting-reader-ack-5", READER)
    talking.tell("closed")
    assert talking.outcome == ("skipped", "writer closed before anything was sent")


def test_another_legal_answer_is_the_peers_own_choice() -> None:
    """The trace repeats an older acknowledgement as a keepalive; the live reader acknowledges the window."""
    talking = Conversation("trace-transfer-waiting-reader-ack-3", WRITER)
    talking.tell()
    talking.tell()
    talking.tell(lj.encode(lj.Ack(1)))
    talking.tell()
    assert talking.outcome == ("skipped", "reader said Ack, which is legal, in another way than the trace")


def test_a_message_that_the_peer_does_not_know_is_replaced() -> None:
    samples = Side.samples_of(file_of("lumberjack").vectors, "writer")
    side = side_of("lumberjack", "writer", without=frozenset({"Data"}), samples=samples)
    talking = Conversation("trace-transfer-idle-writer-data-2", side)
    sent = talking.tell()
    assert isinstance(sent, Send)
    message = lj.decode_message(sent.data)
    assert isinstance(message, lj.Json) and json.loads(message.document) == {}


def test_a_pause_is_waited_for_and_too_long_a_one_is_not() -> None:
    id_, side = "trace-transfer-waiting-tick-ack-timeout", side_of("lumberjack", "writer", is_strict=True)
    talking = Conversation(id_, side)
    talking.tell()
    talking.tell()
    assert talking.outcome == ("skipped", "30 s have to pass (--pause)")
    talking = Conversation(id_, side, pause=60)
    asked = [talking.asked, talking.tell(), talking.tell(), talking.tell()]
    assert asked == [Send(WINDOW), Send(EVENT), Hear(30), Hear(10.0)]
    talking.tell()
    expected = "step 3, a pause: expected ack_timeout refused within 10 s, found an open connection"
    assert talking.outcome == ("failed", expected)


@pytest.mark.parametrize(
    ("id_", "side", "reason"),
    [
        ("trace-transfer-idle-reader-data-wrong-direction", WRITER, "reader breaks the rule in it"),
        ("trace-transfer-idle-writer-data-window-overrun-2", WRITER, "it is about strict peers"),
        ("trace-transfer-waiting-writer-data-3", side_of("lumberjack", "writer", is_strict=True), "not strict"),
        ("trace-transfer-waiting-reader-ack", READER, "it is about sessions with ack_value=1"),
        ("trace-transfer-waiting-reader-ack-5", side_of("lumberjack", "reader", options={"ack_value": 1}), "without"),
    ],
)  # fmt: skip
def test_what_the_peer_cannot_show_is_not_asked(id_: str, side: Side, reason: str) -> None:
    with pytest.raises(Unfit, match=reason):
        script(id_, side)


@pytest.mark.parametrize("protocol", ["lumberjack", "reactive_streams", "geode", "pravega"])
@pytest.mark.parametrize("number", [0, 1])
def test_each_trace_can_be_held_with_a_peer_that_does_what_it_shows(protocol: str, number: int) -> None:
    """A peer that plays the other side byte for byte, and closes where a rule is broken, passes all that it is asked."""
    roles = schema_of(protocol).roles
    side = side_of(protocol, roles[number])
    n_passed = 0
    for trace in [vector for vector in file_of(protocol).vectors if isinstance(vector, Trace)]:
        try:
            held = script_of(trace, side)
        except Unfit:
            continue
        clock = [0.0]
        conversation = talk(held, Live(side=side), Patience(pause=10_000), partial(clock.__getitem__, 0))
        verdict = by_heart(held, conversation, clock, side)
        assert verdict.outcome == "passed", verdict
        n_passed += 1
    assert n_passed > 5


def by_heart(held: Script, conversation: Any, clock: list[float], side: Side) -> Verdict:
    """Hold a conversation as a peer that knows the script."""
    left, news = [*held.steps], cast(News, None)
    while True:
        try:
            action = conversation.send(news)
        except StopIteration as stop:
            verdict: Verdict = stop.value
            return verdict
        news = None
        if isinstance(action, Send | Finish):
            while left and left[0].role != side.own:
                left.pop(0)
            step = left.pop(0)
            assert isinstance(action, Finish) or action.data == step.data
        elif left and left[0].role == side.peer:
            news = left.pop(0).data
        elif not left and held.violation is not None:
            news = "closed"
        else:
            if left and left[0].role is None:
                left.pop(0)
            clock[0] += action.seconds


# ---- over a network


async def acknowledge(peer: aio.Peer) -> None:
    """Be a good reader: acknowledge each event that waits."""
    async for _ in peer:
        if peer.connection.transfer.left == 0 and peer.connection.transfer.outstanding:
            await peer.send(lj.Ack(peer.connection.transfer.outstanding[-1]))


@contextmanager
def good_reader(**more: Any) -> Iterator[int]:
    """Serve in a thread of its own; yield the port."""
    loop, ports = asyncio.new_event_loop(), list[int]()
    started, stopping = threading.Event(), asyncio.Event()

    async def main() -> None:
        async with await aio.serve(acknowledge, HOST, 0, **more) as server:
            ports.append(server.port)
            started.set()
            await stopping.wait()

    thread = threading.Thread(target=loop.run_until_complete, args=(main(),))
    thread.start()
    assert started.wait(60)
    try:
        yield ports[0]
    finally:
        loop.call_soon_threadsafe(stopping.set)
        thread.join()
        loop.close()


@contextmanager
def bad_reader(behave: Callable[[socket.socket], None]) -> Iterator[int]:
    """Serve each connection by a function, in a thread; it is closed at the end."""
    listener, kept = socket.create_server((HOST, 0)), list[socket.socket]()

    def accept() -> None:
        with suppress(OSError):
            while True:
                wire, _ = listener.accept()
                kept.append(wire)
                threading.Thread(target=guarded, args=(wire,), daemon=True).start()

    def guarded(wire: socket.socket) -> None:
        with suppress(OSError):
            behave(wire)

    thread = threading.Thread(target=accept, daemon=True)
    thread.start()
    try:
        yield listener.getsockname()[1]
    finally:
        listener.shutdown(socket.SHUT_RDWR)
        listener.close()
        thread.join(60)
        for wire in kept:
            wire.close()


def held(port: int, *arguments: str | Path) -> Result:
    return run("vectors", "run", LUMBERJACK, "--connect", f"{HOST}:{port}", *arguments)


def accepting(wire: socket.socket) -> None:
    while wire.recv(4096):
        pass


def refusing(wire: socket.socket) -> None:
    wire.recv(1)
    wire.close()


def chattering(wire: socket.socket) -> None:
    for _ in range(1000):
        wire.sendall(lj.encode(lj.Ack(0)) * 1000)


LEGAL = ("trace-transfer-idle-writer-data-2", "trace-transfer-idle-writer-compressed")
REFUSED = (
    "trace-transfer-idle-writer-ack-wrong-direction",
    "trace-transfer-waiting-writer-ack-wrong-direction",
)


def only(*ids: str) -> list[str]:
    return [each for id_ in ids for each in ("--only", id_)]


def test_a_good_peer_passes_all_that_it_is_asked() -> None:
    with good_reader() as port:
        result = held(port, "--timeout", "60", "--quiet", "0.2")
    lines = result.stderr.splitlines()
    assert result.exit_code == 0 and lines
    for place, line in enumerate(lines, 1):
        assert line.startswith((f"{place} of {len(lines)}: passed ", f"{place} of {len(lines)}: skipped "))
    assert "0 failed" in result.stdout
    assert f"reader at {HOST}:{port}: {N_TRACES} vectors, " in result.stdout


class SkippingLoop(asyncio.SelectorEventLoop):
    """A loop whose clock can be put forward."""

    skipped = 0.0

    def time(self) -> float:
        return super().time() + self.skipped


def test_the_search_of_other_conversations_takes_no_time_from_a_peer(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each search takes longer than a peer may take to refuse."""

    def slowly(live: Live, step: ScriptStep) -> bytes | None:
        cast(SkippingLoop, asyncio.get_running_loop()).skipped += 61.0
        return apt(live, step)

    apt = Live.apt
    monkeypatch.setattr(Live, "apt", slowly)
    monkeypatch.setattr("wiregen.conformance.vectors.endpoints.network._COMPUTING", 3600.0)
    scripts = [replace(script(REFUSED[0], WRITER), id=str(number)) for number in range(5)]
    with good_reader() as port, asyncio.Runner(loop_factory=SkippingLoop) as runner:
        network, patience = Network(host=HOST, port=port), Patience(refusal=60.0, quiet=0.2)
        verdicts = runner.run(held_by_all(scripts, WRITER, network, patience))
    assert {each.outcome for each in verdicts.values()} == {"passed"}, verdicts


def test_a_peer_that_accepts_everything_fails_where_it_has_to_refuse() -> None:
    with bad_reader(accepting) as port:
        result = held(port, "--timeout", "0.3", "--quiet", "0.1", *only(*LEGAL, *REFUSED))
    assert result.exit_code == 1
    for id_, step in zip(REFUSED, (1, 3), strict=True):
        expected = "Ack: expected wrong_direction refused within 0.3 s, found an open connection"
        assert f"failed: {id_}\n  step {step}, {expected}" in result.stdout
    assert "4 vectors, 2 passed, 2 failed" in result.stdout


def test_a_peer_that_refuses_everything_fails_where_it_has_to_accept() -> None:
    with bad_reader(refusing) as port:
        result = held(port, "--timeout", "60", "--quiet", "20", *only(*LEGAL))
        assert result.exit_code == 1
        assert result.stdout.count("expected it accepted, found a closed connection") == 2


def test_known_failures_are_expected_and_the_report_has_all_forms(tmp_path: Path) -> None:
    known = tmp_path / "known.txt"
    known.write_text(f"{LEGAL[0]}  # it refuses everything\n")
    with bad_reader(refusing) as port:
        arguments = ("--quiet", "20", "--expected-failures", str(known), *only(LEGAL[0]))
        result = held(port, *arguments)
        assert (result.exit_code, result.stdout.splitlines()[-1]) == (
            0,
            f"reader at {HOST}:{port}: 1 vectors, 0 passed, 0 failed, 1 failed as expected",
        )
        told = json.loads(held(port, *arguments, "--format", "json").stdout)
        assert told["known"][0]["id"] == LEGAL[0]
        assert "<testsuite" in held(port, *arguments, "--format", "junit").stdout


def test_bytes_of_a_peer_are_bounded() -> None:
    with bad_reader(chattering) as port:
        result = held(port, "--quiet", "60", "--timeout", "60", *only(LEGAL[0]))
    assert (result.exit_code, result.stdout.splitlines()[0]) == (
        0,
        "skipped 1: the peer sent more than 64 KiB",
    )


def flooding(wire: socket.socket) -> None:
    while True:
        wire.sendall(lj.encode(lj.Ack(0)) * 1000)


def test_a_peer_that_sends_without_end_has_its_traces_skipped() -> None:
    """But for those that end with an Ack of event 0: that may be there before the peer has sent too much."""
    with bad_reader(flooding) as port:
        result = held(port, "--timeout", "60", "--quiet", "1")
    assert result.exit_code == 0, result.stdout
    found = re.search(r"(\d+) passed, 0 failed, (\d+) skipped", result.stdout)
    assert found is not None, result.stdout
    n_passed, n_skipped = int(found[1]), int(found[2])
    assert n_passed < n_skipped == N_TRACES - n_passed, result.stdout
    assert "the peer sent more than 64 KiB" in result.stdout


def test_a_search_for_another_message_decodes_a_bounded_number_of_bytes(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    live, n_tried = Live(side=WRITER), 0

    def without_effect(*_: Any) -> bool:
        nonlocal n_tried
        n_tried += 1
        return False

    live.hear(lj.encode(lj.Ack(0)) * 2000, 0.0)
    monkeypatch.setattr(Live, "_has_effect", without_effect)
    assert live.apt(script(LEGAL[0], WRITER).steps[0]) is None
    assert n_tried <= (64 << 10) // 12_000


@pytest.mark.parametrize(
    ("behave", "said"),
    [(accepting, "the peer never sent any bytes"), (refusing, "it may expect TLS (--tls)")],
)
def test_a_peer_that_never_sends_is_named(behave: Callable[[socket.socket], None], said: str) -> None:
    with bad_reader(behave) as port:
        result = held(port, "--quiet", "0.1", "--timeout", "1", *only(LEGAL[0]))
    assert said in result.stdout.splitlines()[-2]


def test_a_silent_peer_does_not_end_the_tls_handshake(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("wiregen.conformance.vectors.endpoints.network._CONNECTING", 0.3)
    with bad_reader(accepting) as port:
        result = held(port, "--tls", *only(LEGAL[0]))
    assert result.exit_code == 2
    assert "the TLS handshake did not end within 0.3 s" in result.stderr
    assert "start the peer" not in result.stderr


def test_a_peer_over_tls(tmp_path: Path) -> None:
    made = make_certificates(tmp_path)
    server = aio.tls_server(made.server, made.server_key, client_ca=made.ca)
    chosen = ("--timeout", "60", "--quiet", "0.2", *only(LEGAL[0], REFUSED[0]))
    with good_reader(ssl=server) as port:
        mine = ("--tls", "--ca", made.ca, "--cert", made.client, "--key", made.client_key)
        assert "2 vectors, 2 passed, 0 failed" in held(port, *mine, *chosen).stdout
        refused = held(port, "--tls", *chosen)
        assert refused.exit_code == 2
        assert "certificate verify failed" in refused.stderr


def free_port() -> int:
    with socket.create_server((HOST, 0)) as listener:
        port: int = listener.getsockname()[1]
        return port


@contextmanager
def good_writer(port: int, **more: Any) -> Iterator[None]:
    """Send windows of three events for ever, over one connection after the other."""
    stopping = threading.Event()

    async def main() -> None:
        while not stopping.is_set():
            with suppress(OSError, lj.SessionError, lj.DecodeError):
                async with aio.connect(HOST, port, **more) as peer:
                    while not stopping.is_set():
                        await peer.send(lj.Window(3))
                        await peer.send(lj.Compressed([lj.Frame(lj.Json(n, b"{}")) for n in (1, 2, 3)]))
                        while peer.connection.transfer.outstanding:
                            if await peer.receive() is None:
                                raise ConnectionResetError
            await asyncio.sleep(0.02)

    thread = threading.Thread(target=asyncio.run, args=(main(),))
    thread.start()
    try:
        yield
    finally:
        stopping.set()
        thread.join()


ACKNOWLEDGED = "trace-transfer-waiting-reader-ack-5"
NOT_SENT = "trace-transfer-waiting-reader-ack-ack-out-of-window-2"


def test_a_peer_that_connects(tmp_path: Path) -> None:
    made, port = make_certificates(tmp_path), free_port()
    chosen = ("--timeout", "60", "--quiet", "1", *only(ACKNOWLEDGED, NOT_SENT))
    with good_writer(port):
        result = run("vectors", "run", LUMBERJACK, "--listen", str(port), *chosen)
    said, *lines = result.stderr.splitlines()
    assert said == f"listening on {HOST} port {port} for writer"
    assert {line.partition(": ")[2] for line in lines} == {f"passed {ACKNOWLEDGED}", f"passed {NOT_SENT}"}
    assert result.stdout == "writer that connects: 2 vectors, 2 passed, 0 failed\n"
    with good_writer(port, ssl=aio.tls_client(made.ca), server_hostname="localhost"):
        mine = ("--tls", "--cert", made.server, "--key", made.server_key)
        result = run("vectors", "run", LUMBERJACK, "--listen", f"localhost:{port}", *mine, *chosen)
    assert result.stdout == "writer that connects: 2 vectors, 2 passed, 0 failed\n"


def test_listening_where_others_can_connect_is_said() -> None:
    port = free_port()
    with good_writer(port):
        result = run("vectors", "run", LUMBERJACK, "--listen", f"0.0.0.0:{port}", *only(ACKNOWLEDGED))
    assert result.stderr.startswith(
        f"listening on 0.0.0.0 port {port} for writer: every host that reaches this computer can connect, not only the peer\n"
    )


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--connect", "localhost"), "`localhost` is not HOST:PORT"),
        (("--listen", "70000"), "`70000` is not HOST:PORT"),
        (("--connect", f"{HOST}:1", "--ca", str(LUMBERJACK)), "--ca is only for TLS"),
        (("--connect", f"{HOST}:1"), "wiregen vectors build"),
    ],
)
def test_the_address_is_checked_before_vectors_are_looked_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, arguments: tuple[str, ...], said: str
) -> None:
    monkeypatch.chdir(tmp_path)
    result = run("vectors", "run", LUMBERJACK, *arguments)
    assert said in result.stderr and result.exit_code in (1, 2)


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        ((), 1, "the implementation is missing"),
        (("--connect", "localhost:1", "--listen", "2"), 1, "several implementations are given"),
        (("--connect", "localhost"), 2, "`localhost` is not HOST:PORT"),
        (("--listen", "70000"), 2, "`70000` is not HOST:PORT"),
        (("--connect", f"{HOST}:1"), 2, f"no connection to {HOST} port 1"),
        (("--connect", f"{HOST}:1", "--ca", str(LUMBERJACK)), 2, "--ca is only for TLS"),
        (("--listen", "0", "--tls"), 2, "--listen with --tls needs --cert and --key"),
        (("--connect", f"{HOST}:1", "--tls", "--ca", str(LUMBERJACK)), 2, "TLS cannot be set up"),
        (("--connect", f"{HOST}:1", "--without", "Date"), 1, "there is no message `Date` in lumberjack"),
        (("--connect", f"{HOST}:1", "--option", "ack_value=FOO"), 1, "`ack_value` has no value `FOO`"),
        (("--connect", f"{HOST}:1", "--limit", "window=abc"), 1, "`abc` is not an amount"),
        (("--connect", f"{HOST}:1", "--only", f"{LEGAL[0]}x"), 1, f"did you mean `{LEGAL[0]}`?"),
        (("--strict", "--", "true"), 1, "--strict is only for a live peer"),
        (("--connect", f"{HOST}:1", "--role", "indexer"), 1, "there is no role `indexer`"),
        (
            ("--connect", f"{HOST}:1", "--only", file_of("lumberjack").vectors[0].id),
            1,
            "is of the kind `valid`, not a trace",
        ),
    ],
)
def test_what_cannot_be_is_said(arguments: tuple[str, ...], code: int, said: str) -> None:
    result = run("vectors", "run", LUMBERJACK, *arguments)
    assert said in result.stderr
    assert result.exit_code in (1, 2)
    assert "Traceback" not in result.stderr


@pytest.mark.parametrize("option", ["--ca", "--cert", "--key"])
def test_a_pipe_is_no_pem_file_and_nobody_waits_for_it(option: str, tmp_path: Path) -> None:
    pipe, pem = tmp_path / "pipe", make_certificates(tmp_path)
    os.mkfifo(pipe)
    files = {"--cert": pem.client, "--key": pem.client_key} | {option: pipe}
    given = [str(word) for pair in files.items() for word in pair]
    result = run("vectors", "run", LUMBERJACK, "--connect", f"{HOST}:9", "--tls", *given)
    assert (result.exit_code, "not a regular file" in result.stderr) == (2, True), result.stderr
