"""`decode` of captures: both directions in time order, who is who, gaps; and the captures of real clients."""

import gzip
import json
import lzma
import os
import struct
import sys
import threading
from base64 import b64decode
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from wiregen.tools.cli import wiregen
from wiregen.tools.cli.input import open_bytes

LUMBERJACK = Path(__file__).resolve().parents[3] / "idl" / "lumberjack.wire"
CAPTURES = Path(__file__).resolve().parents[2] / "conformance" / "data" / "captures" / "lumberjack"
NAMES = sorted(folder.name for folder in CAPTURES.glob("*"))

EVENT = bytes.fromhex("31 44 00000001 00000001 00000004 6c696e65 00000005 68656c6c6f")
WINDOW = bytes.fromhex("32 57 0000000a")
ACK = bytes.fromhex("32 41 0000000a")

LONG = """protocol long { endian big  roles client, server }
frame Frame {
  size : u16 := size(body)
  type : u8 := code(body)
  body : match type in size
}
message Data 1 from client { data : bytes[] }
"""
ALIKE = """protocol alike { endian big  roles client, server }
frame Frame {
  type    : u8 := code(body)
  version : u16
  size    : u16 := size(body)
  body    : match type in size
}
message Data 0x16 from client { data : bytes[] }
"""
FIN, SYN, ACKED = 1, 2, 16
CLIENT, SERVER = 51000, 5044


def run(*arguments: str | Path, data: bytes = b"") -> Result:
    return CliRunner().invoke(wiregen, [str(argument) for argument in arguments], input=data)


def lines_of(result: Result) -> list[dict[str, Any]]:
    return [json.loads(line) for line in result.stdout.splitlines()]


