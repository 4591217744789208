"""`proxy`: what peers get through it, what it shows of them, what it records, and how it ends."""

from __future__ import annotations

import json
import os
import random
import re
import signal
import socket
import ssl
import threading
from contextlib import suppress
from pathlib import Path

import pytest
from tests.commands import called
from tests.interop.certificates import make_certificates
from tests.proxies import Ended, Listener, connected, received, running_tool
from tests.unit.tools.test_cli_decode import VAULT

from wireproto import lumberjack as lj

ROOT = Path(__file__).resolve().parents[3]
LUMBERJACK = ROOT / "idl" / "lumberjack.wire"
WINDOW = lj.encode(lj.Window(2))
EVENTS = [lj.encode(lj.Json(number, b'{"number": %d}' % number)) for number in (1, 2)]
ACK = lj.encode(lj.Ack(2))
SENT = WINDOW + b"".join(EVENTS)


def acknowledging(peer: socket.socket) -> None:
    """Read one window with its events, acknowledge it, and read to the end."""
    received(peer, len(SENT))
    peer.sendall(ACK)
    received(peer)


def talked(folder: Path, *arguments: str | Path) -> Ended:
    """Return the end of a proxy through which one window was sent."""
    target = Listener(acknowledging)
    with running_tool(
        folder, "proxy", LUMBERJACK, "--listen", "0", "--to", str(target.port), *arguments
    ) as tool:
        with connected(tool.port()) as peer:
            peer.sendall(SENT)
            assert received(peer, len(ACK)) == ACK
        target.join()
        return tool.stop()


# ---- what is relayed and shown


def test_both_directions_are_relayed_and_shown_as_decode_shows_them(tmp_path: Path) -> None:
    ended = talked(tmp_path)
    assert ended.code == 0, ended.errors
    assert ended.messages("writer") == ["Window", "Json", "Json"]
    assert ended.messages("reader") == ["Ack"]
    shown = [json.loads(line) for line in called("decode", str(LUMBERJACK), "-", "--from", "writer", folder=tmp_path, data=SENT).stdout.splitlines()]  # fmt: skip
    sent = [line for line in ended.lines if line["from"] == "writer"]
    assert [{key: line[key] for key in line if key not in ("flow", "time")} for line in sent] == shown
    assert re.fullmatch(r"127\.0\.0\.1:\d+-127\.0\.0\.1:\d+", sent[0]["flow"])
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z", sent[0]["time"])


def test_the_summary_has_messages_errors_and_bytes(tmp_path: Path) -> None:
    ended = talked(tmp_path, "--format", "tree")
    summary = f"1 connection: writer 3 messages of {len(SENT)} bytes, reader 1 message of 6 bytes, 0 errors, 0 violations, 0 notes"
    assert ended.summary == summary
    assert re.match(
        r"listening on 127\.0\.0\.1 port \d+ for writer, relaying to 127\.0\.0\.1:\d+$", ended.errors[0]
    )
    assert "bytes from writer: Window  127.0.0.1:" in ended.stdout


def test_a_violation_is_shown_with_role_state_and_offset_and_relayed(tmp_path: Path) -> None:
    def overeager(peer: socket.socket) -> None:
        received(peer, len(SENT))
        peer.sendall(ACK + lj.encode(lj.Ack(7)))
        received(peer)

    for form in ("jsonl", "tree"):
        target = Listener(overeager)
        with running_tool(tmp_path, *arguments(target.port), "--format", form) as tool:
            with connected(tool.port()) as peer:
                peer.sendall(SENT)
                assert received(peer, 12) == ACK + lj.encode(lj.Ack(7))
            target.join()
            ended = tool.stop()
        assert ended.code == 1
        assert "1 violation (ack_out_of_window 1)" in ended.summary
        if form == "tree":
            shown = r"VIOLATION ack_out_of_window \[Transfer in idle\]: An Ack has .* \(reader at 6\)"
            assert re.search(shown, ended.stdout)
            continue
        (found,) = [line for line in ended.lines if "violation" in line]
        assert (found["from"], found["offset"], found["session"], found["state"]) == (
            "reader",
            6,
            "Transfer",
            "idle",
        )


def arguments(port: int) -> tuple[str, ...]:
    return ("proxy", str(LUMBERJACK), "--listen", "0", "--to", str(port))


