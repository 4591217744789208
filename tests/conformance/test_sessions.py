"""Other people's vectors and transcripts against the sessions: each violation by its name, on the side where it belongs."""

from __future__ import annotations

import importlib
import subprocess
import sys
import zlib
from pathlib import Path
from typing import Any, Final
from uuid import UUID

import pytest
from tests.conformance.vectors import CAPTURES as KEPT
from tests.conformance.vectors import kept

from wiregen.formats.capture import FlowBytes, read_streams
from wireproto import geode, lumberjack, pravega, reactive_streams

SIDES: Final = {"c": "client", "s": "server", "c2s": "client", "s2c": "server"}
PEERS: Final = {"client": "server", "server": "client", "writer": "reader", "reader": "writer"}
STRICT: Final = frozenset({"M68", "window-over-limit"})
"""Cases that the makers call a violation and the .wire file a lenient one."""

GENERATED: Final = Path(__file__).resolve().parents[2] / "generated" / "python"


def entries(name: str, kind: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = kept(name)[kind]
    return found


def violations(events: list[Any]) -> list[str]:
    """Return the names of those that nobody tolerates."""
    return [each.name for each in events if type(each).__name__ == "Violation" and not each.lenient]


def faults(events: list[Any]) -> list[str]:
    return [event.error.code for event in events if type(event).__name__ == "Fault"]


# ---- Reactive Streams ----

RS = [
    pytest.param(each, id=f"{each['id']}-{each['code']}")
    for each in entries("reactive_streams", "malformed")
    if each["verdict"] == "session"
]
TRANSCRIPTS = [
    pytest.param(each, id=each["message"].removeprefix("transcript:"))
    for each in entries("reactive_streams", "golden")
    if each["message"].startswith("transcript")
]


@pytest.mark.parametrize("vector", RS)
def test_reactive_streams_violations_have_their_names(vector: dict[str, Any]) -> None:
    side = SIDES[vector["side"]]
    strict = vector["id"] in STRICT
    session = reactive_streams.Session(strict=strict)
    peer = reactive_streams.Connection(PEERS[side], strict=strict)  # type: ignore[arg-type]
    for sender, data in vector["before"]:
        assert not violations(session.observe(SIDES[sender], bytes.fromhex(data)))
        if SIDES[sender] == side:
            assert not violations(peer.receive(bytes.fromhex(data)))
        else:
            own = reactive_streams.Decoder(SIDES[sender], context=peer.context)  # type: ignore[arg-type]
            for frame in own.feed(bytes.fromhex(data)):
                peer.send(frame)
    found = violations(session.observe(side, bytes.fromhex(vector["hex"])))
    assert found[:1] == [vector["code"]]
    events: list[Any] = peer.receive(bytes.fromhex(vector["hex"]))
    assert events[-1].name == vector["code"]
    assert peer.failure is events[-1]


@pytest.mark.parametrize("vector", TRANSCRIPTS)
def test_transcripts_are_legal(vector: dict[str, Any]) -> None:
    """Each side's frames in the order of the steps, byte by byte."""
    streams = {"client": bytes.fromhex(vector["hex"]), "server": bytes.fromhex(vector["server_hex"])}
    session = reactive_streams.Session()
    found: list[str] = []
    noted: list[str] = []
    for side, name, _ in vector["fields"]["steps"]:
        role = SIDES[side]
        while streams[role]:
            events = session.observe(role, streams[role][:1])
            streams[role] = streams[role][1:]
            found += violations(events)
            noted += [event.name for event in events if isinstance(event, reactive_streams.Violation)]
            received = [event for event in events if isinstance(event, reactive_streams.Received)]
            if received:
                message = type(received[0].frame.message).__name__
                assert message.lower() == name.lower()
                break
    assert not any(streams.values())
    assert found == []
    expected = ["unsupported_version"] if "version_mismatch" in vector["message"] else []
    assert noted[:1] == expected


# ---- Lumberjack ----

LUMBERJACK_LIMITS: Final = {"max_window": "window"}


@pytest.mark.parametrize(
    "vector",
    [
        pytest.param(each, id=each["id"])
        for each in entries("lumberjack", "malformed")
        if each["stage"] == "session"
    ],
)
def test_lumberjack_violations_have_their_names(vector: dict[str, Any]) -> None:
    limits = lumberjack.Limits(**{LUMBERJACK_LIMITS[name]: value for name, value in vector["limits"].items()})
    strict = vector["id"] in STRICT
    connection = lumberjack.Connection(PEERS[vector["from"]], limits=limits, strict=strict)  # type: ignore[arg-type]
    if vector["from"] == "reader":
        connection.send(lumberjack.Window(3))
        for sequence in (1, 2, 3):
            connection.send(lumberjack.Data(sequence, []))
    events: list[Any] = connection.receive(bytes.fromhex(vector["hex"]))
    assert violations(events) == [vector["expect"]["kind"]]
    assert events[-1].offset == vector["expect"]["offset"]


ACK_RULES: Final = [
    {"outstanding": [1, 2, 3, 4, 5, 6], "ack": 3, "covers": 3},
    {"outstanding": [4294967294, 4294967295, 0, 1], "ack": 4294967295, "covers": 2},
    {"outstanding": [4294967294, 4294967295, 0, 1], "ack": 1, "covers": 4},
    {"outstanding": [4294967295, 1, 2], "ack": 0, "covers": 0},
    {"outstanding": [11, 12, 13], "ack": 10, "covers": 0, "error": "ack_out_of_window"},
    *entries("lumberjack", "ack_rules"),
]


@pytest.mark.parametrize(
    "rule",
    [
        pytest.param(each, id=f"{each['outstanding'][0]}..{each['outstanding'][-1]}-ack-{each['ack']}")
        for each in ACK_RULES
    ],
)
def test_acks_cover_what_the_rules_say(rule: dict[str, Any]) -> None:
    mode = lumberjack.AckValue.COUNT if rule.get("mode") == "count" else lumberjack.AckValue.SEQUENCE
    writer = lumberjack.Connection("writer", ack_value=mode)
    writer.send(lumberjack.Window(len(rule["outstanding"])))
    for sequence in rule["outstanding"]:
        writer.send(lumberjack.Data(sequence, []))
    events = writer.receive(lumberjack.encode(lumberjack.Ack(rule["ack"])))
    if "error" in rule:
        assert violations(events) == [rule["error"]]
    else:
        assert not violations(events)
    left = rule["outstanding"][rule["covers"] or 0 :]
    assert list(writer.transfer.outstanding) == left
    assert writer.transfer.state == ("waiting" if left else "idle")


def _answered(*answers: int | list[int], count: bool = False) -> list[tuple[int, ...]]:
    """Return the outstanding events after each answer: a list of numbers is a window that is sent, a number an ack."""
    value = lumberjack.AckValue.COUNT if count else lumberjack.AckValue.SEQUENCE
    connection, shown = lumberjack.Connection("writer", ack_value=value), []
    for each in answers:
        if isinstance(each, list):
            connection.send(lumberjack.Window(len(each)))
            for sequence in each:
                connection.send(lumberjack.Json(sequence, b"{}"))
            continue
        assert not violations(connection.receive(lumberjack.encode(lumberjack.Ack(each))))
        shown.append(connection.transfer.outstanding)
    return shown


def test_equal_numbers_are_all_acknowledged_by_the_last() -> None:
    assert _answered([5, 5, 5], 5, 5) == [(), ()]
    assert _answered([5, 5, 6], 5, 5, 6) == [(5, 6), (6,), ()]
    assert _answered([5, 5], [5, 5], 5, 5) == [(5, 5), ()]
    assert _answered([5, 6, 5], [5, 7], 5, 7) == [(5, 7), ()]


def test_empty_windows_between_others_keep_them_apart() -> None:
    assert _answered([1, 2], [], [1, 2], 2, 2) == [(1, 2), ()]
    assert _answered([1, 2], [], [], [1, 2], 1, 1, 2, count=True) == [(2, 1, 2), (1, 2), ()]
    assert _answered([], [1], [], [1], [], 1, 1, 0) == [(1,), (), ()]
    connection = lumberjack.Connection("writer", ack_value=lumberjack.AckValue.COUNT)
    for message in (
        lumberjack.Window(1),
        lumberjack.Json(1, b""),
        lumberjack.Window(0),
        lumberjack.Json(1, b""),
    ):
        connection.send(message)
    assert violations(connection.receive(lumberjack.encode(lumberjack.Ack(2)))) == ["ack_out_of_window"]


def test_only_the_oldest_window_is_acknowledged() -> None:
    writer = lumberjack.Connection("writer")
    for _ in range(2):
        writer.send(lumberjack.Window(2))
        for sequence in (1, 2):
            writer.send(lumberjack.Data(sequence, []))
    assert not violations(writer.receive(lumberjack.encode(lumberjack.Ack(2))))
    assert writer.transfer.outstanding == (1, 2)


# ---- Geode ----


@pytest.mark.parametrize(
    "vector",
    [
        pytest.param(each, id=each["id"])
        for each in entries("geode", "malformed")
        if each["verdict"] == "session"
    ],
)
def test_geode_violations_have_their_names(vector: dict[str, Any]) -> None:
    client = geode.Connection("client")
    client.send(geode.Connect(geode.Mode.WHOLE))
    for identity, _ in vector["pending"]:
        client.send(
            geode.GetRequest("/region", geode.GeodeValue.Integer(1), geode.GeodeValue.Null()),
            correlation_id=identity,
        )
    events = client.receive(bytes.fromhex(vector["hex"]))
    assert violations(events) == [vector["code"]]
    assert client.failure is events[-1]


# ---- recordings of real programs ----


CAPTURES: Final = Path(__file__).resolve().parents[2] / "examples" / "captures"


def recordings() -> list[Any]:
    """Return the captures that are kept here, and where there are more those too."""
    kept_here = [*sorted(CAPTURES.glob("*.pcap")), *sorted(CAPTURES.glob("*.pcap.gz"))]
    more = sorted(KEPT.glob("lumberjack/*/capture.pcap"))
    named = [(path, path.name.split(".")[0]) for path in kept_here]
    return [
        pytest.param(path, id=name) for path, name in [*named, *((path, path.parent.name) for path in more)]
    ]


@pytest.mark.parametrize("capture", recordings())
def test_what_real_programs_say_is_legal(capture: Path) -> None:
    """Both directions byte by byte, in the order of the packets."""
    package: Any = pravega if capture.name.startswith("pravega") else lumberjack
    sessions: dict[str, Any] = {}
    for piece in read_streams(capture):
        session = sessions.setdefault(piece.flow.name, package.Session())
        if isinstance(piece, FlowBytes):
            role = session._package.roles[0 if piece.from_opener else -1]
            events = [
                event for byte in piece.data for event in session.observe(role, bytes((byte,)), piece.time)
            ]
            assert not violations(events) and not faults(events)
    assert sessions
    for session in sessions.values():
        assert not faults([event for role in session._package.roles for event in session.eof(role)])
        if package is lumberjack:
            assert session.transfer.outstanding == ()


@pytest.mark.parametrize(
    "name",
    ["geode", "lumberjack", "pravega", "pravega_documented", "pravega_proposal", "reactive_streams"],
)
def test_every_package_has_connections(name: str) -> None:
    package = importlib.import_module(f"wireproto.{name}")
    role = package.Session()._package.roles[0]
    assert package.Connection(role).role == role
    assert package.Connection(role).receive(b"") == []


def test_importing_a_package_does_not_load_what_runs_sessions() -> None:
    program = (
        "import sys, wireproto.lumberjack as lj; early = [name for name in sys.modules if 'session' in name];"
        "lj.Connection; print(early, 'wireproto._runtime.sessions.engine' in sys.modules)"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True, cwd=GENERATED
    )
    assert done.stdout.strip() == "[] True"


def test_what_a_package_does_not_have_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="has no Konnection"):
        lumberjack.Konnection  # noqa: B018


