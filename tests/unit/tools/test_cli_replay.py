"""`replay`: a recorded connection held to its sessions, by captures made here and by those of real programs."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result
from tests.unit.tools.test_cli_capture import ACK, LUMBERJACK, Wire

from wiregen.tools.cli import wiregen
from wireproto import lumberjack as lj

ROOT = Path(__file__).resolve().parents[3]
KEPT = ROOT / "tests" / "conformance" / "data" / "captures"
CAPTURES = [
    *(("lumberjack", path) for path in sorted((ROOT / "examples" / "captures").glob("*.pcap"))),
    *(("lumberjack", path) for path in sorted(KEPT.glob("lumberjack/*/capture.pcap"))),
    *(("pravega", path) for path in sorted(KEPT.glob("pravega/*/*.pcap.gz"))),
]
PLAIN = """protocol plain {
  source "None"
  endian big
  roles  left, right
}
frame Frame {
  type : u8 := code(body)
  body : match type
}
message Only 1 { }
"""
ONE = lj.encode(lj.Window(1)) + lj.encode(lj.Data(1, []))


def replay(*arguments: str | Path) -> Result:
    return CliRunner().invoke(wiregen, ["replay", *map(str, arguments)])


def lines_of(result: Result) -> list[dict[str, Any]]:
    return [json.loads(line) for line in result.stdout.splitlines()]


def ack(sequence: int) -> bytes:
    return lj.encode(lj.Ack(sequence))


@pytest.mark.parametrize(
    ("protocol", "path"),
    [pytest.param(*each, id=f"{each[1].parent.name}-{each[1].name}") for each in CAPTURES],
)
def test_real_programs_keep_the_rules(protocol: str, path: Path) -> None:
    result = replay(protocol, path, "--format", "jsonl")
    summary = lines_of(result)[-1]["summary"]
    assert result.exit_code == 0
    assert (summary["violations"], summary["faults"]) == ({}, 0)
    assert summary["frames"] == len(lines_of(result)) - 1 > 0


def test_a_violation_has_its_name_offset_and_time(tmp_path: Path) -> None:
    path = tmp_path / "x.pcap"
    path.write_bytes(Wire().open().client(ONE).server(ack(1)).server(ack(7)).close().pcap())
    result = replay(LUMBERJACK, path, "--format", "jsonl")
    assert result.exit_code == 1
    *frames, last = lines_of(result)
    assert last["summary"]["violations"] == {"ack_out_of_window": 1}
    assert last["summary"]["connections"] == 1
    (broken,) = [line for line in frames if line["violations"]]
    (found,) = broken["violations"]
    assert (broken["offset"], broken["from"], broken["message"]) == (6, "reader", "Ack")
    assert broken["time"] > frames[0]["time"]
    assert (found["violation"], found["session"], found["state"]) == (
        "ack_out_of_window",
        "Transfer",
        "idle",
    )
    assert found["rule"].startswith("An Ack has the number")
    assert [step for line in frames for step in line["steps"]] == [
        {"session": "Transfer", "key": None, "state": "idle", "next_state": "waiting"},
        {"session": "Transfer", "key": None, "state": "waiting", "next_state": "idle"},
    ]


def test_the_text_says_the_same(tmp_path: Path) -> None:
    path = tmp_path / "x.pcap"
    path.write_bytes(Wire().open().client(ONE).server(ack(1)).server(ack(7)).close().pcap())
    result = replay(LUMBERJACK, path)
    assert result.exit_code == 1
    text = result.stdout
    assert "Transfer idle → waiting" in text
    assert "VIOLATION ack_out_of_window [Transfer in idle]: An Ack has" in text
    assert "at the end of 127.0.0.1:51000-127.0.0.1:5044: Transfer idle" in text
    assert text.endswith("4 frames in 1 connection: 1 violation (ack_out_of_window 1), 0 notes, 0 faults\n")


def test_what_is_lenient_is_a_note_unless_strict(tmp_path: Path) -> None:
    path = tmp_path / "x.pcap"
    path.write_bytes(Wire().open().client(lj.encode(lj.Data(1, []))).server(ack(1)).close().pcap())
    lenient, strict = replay(LUMBERJACK, path), replay(LUMBERJACK, path, "--strict")
    assert (lenient.exit_code, strict.exit_code) == (0, 1)
    assert "note window_overrun" in lenient.stdout
    assert "VIOLATION window_overrun" in strict.stdout


def test_time_runs_out_in_a_recording_too(tmp_path: Path) -> None:
    """A packet comes each tenth of a second."""
    path = tmp_path / "x.pcap"
    path.write_bytes(Wire().open().client(ONE).close().pcap())
    result = replay(LUMBERJACK, path, "--limit", "ack_wait=50", "--format", "jsonl", "--strict")
    assert result.exit_code == 1
    (timer,) = [line for line in lines_of(result) if line.get("violations")]
    assert "message" not in timer
    assert timer["violations"][0]["violation"] == "ack_timeout"


def test_an_option_is_set(tmp_path: Path) -> None:
    path = tmp_path / "x.pcap"
    events = lj.encode(lj.Window(2)) + lj.encode(lj.Data(11, [])) + lj.encode(lj.Data(12, []))
    path.write_bytes(Wire().open().client(events).server(ack(2)).close().pcap())
    assert replay(LUMBERJACK, path, "--option", "ack_value=COUNT").exit_code == 0
    assert '"state":"waiting"}' in replay(LUMBERJACK, path, "--format", "jsonl").stdout.splitlines()[-1]
    for wrong in ("ack_value=MANY", "speed=1"):
        assert replay(LUMBERJACK, path, "--option", wrong).exit_code == 2


def test_two_files_are_the_two_directions(tmp_path: Path) -> None:
    writer, reader = tmp_path / "writer.bin", tmp_path / "reader.bin"
    writer.write_bytes(ONE)
    reader.write_bytes(ack(1))
    result = replay("lumberjack", writer, reader, "--format", "jsonl")
    assert result.exit_code == 0
    assert [line.get("from") for line in lines_of(result)] == ["writer", "writer", "reader", None]
    reader.write_bytes(ack(3))
    assert replay("lumberjack", writer, reader).exit_code == 1


def test_what_cannot_be_decoded_is_a_finding(tmp_path: Path) -> None:
    path = tmp_path / "x.pcap"
    path.write_bytes(Wire().open().client(b"no lumberjack").close().pcap())
    result = replay(LUMBERJACK, path)
    assert result.exit_code == 1
    assert "FAULT" in result.stdout
    assert "1 fault" in result.stdout


def test_one_file_that_is_no_capture_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "x.bin"
    path.write_bytes(ONE + ACK)
    result = replay("lumberjack", path)
    assert result.exit_code == 2
    assert "is not a capture" in result.stderr


def test_a_protocol_without_sessions_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "plain.wire"
    path.write_text(PLAIN)
    result = replay(path, tmp_path / "x.pcap")
    assert result.exit_code == 2
    assert "no sessions" in result.stderr


@pytest.mark.parametrize("verb", ["replay", "decode"])
def test_a_port_that_no_connection_has_is_refused_by_the_ports_there_are(verb: str, tmp_path: Path) -> None:
    path = tmp_path / "x.pcap"
    path.write_bytes(Wire(51000, 9999).open().client(ONE).close().pcap())
    result = CliRunner().invoke(wiregen, [verb, str(LUMBERJACK), str(path), "--port", "9"])
    assert (result.exit_code, result.stdout) == (2, "")
    assert "no connection in the capture has port 9\n" in result.stderr
    assert "the capture has connections to 9999\n" in result.stderr
    path.write_bytes(Wire(51000, 9999).pcap())
    result = CliRunner().invoke(wiregen, [verb, str(LUMBERJACK), str(path), "--port", "9"])
    assert result.exit_code == 2 and "the capture has no TCP connections" in result.stderr