def test_bytes_that_cannot_be_decoded_are_relayed(tmp_path: Path) -> None:
    """Also those after an error from which decoding cannot continue; it is shown at once and once."""
    noise = random.Random(4).randbytes(300_000)
    data = SENT + b"9?" + noise
    got: list[bytes] = []
    target = Listener(lambda peer: got.append(received(peer, len(data))))
    with running_tool(tmp_path, *arguments(target.port)) as tool:
        with connected(tool.port()) as peer:
            peer.sendall(data)
            target.join()
        ended = tool.stop()
    assert got == [data]
    assert ended.code == 1
    (error,) = [line for line in ended.lines if "error" in line]
    assert (error["error"]["code"], error["offset"]) == ("invalid_enum", len(SENT))
    assert "1 error" in ended.summary


def test_close_on_error_closes_both_sides(tmp_path: Path) -> None:
    target = Listener(received)
    with running_tool(tmp_path, *arguments(target.port), "--close-on-error") as tool:
        with connected(tool.port()) as peer:
            peer.sendall(SENT + b"9?")
            assert received(peer) == b""
        target.join()
        assert tool.stop().code == 1


def test_one_direction_may_end_before_the_other(tmp_path: Path) -> None:
    def late(peer: socket.socket) -> None:
        assert received(peer) == SENT
        peer.sendall(ACK)

    target = Listener(late)
    with running_tool(tmp_path, *arguments(target.port)) as tool:
        with connected(tool.port()) as peer:
            peer.sendall(SENT)
            peer.shutdown(socket.SHUT_WR)
            assert received(peer) == ACK
        target.join()
        ended = tool.stop()
    assert ended.messages("reader") == ["Ack"]


def test_a_slow_side_makes_the_other_one_wait(tmp_path: Path) -> None:
    """The sender is stopped while the receiver reads nothing, and everything arrives once it does."""
    go = threading.Event()
    got: list[int] = []

    def slow(peer: socket.socket) -> None:
        assert go.wait(120)
        got.append(len(received(peer)))

    target = Listener(slow)
    size, n_sent = 64 << 20, 0
    with running_tool(tmp_path, *arguments(target.port)) as tool:
        with connected(tool.port()) as peer:
            peer.settimeout(3)
            piece = bytes(1 << 20)
            try:
                while n_sent < size:
                    n_sent += peer.send(piece)
            except TimeoutError:
                pass
            assert n_sent < size, "the proxy holds everything"
            go.set()
            peer.settimeout(120)
            while n_sent < size:
                n_sent += peer.send(piece[: size - n_sent])
        target.join()
        ended = tool.stop()
    assert got == [size]
    assert f"{size:,} bytes" in ended.summary


def test_bytes_over_the_backlog_are_relayed_and_counted(tmp_path: Path) -> None:
    """Events are decoded much more slowly than they are relayed."""
    events = b"".join(lj.encode(lj.Json(number, bytes(4_000))) for number in range(1, 4_001))
    got: list[bytes] = []
    target = Listener(lambda peer: got.append(received(peer)))
    with running_tool(tmp_path, *arguments(target.port), "--backlog", "1") as tool:
        with connected(tool.port()) as peer:
            peer.sendall(events)
        target.join()
        ended = tool.stop()
    assert got == [events]
    n_skipped = int(re.search(r"not decoded ([\d,]+) bytes", ended.summary)[1].replace(",", ""))  # type: ignore[index]
    gaps = [line["size"] for line in ended.lines if "error" in line and line["error"]["code"] == "gap"]
    assert sum(gaps) == n_skipped > 0


def test_connections_over_the_maximum_are_closed(tmp_path: Path) -> None:
    target = Listener(acknowledging)
    with running_tool(tmp_path, *arguments(target.port), "--connections", "1") as tool:
        port = tool.port()
        with connected(port) as peer:
            peer.sendall(SENT)
            assert received(peer, len(ACK)) == ACK
            with connected(port) as other:
                assert received(other) == b""
        target.join()
        ended = tool.stop()
    assert "1 connection:" in ended.summary
    assert ended.summary.endswith("refused 1 connection")


