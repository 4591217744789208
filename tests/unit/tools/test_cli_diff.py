"""`diff`: two recordings compared by the meaning of their messages."""

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from tests.unit.tools.test_cli_capture import ACK, EVENT, LUMBERJACK, WINDOW, Wire

from wiregen.tools.cli import wiregen

TALK = """
wire 1
protocol talk { endian big roles client, server }
frame Frame { type : u8 := code(body)  size : u16 := size(body)  body : match type in size }
message Login 1 from client { name : utf8[u8]  token : utf8[u8] @secret }
message Ping 2 { number : u8 }
"""


def compared(protocol: str | Path, first: Path, second: Path, *options: str) -> Result:
    return CliRunner().invoke(wiregen, ["diff", str(protocol), str(first), str(second), *options])


def files(folder: Path, *contents: bytes) -> list[Path]:
    paths = [folder / f"{number}.bin" for number in range(len(contents))]
    for path, content in zip(paths, contents, strict=True):
        path.write_bytes(content)
    return paths


def ack(number: int) -> bytes:
    return bytes.fromhex(f"32 41 {number:08x}")


def test_added_removed_and_changed_messages_are_named(tmp_path: Path) -> None:
    first, second = files(
        tmp_path, WINDOW + ack(1) + ack(2) + EVENT + ack(9), WINDOW + ack(1) + ack(3) + ack(9) + WINDOW
    )
    result = compared(LUMBERJACK, first, second)
    assert result.exit_code == 1
    assert set(result.stdout.splitlines()) == {
        "+ @24 from writer Window",
        "- @18 from writer Data",
        "~ @12 from reader Ack  sequence: 2 -> 3",
    }
    assert result.stderr.splitlines()[-1] == "1 added, 1 changed, 1 removed"


def test_captures_are_compared_by_connection_whatever_their_times_and_segments(tmp_path: Path) -> None:
    plain = Wire().open().client(WINDOW + EVENT).server(ACK).close().pcap()
    cut = Wire(client=52000).open().client(WINDOW[:3]).client(WINDOW[3:] + EVENT).server(ACK).close().pcap()
    other = Wire().open().client(WINDOW + EVENT).server(ack(11)).close().pcap()
    one, same, changed = files(tmp_path, plain, cut, other)
    equal = compared(LUMBERJACK, one, same)
    assert (equal.exit_code, equal.stdout) == (0, "") and equal.stderr.endswith("no differences\n")
    result = compared(LUMBERJACK, one, changed, "--format", "jsonl")
    assert [json.loads(line) for line in result.stdout.splitlines()] == [
        {
            "change": "changed",
            "from": "reader",
            "message": "Ack",
            "a": {"offset": 0},
            "b": {"offset": 0},
            "fields": [{"path": "sequence", "a": 10, "b": 11}],
        }
    ]
    assert compared(LUMBERJACK, one, changed, "--from", "writer").exit_code == 0


def test_errors_are_compared_too(tmp_path: Path) -> None:
    first, second = files(tmp_path, ack(1) + ack(2), ack(1) + ack(2)[:3])
    result = compared(LUMBERJACK, first, second)
    assert result.exit_code == 1 and "error truncated" in result.stdout


def test_items_of_lists_are_compared_and_secrets_are_hidden(tmp_path: Path) -> None:
    path = tmp_path / "talk.wire"
    path.write_text(TALK)
    first, second = files(
        tmp_path, bytes.fromhex("01 0006 01 61 03 616263"), bytes.fromhex("01 0006 01 62 03 616264")
    )
    result = compared(path, first, second, "--from", "client")
    assert result.stdout == '~ @0 from client Login  name: "a" -> "b", token: ·· -> ··\n'
    pairs = [EVENT, EVENT.replace(b"hello", b"hullo")]
    before, after = files(tmp_path, *pairs)
    events = compared(LUMBERJACK, before, after, "--from", "writer")
    assert events.stdout == '~ @0 from writer Data  pairs[0].value: "hello" -> "hullo"\n'


def test_the_number_of_messages_is_bounded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("wiregen.tools.cli.diff._MOST_MESSAGES", 2)
    first, second = files(tmp_path, ack(1) * 3, ack(1))
    result = compared(LUMBERJACK, first, second)
    assert result.exit_code == 2 and "has more than 2 messages" in result.stderr


@pytest.mark.parametrize(
    "arguments",
    [
        ("diff", "lumberjack", "-", "-"),
        ("diff", "-", "-", "b.bin"),
        ("replay", "lumberjack", "-", "-"),
        ("shrink", "-", "-"),
        ("shrink", "-"),
        ("decode", "-"),
    ],
)
def test_stdin_is_given_once_only(arguments: tuple[str, ...]) -> None:
    result = CliRunner().invoke(wiregen, arguments, input=ack(1))
    assert (result.exit_code, result.stdout) == (2, "")
    assert "stdin would be read twice, but can be read only once" in result.stderr