class Wire:
    """A capture in the making: TCP between two ports of one machine, a packet each tenth of a second."""

    def __init__(self, client: int = CLIENT, server: int = SERVER) -> None:
        self._ports = client, server
        self._sequence = {client: 1000, server: 2000}
        self._packets: list[bytes] = []

    def open(self) -> "Wire":
        client, server = self._ports
        self._add(client, b"", SYN)
        self._add(server, b"", SYN | ACKED)
        return self

    def client(self, data: bytes, *, is_lost: bool = False) -> "Wire":
        return self._add(self._ports[0], data, ACKED, is_lost=is_lost)

    def server(self, data: bytes) -> "Wire":
        return self._add(self._ports[1], data, ACKED)

    def close(self) -> "Wire":
        self._add(self._ports[0], b"", FIN | ACKED)
        return self._add(self._ports[1], b"", FIN | ACKED)

    def _add(self, sender: int, data: bytes, flags: int, *, is_lost: bool = False) -> "Wire":
        receiver = next(port for port in self._ports if port != sender)
        sequence, acknowledged = self._sequence[sender], self._sequence[receiver]
        segment = (
            struct.pack(">HHIIBBHHH", sender, receiver, sequence, acknowledged, 0x50, flags, 8192, 0, 0)
            + data
        )
        loopback = bytes((127, 0, 0, 1))
        header = struct.pack(">BBHHHBBH4s4s", 0x45, 0, 20 + len(segment), 0, 0, 64, 6, 0, loopback, loopback)
        self._packets.append(b"" if is_lost else header + segment)
        self._sequence[sender] += len(data) + bool(flags & (SYN | FIN))
        return self

    def pcap(self) -> bytes:
        raw_ip = 101
        head = struct.pack("<IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, 65535, raw_ip)
        packets = enumerate(self._packets)
        return head + b"".join(
            struct.pack("<IIII", 1700000000, 100_000 * index, len(packet), len(packet)) + packet
            for index, packet in packets
            if packet
        )


def conversation(wire: Wire) -> Wire:
    return wire.client(WINDOW + EVENT[:10]).client(EVENT[10:]).server(ACK).close()


def test_both_directions_come_in_the_order_of_time() -> None:
    result = run("decode", LUMBERJACK, data=conversation(Wire().open()).pcap())
    assert (result.exit_code, result.stderr) == (0, "the input is a capture\n")
    flow = "127.0.0.1:51000-127.0.0.1:5044"
    assert [(line["from"], line["offset"], line["message"], line["time"]) for line in lines_of(result)] == [
        ("writer", 0, "Window", 1700000000.2),
        ("writer", 6, "Data", 1700000000.3),
        ("reader", 0, "Ack", 1700000000.4),
    ]
    assert {line["flow"] for line in lines_of(result)} == {flow}


def test_a_capture_is_recognised_in_a_file_and_zipped(tmp_path: Path) -> None:
    data = conversation(Wire().open()).pcap()
    wanted = run("decode", LUMBERJACK, data=data).stdout
    for name, content in (("plain.bin", data), ("zipped.bin", gzip.compress(data))):
        (tmp_path / name).write_bytes(content)
        assert run("decode", LUMBERJACK, tmp_path / name).stdout == wanted
        assert run("decode", LUMBERJACK, "-", data=content).stdout == wanted


@pytest.mark.parametrize("options", [(), ("--pcap",)])
def test_a_capture_comes_through_a_pipe(options: tuple[str, ...], tmp_path: Path) -> None:
    data = conversation(Wire().open()).pcap()
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    writer = threading.Thread(target=lambda: pipe.write_bytes(data))
    writer.start()
    result = run("decode", LUMBERJACK, *options, pipe)
    writer.join(60)
    assert (result.exit_code, result.stdout) == (0, run("decode", LUMBERJACK, data=data).stdout)


def test_bytes_of_a_pipe_that_begin_no_capture_are_there_at_once(tmp_path: Path) -> None:
    """The writer keeps the pipe open until its first byte has arrived."""
    pipe, arrived = tmp_path / "pipe", threading.Event()
    os.mkfifo(pipe)
    seen = []

    def write() -> None:
        with pipe.open("wb", buffering=0) as file:
            file.write(b"2")
            seen.append(arrived.wait(60))

    writer = threading.Thread(target=write)
    writer.start()
    with open_bytes(str(pipe), is_capture=None) as source:
        assert next(iter(source.chunks)) == b"2"
        arrived.set()
    writer.join(60)
    assert seen == [True]


@pytest.mark.parametrize("compress", [gzip.compress, lzma.compress])
def test_a_compressed_capture_is_decoded(compress: Callable[[bytes], bytes], tmp_path: Path) -> None:
    data = conversation(Wire().open()).pcap()
    path = tmp_path / "capture"
    path.write_bytes(compress(data))
    expected = run("decode", LUMBERJACK, data=data).stdout
    assert expected
    assert run("decode", LUMBERJACK, path).stdout == expected
    assert run("decode", LUMBERJACK, data=compress(data)).stdout == expected


@pytest.mark.parametrize(
    "arguments",
    [
        ("decode", LUMBERJACK, "FILE"),
        ("decode", LUMBERJACK, "--pcap", "FILE"),
        ("decode", LUMBERJACK, "--follow", "FILE"),
        ("decode", LUMBERJACK, "-"),
        ("replay", LUMBERJACK, "FILE"),
        ("replay", LUMBERJACK, "-"),
        ("diff", LUMBERJACK, "FILE", "FILE"),
    ],
)
def test_without_the_library_of_zstd_each_verb_says_what_to_do(
    arguments: tuple[str, ...], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    for name in ("compression.zstd", "backports.zstd"):
        monkeypatch.setitem(sys.modules, name, None)
    data = b"\x28\xb5\x2f\xfd" + bytes(20)
    (tmp_path / "talk.pcap.zst").write_bytes(data)
    given = [tmp_path / "talk.pcap.zst" if each == "FILE" else each for each in arguments]
    result = run(*given, data=data)
    assert (result.exit_code, result.stdout) == (2, "")
    assert "pip install 'wiregen[zstd]'" in result.stderr and "bug" not in result.stderr


HELLO = bytes.fromhex("1603010005 0100000100")


@pytest.mark.parametrize("verb", ["decode", "replay", "diff"])
def test_a_capture_of_tls_is_told_once(verb: str, tmp_path: Path) -> None:
    path = tmp_path / "tls.pcap"
    wire = Wire().open().client(HELLO).server(HELLO).client(bytes.fromhex("1703030001 00"))
    path.write_bytes(wire.close().pcap())
    result = run(verb, LUMBERJACK, *([path] * (1 + (verb == "diff"))))
    told = "warning: 127.0.0.1:51000-127.0.0.1:5044 is TLS, and its bytes are encrypted\n  = help: record it with `wiregen proxy --tls`"
    assert result.stderr.count(told) == result.stderr.count("TLS,") == 1 + (verb == "diff")


def test_tls_is_told_of_a_protocol_that_waits_for_more_bytes(tmp_path: Path) -> None:
    """The length 0x1603 exceeds the record, so that only the end of the connection shows that it is no frame."""
    protocol = tmp_path / "long.wire"
    protocol.write_text(LONG)
    result = run("decode", protocol, data=Wire().open().client(HELLO).close().pcap())
    assert "is TLS" in result.stderr


def test_frames_that_begin_like_tls_are_not_taken_for_it(tmp_path: Path) -> None:
    protocol = tmp_path / "alike.wire"
    protocol.write_text(ALIKE)
    known, unknown = (
        run("decode", protocol, data=Wire().open().client(data).close().pcap())
        for data in (HELLO, HELLO.replace(b"\x16", b"\x17", 1))
    )
    assert (known.exit_code, known.stderr) == (0, "the input is a capture\n")
    assert "is TLS" in unknown.stderr


def test_bytes_like_tls_within_a_connection_are_not_taken_for_it() -> None:
    result = run("decode", LUMBERJACK, data=Wire().open().client(WINDOW).client(HELLO).close().pcap())
    assert result.exit_code == 1 and "TLS" not in result.stderr


@pytest.mark.parametrize("options", [(), ("--pcap",)])
def test_a_capture_from_a_pipe_is_bounded(
    options: tuple[str, ...], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    data = conversation(Wire().open()).pcap()
    monkeypatch.setattr("wiregen.tools.cli.input._MOST_CAPTURE", len(data) - 1)
    result = run("decode", LUMBERJACK, *options, data=data)
    assert (result.exit_code, result.stdout) == (2, "")
    assert "a capture from a pipe is longer than" in result.stderr and "give the file" in result.stderr
    (tmp_path / "file.pcap").write_bytes(data)
    assert run("decode", LUMBERJACK, *options, tmp_path / "file.pcap").exit_code == 0


def test_what_only_begins_like_a_capture_is_a_stream() -> None:
    data = gzip.compress(WINDOW)
    result = run("decode", LUMBERJACK, data=data)
    assert (result.exit_code, result.stderr) == (1, "")
    (line,) = lines_of(result)
    assert line["bytes"] == data.hex()


def test_a_capture_can_be_read_as_bytes_all_the_same() -> None:
    result = run("decode", LUMBERJACK, "--no-pcap", "-", data=Wire().open().pcap())
    assert [line["error"]["code"] for line in lines_of(result)] == ["invalid_enum"]


def test_only_one_role_is_shown_on_request() -> None:
    result = run("decode", LUMBERJACK, "--from", "reader", data=conversation(Wire().open()).pcap())
    assert [line["message"] for line in lines_of(result)] == ["Ack"]


@pytest.mark.parametrize(
    ("wire", "options", "said"),
    [
        pytest.param(
            Wire(), [], "no SYN was captured; by port 5044, 127.0.0.1:51000 is the writer", id="declared"
        ),
        pytest.param(
            Wire(51000, 9999), ["--port", "9999"], "by port 9999, 127.0.0.1:51000 is the writer", id="given"
        ),
        pytest.param(
            Wire(51000, 9999),
            [],
            "both ways were tried, 3 frames fit against 0, 127.0.0.1:51000 is the writer",
            id="tried",
        ),
    ],
)
@pytest.mark.parametrize("is_reader_first", [False, True])
def test_who_is_who_without_a_syn(wire: Wire, options: list[str], said: str, is_reader_first: bool) -> None:
    wire = Wire(*wire._ports)
    data = conversation(wire.server(ACK) if is_reader_first else wire).pcap()
    result = run("decode", LUMBERJACK, *options, "-", data=data)
    assert result.exit_code == 0
    expected = said.replace("3 frames", "4 frames") if is_reader_first else said
    assert expected in result.stderr
    senders = {line["message"]: line["from"] for line in lines_of(result)}
    assert senders == {"Window": "writer", "Data": "writer", "Ack": "reader"}


def test_only_connections_with_the_port_are_shown() -> None:
    data = conversation(Wire().open()).pcap()
    assert len(lines_of(run("decode", LUMBERJACK, "--port", "5044", "-", data=data))) == 3
    other = run("decode", LUMBERJACK, "--port", "80", "-", data=data)
    assert (other.exit_code, other.stdout) == (2, "")
    assert "the capture has connections to 5044" in other.stderr


def test_a_gap_is_a_line_and_decoding_goes_on_behind_it() -> None:
    wire = Wire().open().client(WINDOW + EVENT[:10]).client(EVENT[10:], is_lost=True)
    wire = wire.client(EVENT[3:]).client(WINDOW[:4]).client(WINDOW[4:] + EVENT).close()
    result = run("decode", LUMBERJACK, data=wire.pcap())
    assert result.exit_code == 1
    found = [
        (line["offset"], line["size"], line.get("message") or line["error"]["code"])
        for line in lines_of(result)
    ]
    assert found == [
        (0, 6, "Window"),
        (6, 10, "truncated"),
        (16, 17, "gap"),
        (33, 24, "lost_sync"),
        (57, 6, "Window"),
        (63, 27, "Data"),
    ]


def test_a_fault_in_a_capture_counts_from_the_stream_and_not_from_the_gap() -> None:
    wire = Wire().open().client(WINDOW).client(WINDOW, is_lost=True).client(WINDOW + b"\0").close()
    *_, fault = lines_of(run("decode", LUMBERJACK, data=wire.pcap()))
    assert (fault["offset"], fault["error"]["at"], fault["error"]["code"]) == (18, 18, "invalid_enum")


def test_encode_takes_one_direction_of_a_capture(tmp_path: Path) -> None:
    lines = run("decode", LUMBERJACK, data=conversation(Wire().open()).pcap()).stdout_bytes
    for role, data in (("writer", WINDOW + EVENT), ("reader", ACK)):
        assert run("encode", LUMBERJACK, "--from", role, data=lines).stdout_bytes == data
    mixed = run("encode", LUMBERJACK, "-o", tmp_path / "out", data=lines)
    assert mixed.exit_code == 1
    assert "from reader" in mixed.stderr and "--flow and --from" in mixed.stderr
    nobody = run("encode", LUMBERJACK, "--flow", "x", data=lines)
    assert nobody.exit_code == 2
    assert "127.0.0.1:51000-127.0.0.1:5044" in nobody.stderr


def test_a_tree_of_a_capture_says_which_connection_and_when() -> None:
    result = run("decode", LUMBERJACK, "--format", "tree", "-", data=Wire().open().client(WINDOW).pcap())
    first = result.stdout.splitlines()[0]
    assert first == "@0  6 bytes from writer: Window  127.0.0.1:51000-127.0.0.1:5044 at 1700000000.200000"


# ---- real clients ----


@pytest.mark.parametrize("name", NAMES)
def test_the_events_of_a_real_client_are_those_it_was_asked_to_send(name: str) -> None:
    result = run("decode", LUMBERJACK, CAPTURES / name / "capture.pcap")
    assert result.exit_code == 0
    found = [event for line in lines_of(result) for event in _events(line)]
    with gzip.open(CAPTURES / name / "expected.jsonl.gz") as file:
        wanted = [_expected(json.loads(line)) for line in file]
    assert found == wanted


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize(("side", "role"), [("c2s", "writer"), ("s2c", "reader")])
def test_the_bytes_of_a_real_client_come_back(name: str, side: str, role: str) -> None:
    path = CAPTURES / name / f"conn0.{side}.bin"
    lines = run("decode", LUMBERJACK, path)
    assert lines.exit_code == 0
    assert run("encode", LUMBERJACK, data=lines.stdout_bytes).stdout_bytes == path.read_bytes()
    captured = run("decode", LUMBERJACK, CAPTURES / name / "capture.pcap").stdout_bytes
    assert run("encode", LUMBERJACK, "--from", role, data=captured).stdout_bytes == path.read_bytes()


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("form", ["tree", "hex"])
def test_every_frame_of_a_real_client_can_be_looked_at(name: str, form: str) -> None:
    result = run("decode", LUMBERJACK, "--format", form, CAPTURES / name / "capture.pcap")
    assert result.exit_code == 0
    n_frames = len(lines_of(run("decode", LUMBERJACK, CAPTURES / name / "capture.pcap")))
    assert sum(row.startswith("@") for row in result.stdout.splitlines()) == n_frames


def _events(line: dict[str, Any]) -> Iterator[tuple[int, Any]]:
    """Yield sequence and content of the events of a line, those inside of envelopes too."""
    fields = line["fields"]
    match line["message"]:
        case "Data":
            yield fields["sequence"], [
                [_octets(pair["key"]), _octets(pair["value"])] for pair in fields["pairs"]
            ]
        case "Json":
            yield fields["sequence"], fields.get("document_json", bytes.fromhex(fields["document"]))
        case "Compressed":
            for inner in fields["frames"]:
                yield from _events(inner)


def _expected(event: dict[str, Any]) -> tuple[int, Any]:
    if "json" in event:
        return event["seq"], event["json"]
    if "payload_b64" in event:
        return event["seq"], b64decode(event["payload_b64"])
    if "pairs_b64" in event:
        return event["seq"], [[b64decode(part) for part in pair] for pair in event["pairs_b64"]]
    return event["seq"], [[part.encode() for part in pair] for pair in event["pairs"]]


def _octets(text: Any) -> bytes:
    return bytes.fromhex(text["hex"]) if isinstance(text, dict) else text.encode()


@pytest.mark.skipif(not Path("/dev/zero").exists(), reason="this system has no endless device")
def test_a_device_without_an_end_that_is_no_capture_is_refused_by_its_first_bytes() -> None:
    result = run("decode", LUMBERJACK, "--pcap", "/dev/zero")
    assert result.exit_code == 2
    assert "not a capture: it begins with 00000000" in result.stderr