def test_a_target_that_is_not_there_is_told_and_the_peer_is_closed(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    with running_tool(tmp_path, *arguments(port)) as tool:
        with connected(tool.port()) as peer:
            assert received(peer) == b""
        ended = tool.stop()
    assert f"no connection to 127.0.0.1:{port}: " in ended.errors[1]
    assert ended.code == 0


def test_a_listener_for_other_computers_says_so(tmp_path: Path) -> None:
    with running_tool(tmp_path, "proxy", LUMBERJACK, "--listen", "0.0.0.0:0", "--to", "1") as tool:
        tool.port()
        ended = tool.stop()
    assert "every host that reaches this computer can connect" in ended.errors[0]


def test_a_second_interrupt_ends_at_once_with_its_exit_code(tmp_path: Path) -> None:
    events = b"".join(lj.encode(lj.Json(number, b"{}")) for number in range(1, 20_001))
    target = Listener(received)
    with running_tool(tmp_path, *arguments(target.port)) as tool:
        with connected(tool.port()) as peer:
            peer.sendall(events)
        target.join()
        tool.process.send_signal(signal.SIGINT)
        tool.told(re.compile("Ctrl-C ends at once"))
        assert tool.stop().code == 130


def test_the_other_role_may_be_the_one_that_connects(tmp_path: Path) -> None:
    def writer(peer: socket.socket) -> None:
        peer.sendall(SENT)
        assert received(peer, len(ACK)) == ACK

    target = Listener(writer)
    with running_tool(tmp_path, *arguments(target.port), "--from", "reader") as tool:
        with connected(tool.port()) as peer:
            assert received(peer, len(SENT)) == SENT
            peer.sendall(ACK)
            target.join()
        ended = tool.stop()
    assert ended.code == 0
    assert (ended.messages("writer"), ended.messages("reader")) == (["Window", "Json", "Json"], ["Ack"])


# ---- secrets and recordings


@pytest.mark.parametrize("form", ["jsonl", "tree", "hex"])
def test_a_secret_is_hidden_in_every_view_and_recorded(form: str, tmp_path: Path) -> None:
    vault = tmp_path / "vault.wire"
    vault.write_text(VAULT)
    whole = bytes.fromhex("01 0009 03 626f62 04 73336372")
    cut = bytes.fromhex("01 0009 03 626f62 09 73336372")
    got: list[bytes] = []
    target = Listener(lambda peer: got.append(received(peer)))
    command = (
        "proxy",
        vault,
        "--listen",
        "0",
        "--to",
        str(target.port),
        "--format",
        form,
        "--record",
        "secret.pcap",
    )
    with running_tool(tmp_path, *command) as tool:
        with connected(tool.port()) as peer:
            peer.sendall(whole + cut)
        target.join()
        ended = tool.stop()
    assert got == [whole + cut]
    for trace in ("s3cr", "73336372", "73 33"):
        assert trace not in ended.stdout
    assert "··" in (ended.stdout if form != "jsonl" else json.dumps(ended.lines, ensure_ascii=False))
    assert whole + cut in (tmp_path / "secret.pcap").read_bytes()


def test_a_recording_gives_back_the_bytes(tmp_path: Path) -> None:
    path = tmp_path / "talk.pcap"
    ended = talked(tmp_path, "--record", path, "--time", "epoch")
    assert path.stat().st_mode & 0o777 == 0o600
    decoded = called("decode", str(LUMBERJACK), str(path), folder=tmp_path)
    lines = [json.loads(line) for line in decoded.stdout.splitlines()]

    def placed(line: dict[str, object]) -> dict[str, object]:
        return {key: line[key] for key in line if key != "time"}

    by_place = sorted(map(placed, ended.lines), key=lambda line: (str(line["from"]), line["offset"]))
    assert sorted(map(placed, lines), key=lambda line: (str(line["from"]), line["offset"])) == by_place
    assert abs(lines[0]["time"] - ended.lines[0]["time"]) < 60
    assert decoded.exit_code == 0
    assert called("replay", str(LUMBERJACK), str(path), folder=tmp_path).exit_code == 0


def test_a_recording_overwrites_nothing_unless_it_is_forced(tmp_path: Path) -> None:
    path = tmp_path / "old"
    path.write_bytes(b"x" * 100_000)
    path.chmod(0o644)
    command = ("proxy", str(LUMBERJACK), "--listen", "0", "--to", "1", "--record")
    refused = called(*command, "old", folder=tmp_path)
    assert (refused.exit_code, path.stat().st_size) == (2, 100_000)
    assert "--force" in refused.output
    link, pipe = tmp_path / "link", tmp_path / "pipe"
    link.symlink_to(path)
    os.mkfifo(pipe)
    for name in ("link", "pipe", "missing/file"):
        refused = called(*command, name, "--force", folder=tmp_path)
        assert refused.exit_code == 2, refused.output
        assert "help: " in refused.output
    assert path.stat().st_size == 100_000
    talked(tmp_path, "--record", "old", "--force")
    assert path.stat().st_mode & 0o777 == 0o600
    assert called("decode", str(LUMBERJACK), "old", folder=tmp_path).exit_code == 0


def test_a_full_disk_ends_the_recording_and_not_the_relay(tmp_path: Path) -> None:
    if not Path("/dev/full").exists():
        pytest.skip("there is no /dev/full")
    from wiregen.formats.capture import Endpoint
    from wiregen.tools.cli.proxying.recording import CaptureRecording

    errors: list[OSError] = []
    end = Endpoint(address="127.0.0.1", port=1)
    with Path("/dev/full").open("wb") as full:
        recording = CaptureRecording(full, errors.append)
        connection = recording.open(end, end)
        for _ in range(10):
            connection.send(bytes(100_000), from_opener=True)
        recording.close()
    assert len(errors) == 1
    assert recording.error is errors[0]


# ---- faults


def forwarded(
    folder: Path, data: bytes, *more: str | Path, protocol: Path = LUMBERJACK
) -> tuple[bytes, Ended]:
    """Return the bytes that the target gets of those that the first role sends, and the end of the proxy."""
    got: list[bytes] = []
    target = Listener(lambda peer: got.append(received(peer)))
    command = ("proxy", protocol, "--listen", "0", "--to", str(target.port), *more)
    with running_tool(folder, *command) as tool:
        with connected(tool.port()) as peer:
            peer.sendall(data)
            peer.shutdown(socket.SHUT_WR)
            received(peer)
        target.join()
        return got[0], tool.stop()


def test_messages_are_dropped_by_expression(tmp_path: Path) -> None:
    got, ended = forwarded(tmp_path, SENT, "--drop", 'message == "Json" and sequence == 1')
    assert got == WINDOW + EVENTS[1]
    assert [line["action"] for line in ended.lines if "action" in line] == ["dropped"]
    assert ended.messages("writer") == ["Window", "Json", "Json"]
    assert ended.summary.endswith(", dropped 1")


def test_a_connection_is_cut_before_a_message(tmp_path: Path) -> None:
    got, ended = forwarded(tmp_path, SENT, "--cut", "sequence == 2")
    assert got == WINDOW + EVENTS[0]
    (action,) = [line for line in ended.lines if "action" in line]
    assert (action["action"], action["offset"]) == ("cut", len(WINDOW + EVENTS[0]))
    assert ended.summary.endswith(", cut 1")


def test_a_cut_may_be_told_by_the_offset_so_that_each_connection_goes_a_little_further(
    tmp_path: Path,
) -> None:
    got, _ = forwarded(tmp_path, SENT, "--cut", "@from == writer and @offset > 6", "--format", "tree")
    assert got == WINDOW + EVENTS[0]


def test_messages_are_changed_by_expression_and_encoded_again(tmp_path: Path) -> None:
    changes = ("--change", 'message == "Json"', "sequence = sequence + 10", "--change", "sequence == 2", "document = x\"7b7d\"")  # fmt: skip
    got, ended = forwarded(tmp_path, SENT, *changes)
    expected: list[lj.Window | lj.Json] = [lj.Window(2), lj.Json(11, b'{"number": 1}'), lj.Json(12, b"{}")]
    assert got == b"".join(lj.encode(message) for message in expected)
    assert [line["action"] for line in ended.lines if "action" in line] == [
        "changed: sequence = sequence + 10",
        "changed: sequence = sequence + 10",
        'changed: document = x"7b7d"',
    ]


def test_a_change_that_cannot_be_encoded_leaves_the_message(tmp_path: Path) -> None:
    got, ended = forwarded(tmp_path, SENT, "--change", 'message == "Window"', "size = 1099511627776")
    assert got == SENT
    (action,) = [line["action"] for line in ended.lines if "action" in line]
    assert action.startswith("not changed: ")


@pytest.mark.parametrize("value", ["V1", "Version.V1", "0x31"])
def test_a_field_of_an_enum_is_changed_to_a_member(value: str, tmp_path: Path) -> None:
    got, _ = forwarded(tmp_path, WINDOW, "--change", 'message == "Window"', f"version = {value}")
    assert got == b"1" + WINDOW[1:]


def test_the_header_of_a_frame_is_changed(tmp_path: Path) -> None:
    protocol = ROOT / "tests" / "talk.wire"
    start = bytes.fromhex("02 0002 00 05 01")
    got, _ = forwarded(
        tmp_path, start, "--change", 'message == "Start"', "note = work + 1", protocol=protocol
    )
    assert got == bytes.fromhex("02 0002 02 05 01")


@pytest.mark.parametrize(
    "fault",
    [
        ("--drop", 'message == "Ack"'),
        ("--cut", "sequence == 77"),
        ("--change", "sequence == 77", "sequence = 1"),
    ],
)
def test_bytes_that_no_fault_is_about_are_unchanged(fault: tuple[str, ...], tmp_path: Path) -> None:
    """Also those that cannot be decoded, and a frame that the end of the stream cuts off."""
    noise = random.Random(5).randbytes(200_000)
    for data in (SENT + WINDOW[:3], SENT + b"9?" + noise):
        got, _ = forwarded(tmp_path, data, *fault)
        assert got == data


def test_a_delay_changes_no_byte(tmp_path: Path) -> None:
    data = random.Random(6).randbytes(5_000_000)
    got, _ = forwarded(tmp_path, data, "--delay", "writer:50", "--delay", "reader:1")
    assert got == data


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--drop", "nothing == 1"), "nothing"),
        (("--cut", "sequence +"), "--cut"),
        (("--change", "sequence == 1", "sequence"), "is not FIELD=EXPR"),
        (("--change", "sequence == 1", "nothing = 1"), "nothing"),
        (("--change", 'message == "Nix"', "sequence = 1"), '1 | message == "Nix"'),
        (("--change", "sequence == 1", "version = V3"), "there is no member `V3` in `Version`"),
        (("--change", "sequence == 1", "type = 3"), "`type` is computed when the message is encoded"),
        (("--delay", "nobody:1"), "nobody"),
        (("--delay", "writer"), "is not ROLE:MS"),
        (("--cert", __file__), "is only for TLS"),
        (("--tls",), "needs --cert and --key"),
        (("--from", "nobody"), "nobody"),
        (("--force",), "is for --record"),
    ],
)
def test_a_wrong_option_is_refused_before_anything_is_relayed(
    options: tuple[str, ...], message: str, tmp_path: Path
) -> None:
    result = called("proxy", str(LUMBERJACK), "--listen", "0", "--to", "1", *options, folder=tmp_path)
    assert result.exit_code == 2, result.output
    assert message in result.output