def test_receive_stops_when_it_is_told_to_and_goes_on_without_bytes() -> None:
    connection = lumberjack.Connection("reader")
    frames = [lumberjack.Frame(lumberjack.Window(4))]
    frames += [lumberjack.Frame(lumberjack.Json(number, b"{}")) for number in range(4)]
    data = b"".join(frame.encode() for frame in frames)
    got = connection.receive(data[:-1], most=2)
    assert len(got) == 2 and connection.has_more
    got += connection.receive(b"", most=2)
    assert len(got) == 4 and connection.has_more
    assert connection.receive(b"", most=2) == [] and not connection.has_more
    got += connection.receive(data[-1:] + b"3", most=1)
    assert connection.has_more
    assert [event.frame for event in got if isinstance(event, lumberjack.Received)] == frames
    assert [type(event) for event in connection.receive(b"")] == [lumberjack.Fault]
    assert not connection.has_more


def test_the_end_gives_first_what_receive_had_left() -> None:
    frames = [lumberjack.Frame(lumberjack.Window(4))]
    frames += [lumberjack.Frame(lumberjack.Json(number, b"{}")) for number in range(4)]
    data = b"".join(frame.encode() for frame in frames)
    for tail, last in (
        (b"", ["Ended"]),
        (b"3", ["Fault"]),
        (b"2", ["Fault", "Ended"]),
        (b"2A\0\0\0\0", ["Violation"]),
    ):
        connection = lumberjack.Connection("reader")
        got = connection.receive(data + tail, most=2)
        assert connection.has_more
        events = connection.eof(1.0)
        got += events
        assert [event.frame for event in got if isinstance(event, lumberjack.Received)] == frames
        assert [type(event).__name__ for event in got[len(frames) :]] == last
        assert not connection.has_more and connection.eof(1.0) == []


