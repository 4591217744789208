"""After an error that the codec can recover from, a connection does what its `.wire` file says (`on error`)."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from tests.unit.tools.test_cli_capture import LUMBERJACK, Wire

from wiregen.tools.cli import wiregen
from wireproto import geode, pravega
from wireproto import lumberjack as lj

FIRST = lj.encode(lj.Window(3)) + lj.encode(lj.Data(1, []))
LOST = lj.encode(lj.Compressed([lj.Frame(lj.Json(2, b"{}"))]))
LAST = lj.encode(lj.Data(3, []))
INFLATED = b'{"message": "hello"}'


def damaged_frames() -> Iterator[bytes]:
    """Yield the second of three frames of a window with each byte changed, in three ways."""
    for place in range(len(LOST)):
        for change in (0x01, 0x80, 0xFF):
            yield LOST[:place] + bytes([LOST[place] ^ change]) + LOST[place + 1 :]


def refused(connection: Any, message: Any, despite: str | None) -> str:
    with pytest.raises(lj.SessionError) as caught:
        connection.send(message, despite=despite)
    return str(caught.value.violation)


def test_an_ack_never_covers_a_window_in_which_a_frame_was_lost() -> None:
    n_recoverable = 0
    for frame in damaged_frames():
        reader = lj.Connection("reader")
        events = reader.receive(FIRST + frame + LAST)
        fault = next((event for event in events if isinstance(event, lj.Fault)), None)
        if fault is None:
            continue
        n_recoverable += fault.error.recoverable
        assert fault is events[-1] and reader.failure is fault.error
        assert reader.receive(LAST) == []
        for sequence in (2, 3):
            assert refused(reader, lj.Ack(sequence), None) == fault.error.code
            assert refused(reader, lj.Ack(sequence), fault.error.code) == "ack_out_of_window"
    assert n_recoverable > 20


def test_an_observer_holds_such_an_ack_against_its_sender() -> None:
    bad = LOST[:-1] + bytes([LOST[-1] ^ 1])
    session = lj.Session()
    *_, fault = session.observe("writer", FIRST + bad + LAST)
    assert isinstance(fault, lj.Fault) and fault.error.recoverable
    assert session.observe("writer", LAST) == []
    acked, *_ = session.observe("reader", lj.encode(lj.Ack(1)) + lj.encode(lj.Ack(3)))
    assert isinstance(acked, lj.Received)
    session = lj.Session()
    session.observe("writer", FIRST + bad + LAST)
    violation, _ = session.observe("reader", lj.encode(lj.Ack(3)))
    assert isinstance(violation, lj.Violation) and violation.name == "ack_out_of_window"


def test_a_connection_that_is_told_to_goes_on_after_the_error() -> None:
    bad = LOST[:-1] + bytes([LOST[-1] ^ 1])
    reader = lj.Connection("reader", on_error="continue")
    events = reader.receive(FIRST + bad + LAST)
    assert [type(event).__name__ for event in events] == ["Received", "Received", "Fault", "Received"]
    assert reader.failure is None
    assert reader.send(lj.Ack(3)) == lj.encode(lj.Ack(3))  # the risk that the option names
    session = lj.Session(on_error="continue")
    assert [type(event).__name__ for event in session.observe("writer", FIRST + bad + LAST)] == [
        type(event).__name__ for event in events
    ]


def test_keep_going_is_of_violations_alone() -> None:
    bad = LOST[:-1] + bytes([LOST[-1] ^ 1])
    reader = lj.Connection("reader", keep_going=True)
    *_, fault = reader.receive(FIRST + bad + LAST)
    assert isinstance(fault, lj.Fault) and reader.failure is fault.error


def test_pravega_closes_and_geode_goes_on() -> None:
    bad = bytes.fromhex("00000001 00000002 0000")  # SetupAppend, two bytes of a longer body
    server = pravega.Connection("server")
    hello = pravega.encode(pravega.Hello())
    assert [type(event).__name__ for event in server.receive(hello + bad + hello)] == ["Received", "Fault"]
    assert server.failure is not None
    request = geode.GetRequest("/r", geode.GeodeValue.Integer(1), geode.GeodeValue.Null())
    client = geode.Connection("client")
    data = client.send(geode.Connect(geode.Mode.WHOLE))
    data += bytes.fromhex("00000003 00000001 00 00 0063 01")  # an ApiId of 99
    data += client.send(request, correlation_id=2)
    for on_error, n_events in ((None, 3), ("continue", 3), ("close", 2)):
        connection = geode.Connection("server", on_error=on_error)  # type: ignore[arg-type]
        assert len(connection.receive(data)) == n_events
        assert (connection.failure is None) == (n_events == 3)


def test_an_error_that_closes_may_be_answered() -> None:
    server = geode.Connection("server", on_error="close")
    data = geode.encode(geode.Connect(geode.Mode.WHOLE)) + bytes.fromhex("00000003 00000001 00 00 0063 01")
    fault = server.receive(data)[-1]
    assert isinstance(fault, geode.Fault)
    answer = geode.ErrorResponse("unknown")
    status = geode.Status.UNSUPPORTED_OPERATION
    assert server.send(answer, correlation_id=1, status=status, despite=fault.error.code)


def test_another_word_is_refused() -> None:
    with pytest.raises(ValueError, match="on_error is 'close' or 'continue', not 'go'"):
        lj.Connection("reader", on_error="go")  # type: ignore[arg-type]


@pytest.mark.parametrize(("option", "n_violations"), [(None, 1), ("close", 1), ("continue", 0)])
def test_a_replay_does_as_the_protocol_says(tmp_path: Path, option: str | None, n_violations: int) -> None:
    bad = LOST[:-1] + bytes([LOST[-1] ^ 1])
    path = tmp_path / "x.pcap"
    path.write_bytes(Wire().open().client(FIRST + bad + LAST).server(lj.encode(lj.Ack(3))).close().pcap())
    arguments = ["replay", str(LUMBERJACK), str(path), *(["--on-error", option] if option else [])]
    result = CliRunner().invoke(wiregen, [*arguments, "--format", "jsonl"])
    *lines, last = map(json.loads, result.stdout.splitlines())
    assert result.exit_code == 1
    assert last["summary"]["violations"] == ({"ack_out_of_window": 1} if n_violations else {})
    assert [line.get("message") for line in lines if line.get("unread")] == ["Data"] * n_violations
    text = CliRunner().invoke(wiregen, arguments).stdout
    assert text.count("(not read: after the error)") == n_violations


def test_a_gap_of_a_capture_is_no_error_of_the_sender(tmp_path: Path) -> None:
    path = tmp_path / "x.pcap"
    events = lj.encode(lj.Window(1)) + lj.encode(lj.Json(1, INFLATED))
    wire = Wire().open().client(events).client(events, is_lost=True).client(events[:6] + LOST[:-1] + b"\xff")
    path.write_bytes(wire.client(events).server(lj.encode(lj.Ack(1))).close().pcap())
    result = CliRunner().invoke(wiregen, ["replay", str(LUMBERJACK), str(path), "--format", "jsonl"])
    *lines, _ = map(json.loads, result.stdout.splitlines())
    assert [line["error"]["code"] for line in lines if "error" in line] == ["gap", "inflate_failed"]
    assert not any(line.get("unread") for line in lines)


# ---- what the header of an unreadable frame violates


def fragment(part: bytes, *, is_partial: int, has_metadata: int) -> bytes:
    return len(part).to_bytes(4, "big") + bytes([0, 0, 0, 1, is_partial, has_metadata]) + part


REQUEST = bytes.fromhex("0004 01 0001 000101 0001 72 39 00000001 29")
"""A GetRequest with one pair of metadata."""


@pytest.mark.parametrize("strict", [False, True])
@pytest.mark.parametrize("flags", [(1, 0), (0, 1), (1, 1, 0), (1, 0, 0), (0, 0, 1)])
@pytest.mark.parametrize("cut", range(1, 5))
def test_fragments_that_change_the_metadata_flag_are_refused_by_name(
    strict: bool, flags: tuple[int, ...], cut: int
) -> None:
    parts = [REQUEST[cut * number : cut * (number + 1)] for number in range(len(flags) - 1)]
    parts.append(REQUEST[cut * (len(flags) - 1) :])
    data = bytes([geode.Mode.DIVIDED]) + b"".join(
        fragment(part, is_partial=number < len(parts), has_metadata=flag)
        for number, (part, flag) in enumerate(zip(parts, flags, strict=True), 1)
    )
    server, session = geode.Connection("server", strict=strict), geode.Session(strict=strict)
    *_, violation = server.receive(data)
    assert isinstance(violation, geode.Violation) and violation.name == "metadata_flag_changed"
    assert server.failure is violation and violation.offset > 0
    seen = [event for event in session.observe("client", data) if isinstance(event, geode.Violation)]
    assert seen[0].name == "metadata_flag_changed" and seen[0].offset == violation.offset


@pytest.mark.parametrize("strict", [False, True])
def test_a_response_without_its_request_has_one_name(strict: bool) -> None:
    data = bytes.fromhex("00000004 00000009 00 00 0001 39 01")
    client, session = geode.Connection("client", strict=strict), geode.Session(strict=strict)
    (violation,) = client.receive(data)
    assert isinstance(violation, geode.Violation) and violation.name == "unknown_correlation_id"
    assert client.failure is violation
    first, second = session.observe("server", data)
    assert isinstance(first, geode.Violation) and first.name == "unknown_correlation_id"
    assert isinstance(second, geode.Fault if strict else geode.Received)


def test_a_row_about_a_message_above_leaves_the_name_open() -> None:
    """An unreadable Window may be what the first row takes: only the error is known."""
    writer = lj.Connection("writer")
    (fault,) = writer.receive(bytes.fromhex("32 43 00000002 1f8b"))
    assert isinstance(fault, lj.Fault) and fault.error.code == "inflate_failed"


def test_a_fatal_metadata_flag_ends_the_connection() -> None:
    server = geode.Connection("server")
    data = bytes([geode.Mode.DIVIDED]) + fragment(REQUEST[:6], is_partial=1, has_metadata=1)
    data += fragment(REQUEST[6:], is_partial=0, has_metadata=0)
    assert server.receive(data)
    assert server.is_closed and server.receive(fragment(REQUEST, is_partial=0, has_metadata=1)) == []