# ---- TLS


def test_tls_on_both_sides(tmp_path: Path) -> None:
    """The peer, the proxy and the target each have a certificate, and each checks that of its peer."""
    made = make_certificates(tmp_path)
    server = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    server.load_cert_chain(made.server, made.server_key)
    server.load_verify_locations(made.ca)
    server.verify_mode = ssl.CERT_REQUIRED

    def secured(peer: socket.socket) -> None:
        with server.wrap_socket(peer, server_side=True) as wire:
            acknowledging(wire)

    target = Listener(secured)
    sides = ("--tls", "--cert", made.server, "--key", made.server_key, "--client-ca", made.ca)
    others = ("--to-tls", "--to-ca", made.ca, "--to-cert", made.client, "--to-key", made.client_key)
    more = (*sides, *others, "--record", "talk.pcap")
    client = ssl.create_default_context(cafile=made.ca)
    with running_tool(tmp_path, *arguments(target.port), *more) as tool:
        port = tool.port()
        with (
            connected(port) as plain,
            suppress(OSError),
            client.wrap_socket(plain, server_hostname="127.0.0.1") as wire,
        ):
            wire.sendall(SENT)
            assert wire.recv(1) == b"", "a peer without a certificate was served"
        client.load_cert_chain(made.client, made.client_key)
        with connected(port) as plain, client.wrap_socket(plain, server_hostname="127.0.0.1") as wire:
            wire.sendall(SENT)
            assert received(wire, len(ACK)) == ACK
        target.join()
        ended = tool.stop()
    assert ended.messages("writer") == ["Window", "Json", "Json"]
    assert ended.messages("reader") == ["Ack"]
    assert called("decode", str(LUMBERJACK), "talk.pcap", folder=tmp_path).exit_code == 0


def test_a_target_without_tls_is_told(tmp_path: Path) -> None:
    target = Listener(lambda peer: peer.sendall(b"no TLS"))
    with running_tool(tmp_path, *arguments(target.port), "--to-tls") as tool:
        with connected(tool.port()) as peer:
            assert received(peer) == b""
        target.join()
        ended = tool.stop()
    assert "no connection to 127.0.0.1" in ended.errors[1]