# ---- Pravega ----


@pytest.mark.parametrize("strict", [False, True], ids=["lenient", "strict"])
def test_a_reply_to_nothing_is_passed_on_unless_strict(strict: bool) -> None:
    """As the Java client ignores replies of flows that it does not know."""
    client = pravega.Connection("client", strict=strict)
    client.send(pravega.Hello())
    client.receive(pravega.encode(pravega.Hello()))
    client.send(pravega.GetStreamSegmentInfo(1, "segment", ""))
    replies: list[Any] = [
        pravega.SegmentCreated(9, "other"),
        pravega.StreamSegmentInfo(2, "segment", True, False, False, 0, 0),
    ]
    for reply in replies[: 1 if strict else 2]:
        match client.receive(pravega.encode(reply)):
            case [pravega.Violation(name="unknown_request_id", lenient=False, frame=frame)]:
                assert strict and frame == pravega.Frame(reply)
            case [
                pravega.Violation(name="unknown_request_id", lenient=True) as told,
                pravega.Received(notes=notes),
            ]:
                assert not strict and notes == (told,)
            case events:
                raise AssertionError(events)
    assert client.is_closed == strict
    assert client.call[1].state == "info"


def test_an_ack_inside_a_block_leaves_that_block_outstanding() -> None:
    writer, known = UUID(int=7), pravega.Connection("client")
    known.send(pravega.Hello(17, 5), 0.0)
    known.receive(pravega.Hello(17, 5).encode(), 0.0)
    known.send(pravega.SetupAppend(1, writer, "a/b/0", ""), 0.0)
    known.receive(pravega.AppendSetup(1, "a/b/0", writer, -1).encode(), 0.0)
    for last in (3, 6, 9):
        known.send(pravega.AppendBlock(writer, b""), 0.0)
        known.send(pravega.AppendBlockEnd(writer, 0, b"", 3, last, last), 0.0)
    left = []
    for number, before in ((4, 0), (6, 0), (9, 6)):
        known.receive(pravega.DataAppended(writer, number, before).encode(), 0.0)
        left.append(tuple(known.writer[writer].outstanding))
    assert left == [(6, 9), (9,), ()]


