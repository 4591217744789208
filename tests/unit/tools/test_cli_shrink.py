"""`shrink`: the smallest bytes that still have the same error."""

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from wiregen.tools.cli import wiregen

CAPTURES = Path(__file__).resolve().parents[3] / "examples" / "captures"
WINDOW = "32 57 0000000a"
EVENT = "32 44 00000001 00000002 00000001 61 00000001 62 00000001 63 00000003 646566"
WRONG_TYPE = "32 00 0000000a"
TALK = """
wire 1
protocol talk { endian big roles client, server }
context kind : u8 per id from client { set Open.kind  clear Answer }
frame Frame { type : u8 := code(body)  size : u16 := size(body)  body : match type in size }
message Open 1 from client { id : u8  kind : u8  name : bytes[u8] }
message Put 2 from client { id : u8  values : Pair[u8] }
struct Byte { number : u8 }
struct Short { number : u16 where number < 1000 }
struct Pair { key : bytes[u8]  value : u8 where value < 200 }
message Answer 3 from server { id : u8  value : match kind[id] { 1 => Byte 2 => Short } }
"""


def shrunk(*arguments: str | Path) -> Result:
    return CliRunner().invoke(wiregen, ["shrink", *map(str, arguments)])


def error_of(digits: str, *arguments: str | Path) -> dict[str, object]:
    result = CliRunner().invoke(wiregen, ["decode", *map(str, arguments), "--hex", digits])
    lines: list[dict[str, dict[str, object]]] = [json.loads(line) for line in result.stdout.splitlines()]
    return next(line["error"] for line in lines if "error" in line)


@pytest.fixture
def talk(tmp_path: Path) -> Path:
    path = tmp_path / "talk.wire"
    path.write_text(TALK)
    return path


@pytest.mark.parametrize(
    ("digits", "code", "smallest"),
    [
        (WINDOW * 50 + EVENT * 3 + WRONG_TYPE, "unknown_code", "3200"),
        (WINDOW * 50 + EVENT[:60], "truncated", "32"),
        (EVENT + "ff" + WINDOW, "invalid_enum", "00"),
    ],
)
def test_frames_and_bytes_that_the_error_does_not_need_are_removed(
    digits: str, code: str, smallest: str
) -> None:
    result = shrunk("lumberjack", "--hex", digits)
    assert (result.exit_code, result.stdout) == (0, f"{smallest}\n")
    before = error_of(digits, "lumberjack")
    after = error_of(smallest, "lumberjack")
    assert before["code"] == after["code"] == code
    assert (before["rule"], before["path"]) == (after["rule"], after["path"]) or code == "truncated"


def test_items_before_the_error_are_removed_with_their_lengths(talk: Path) -> None:
    good, bad = "02 6161 07", "03 626262 ff"
    digits = f"02 0013 05 04 {good} {good} {good} {bad} 01 0004 01 01 01 41"
    assert error_of(digits, talk)["path"] == "Put.values[3].value"
    result = shrunk(talk, "--hex", digits, "--from", "client")
    assert result.exit_code == 0, result.output
    small = bytes.fromhex(result.stdout)
    error = error_of(small.hex(), talk)
    assert (error["code"], str(error["path"])[:11]) == ("constraint", "Put.values[")
    assert len(small) == 7  # a frame of one pair, whose key is empty


def test_frames_that_the_error_needs_stay(talk: Path, tmp_path: Path) -> None:
    wrong, opened = "03 0003 09 ffff", "01 0004 09 02 01 41"
    path = tmp_path / "bytes"
    path.write_bytes(bytes.fromhex(wrong))
    out = tmp_path / "small"
    options = ("--from", "server", "--before", f"client:{opened}")
    result = shrunk(talk, path, *options, "-o", out)
    assert (result.exit_code, result.stdout) == (0, "")
    assert (
        result.stderr == "6 of 6 bytes: constraint at Answer.value.number\n"
    )  # its layout depends on `opened`
    assert error_of(out.read_bytes().hex(), talk, *options)["code"] == "constraint"


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (("--hex", WINDOW), "the input has no error: all bytes are valid"),
        (("--hex", WRONG_TYPE, "--error", "truncated"), "no error truncated: the errors are unknown_code"),
    ],
)
def test_an_input_without_the_error_is_refused(arguments: tuple[str, ...], told: str) -> None:
    result = shrunk("lumberjack", *arguments)
    assert (result.exit_code, result.stdout) == (1, "")
    assert told in result.stderr


def test_tries_are_bounded() -> None:
    result = shrunk("lumberjack", "--hex", WINDOW * 50 + WRONG_TYPE, "--tries", "1")
    assert result.exit_code == 0 and result.stdout.startswith("3200")


@pytest.mark.parametrize("name", ["talk.pcap", "-"])
def test_a_capture_is_refused_with_the_way_to_its_bytes(name: str, tmp_path: Path) -> None:
    data = (CAPTURES / "golumber-async-pipelined.pcap").read_bytes()
    (tmp_path / "talk.pcap").write_bytes(data)
    given = name if name == "-" else str(tmp_path / name)
    result = CliRunner().invoke(wiregen, ["shrink", "lumberjack", given], input=data)
    assert (result.exit_code, result.stdout) == (2, "")
    assert f"`{given}` is a capture, but shrink takes bytes of one direction" in result.stderr
    assert "--where '@error != null'" in result.stderr and "--hex" in result.stderr