# ---- what a protocol wants said after a fault ----


@pytest.mark.parametrize("is_strict", [False, True], ids=["lenient", "strict"])
@pytest.mark.parametrize(
    ("place", "byte", "rule", "status"),
    [(1, 0x63, "unknown_api", 1102), (2, 7, "unsupported_api_version", 1101)],
)
def test_a_request_that_cannot_be_read_is_answered(
    place: int, byte: int, rule: str, status: int, is_strict: bool
) -> None:
    """Its header is known, and so is its end: the frame is skipped, and the next one is as good as any."""
    values = geode.GeodeValue
    client, server = geode.Connection("client"), geode.Connection("server", strict=is_strict)
    observer = geode.Session(strict=is_strict)
    data = client.send(geode.Connect(geode.Mode.WHOLE))
    request = geode.GetRequest("/region", values.Integer(1), values.Null())
    asked = bytearray(client.send(request, correlation_id=5))
    asked[asked.index(bytes.fromhex("000401")) + place] = byte
    data += asked
    _, fault = server.receive(data)
    assert isinstance(fault, geode.Fault) and fault.error.rule == rule
    answer = server.send(geode.ErrorResponse("no"), correlation_id=5, status=geode.Status(status))
    assert not violations([*observer.observe("client", data), *observer.observe("server", answer)])
    (received,) = client.receive(answer)
    assert isinstance(received, geode.Received) and client.calls.pending == server.calls.pending == ()
    with pytest.raises(geode.SessionError, match="unknown_correlation_id"):
        server.send(geode.ErrorResponse("no"), correlation_id=5, status=geode.Status(status))
    assert server.receive(client.send(request, correlation_id=5))[-1].frame.correlation_id == 5  # type: ignore[union-attr]


def test_a_response_that_cannot_be_read_frees_its_id() -> None:
    client = geode.Connection("client")
    client.send(geode.Connect(geode.Mode.WHOLE))
    request = geode.GetRequest("/region", geode.GeodeValue.Integer(1), geode.GeodeValue.Null())
    client.send(request, correlation_id=5)
    (event,) = client.receive(bytes.fromhex("00000003 00000005 00 00 0001 ff"))
    assert isinstance(event, geode.Fault) and event.error.recoverable
    assert client.calls.pending == ()
    assert client.send(request, correlation_id=5)


def test_a_goodbye_follows_a_version_that_nobody_speaks() -> None:
    client, server = reactive_streams.Connection("client"), reactive_streams.Connection("server", strict=True)
    client.send(reactive_streams.ClientHello(0, []))
    (violation,) = server.receive(reactive_streams.encode(reactive_streams.ClientHello(5, [])))
    assert isinstance(violation, reactive_streams.Violation) and violation.name == "unsupported_version"
    with pytest.raises(reactive_streams.SessionError, match="unsupported_version"):
        server.send(reactive_streams.ServerHello(0, []))
    data = server.send(reactive_streams.ServerHello(0, []), despite="unsupported_version")
    data += server.send(reactive_streams.Goodbye("version 0 only"), despite="unsupported_version")
    *_, received = client.receive(data)
    assert isinstance(received, reactive_streams.Received)
    assert getattr(received.frame, "message", None) == reactive_streams.Goodbye("version 0 only")
    with pytest.raises(reactive_streams.SessionError, match="message_after_goodbye"):
        server.send(reactive_streams.Goodbye("again"), despite="unsupported_version")


def test_a_goodbye_follows_bytes_that_make_no_sense() -> None:
    server = reactive_streams.Connection("server")
    server.send(reactive_streams.ServerHello(0, []))
    events = server.receive(reactive_streams.encode(reactive_streams.ClientHello(0, [])) + b"\x00")
    assert faults(list(events)) == ["unknown_code"]
    goodbye = reactive_streams.Goodbye("what?")
    assert server.send(goodbye, despite="unknown_code") == reactive_streams.encode(goodbye)


def test_a_server_says_its_hello_to_a_client_whose_version_does_not_fit() -> None:
    client, server = pravega.Connection("client"), pravega.Connection("server")
    (received,) = server.receive(client.send(pravega.Hello(4, 1)))
    assert isinstance(received, pravega.Received)
    hello = pravega.Hello(17, 5)
    with pytest.raises(pravega.SessionError, match="incompatible_version") as caught:
        server.send(hello)
    assert caught.value.local and server.handshake.state == "asked"
    (violation,) = client.receive(server.send(hello, despite="incompatible_version"))
    assert isinstance(violation, pravega.Violation) and violation.name == "incompatible_version"


def test_bare_messages_in_an_envelope_are_judged_as_they_are_written() -> None:
    """In a process that never saw them framed before, and whatever was bare before."""
    program = (
        "from wireproto import lumberjack as lj; w = lj.Connection('writer', strict=True); w.send(lj.Window(1));"
        "w.send(lj.Compressed([lj.Json(1, b'{}')])); print(w.transfer.spoken.name, w.transfer.outstanding);"
        "lenient = lj.Connection('writer'); lenient.send(lj.Compressed([lj.Data(1, [])]));"
        "lenient.send(lj.Data(2, []), version=lj.Version.V1); print(lenient.transfer.spoken.name)"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True, cwd=GENERATED
    )
    assert done.stdout.split() == ["V2", "(1,)", "V1"]


def test_a_piece_that_is_refused_leaves_what_is_open_as_it_was() -> None:
    """Over the limit, as a piece and as the last one; the element can still be finished within it."""
    server = reactive_streams.Connection("server", limits=reactive_streams.Limits(frame=10))
    server.receive(reactive_streams.encode(reactive_streams.ClientHello(0, [])))
    server.send(reactive_streams.ServerHello(0, []))
    server.receive(reactive_streams.encode(reactive_streams.Subscribe("x", 1, 9), from_role="client"))
    server.send(reactive_streams.Subscribed(1))
    server.send(reactive_streams.OnNextPart(1, 2, b"12345"))
    before = server.context.snapshot(), repr(server.subscription[1])
    for piece in (reactive_streams.OnNextPart, reactive_streams.OnNextLastPart):
        with pytest.raises(reactive_streams.EncodeError, match="limit_exceeded"):
            server.send(piece(1, 2, b"6789ab"))
        assert (server.context.snapshot(), repr(server.subscription[1])) == before
    server.send(reactive_streams.OnNextLastPart(1, 2, b"6789a"))
    assert server.context.snapshot()["Element"] == []


def _calls(n_events: int) -> int:
    """Return how many calls it takes to hold a Compressed to its session whose events no Window announced."""
    inner = lumberjack.encode(lumberjack.Json(1, b"")) * n_events
    connection, n_calls = lumberjack.Connection("reader"), 0

    def count(_frame: object, event: str, _argument: object) -> None:
        nonlocal n_calls
        n_calls += event == "call"

    body = zlib.compress(inner)
    data = b"2C" + len(body).to_bytes(4, "big") + body
    sys.setprofile(count)
    try:
        events = connection.receive(data, 0.0)
    finally:
        sys.setprofile(None)
    assert len(events) >= n_events
    return n_calls


def test_four_times_the_violations_of_a_frame_are_four_times_the_work() -> None:
    assert _calls(2_000) < 5 * _calls(500)
