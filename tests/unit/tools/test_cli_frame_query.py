"""`decode` with questions: conditions, chosen values, counts, groups, forms of time, files that grow."""

import csv
import io
import json
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from wiregen.language.resolver.questions import PLACES
from wiregen.tools.cli import wiregen

ROOT = Path(__file__).resolve().parents[3]
CAPTURES = ROOT / "examples" / "captures"
CAPTURE = CAPTURES / "golumber-async-pipelined.pcap"
EVENT = "32 44 00000001 00000001 00000001 61 00000001 62"
ACK, CUT_ACK = "32 41 0000000a", "32 41 0000"
PREAMBLE = """
wire 1
protocol talk { endian big roles client, server }
preamble Hello from client { magic : u32 == 0xCAFE  version : u8 }
frame Frame { type : u8 := code(body)  size : u16 := size(body)  flags : u8  body : match type in size }
message Put 1 from client { key : bytes[u8]  id : uuid  share : f32  keys : u16[u8] }
"""


def run(*arguments: str | Path, data: bytes = b"") -> Result:
    return CliRunner().invoke(wiregen, [str(argument) for argument in arguments], input=data)


def decoded(*arguments: str | Path) -> list[dict[str, Any]]:
    result = run("decode", *arguments)
    assert result.exit_code == 0, result.output
    return [json.loads(line) for line in result.stdout.splitlines()]


@cache
def every_line() -> list[dict[str, Any]]:
    return decoded("lumberjack", CAPTURE)


@pytest.mark.parametrize(
    ("condition", "holds"),
    [
        ('message == "Ack"', lambda line: line["message"] == "Ack"),
        ('@message in ["Ack", "Window"]', lambda line: line["message"] in ("Ack", "Window")),
        ("@from == reader", lambda line: line["from"] == "reader"),
        ("sender != reader", lambda line: line["from"] == "writer"),
        ("sequence > 2", lambda line: line["fields"].get("sequence", 0) > 2),
        ("version == V2 and @size in 5 .. 9", lambda line: 5 <= line["size"] <= 9),
        ("not (@offset < 100)", lambda line: line["offset"] >= 100),
        ("count(pairs) > 1", lambda line: len(line["fields"].get("pairs", ())) > 1),
        ("size(sequence) == 4", lambda line: "sequence" in line["fields"]),
        ("@time > 1 and @flow != null", lambda line: line["time"] > 1),
        ("@error != null", lambda line: False),
    ],
)
def test_a_condition_chooses_frames(condition: str, holds: Callable[[dict[str, Any]], bool]) -> None:
    found = decoded("lumberjack", CAPTURE, "--where", condition)
    assert found == [line for line in every_line() if holds(line)]


def test_values_are_chosen_as_lines_have_them() -> None:
    found = decoded("lumberjack", CAPTURE, "--select", "message, sequence,version, @offset,@size * 2")
    assert found == [
        {
            "message": line["message"],
            "sequence": line["fields"].get("sequence"),
            "version": line["header"]["version"],
            "@offset": line["offset"],
            "@size * 2": 2 * line["size"],
        }
        for line in every_line()
    ]


def test_values_of_every_kind_are_json(tmp_path: Path) -> None:
    path = tmp_path / "talk.wire"
    path.write_text(PREAMBLE)
    head = "0000CAFE 02"
    fields = "02 00ff 00112233445566778899aabbccddeeff 3dcccccd 02 0001 0002"
    frame = f"01 001c 07 {fields}"
    asked = (
        'key, id, share, keys, keys[1], count(key), id == x"00112233445566778899aabbccddeeff", flags, version'
    )
    first, second = decoded(path, "--from", "client", "--hex", head + frame, "--select", asked)
    assert list(first.values()) == [None] * 8 + [2]
    assert list(second.values()) == [
        "00ff", "00112233-4455-6677-8899-aabbccddeeff", 0.1, [1, 2], 2, 2, True, 7, None,
    ]  # fmt: skip


def test_frames_are_counted_and_grouped() -> None:
    lines = every_line()
    result = run("decode", "lumberjack", CAPTURE, "--count")
    assert result.stdout == f"{len(lines)}\n"
    groups = decoded("lumberjack", CAPTURE, "--group-by", "message,@from")
    counts = [each.pop("count") for each in groups]
    assert sum(counts) == len(lines) and counts == sorted(counts, reverse=True)
    assert {(each["message"], each["@from"]) for each in groups} == {
        (line["message"], line["from"]) for line in lines
    }
    for each, count in zip(groups, counts, strict=True):
        assert count == sum(1 for line in lines if line["message"] == each["message"])


def test_too_many_groups_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("wiregen.tools.cli.query_sinks._MOST_GROUPS", 2)
    result = run("decode", "lumberjack", CAPTURE, "--group-by", "@offset")
    assert result.exit_code == 2 and "there are more than 2 groups" in result.stderr


def test_a_table_has_names_and_json_in_its_cells() -> None:
    result = run(
        "decode", "lumberjack", "--hex", EVENT + ACK, "--format", "csv", "--select", "message,pairs,sequence"
    )
    rows = list(csv.reader(io.StringIO(result.stdout)))
    assert rows == [
        ["message", "pairs", "sequence"],
        ["Data", '[{"key": "a", "value": "b"}]', "1"],
        ["Ack", "", "10"],
    ]
    groups = run("decode", "lumberjack", "--hex", ACK * 2, "--format", "csv", "--group-by", "message")
    assert groups.stdout == "count,message\n2,Ack\n"


@pytest.mark.parametrize("options", [("--count",), ("--select", "message"), ("--where", "@size > 0")])
def test_errors_are_shown_when_they_are_asked_about(options: tuple[str, ...]) -> None:
    result = run("decode", "lumberjack", "--hex", ACK + CUT_ACK, *options)
    assert result.exit_code == 1
    assert "truncated" not in result.stdout
    assert "errors that are not shown: 1; to show them, use --where '@error != null'" in result.stderr
    asked = run("decode", "lumberjack", "--hex", ACK + CUT_ACK, "--select", "@error,message,@offset")
    assert [json.loads(line) for line in asked.stdout.splitlines()] == [
        {"@error": None, "message": "Ack", "@offset": 0},
        {"@error": "truncated", "message": "Ack", "@offset": 6},
    ]


@pytest.mark.parametrize(
    ("form", "first"), [("epoch", 1700000000.2), ("relative", 0.0), ("iso", "2023-11-14T22:13:20.200000Z")]
)
def test_times_are_readable(form: str, first: object, tmp_path: Path) -> None:
    from tests.unit.tools.test_cli_capture import LUMBERJACK, Wire, conversation

    path = tmp_path / "talk.pcap"
    path.write_bytes(conversation(Wire().open()).pcap())
    lines = decoded(LUMBERJACK, path, "--time", form)
    assert lines[0]["time"] == first
    chosen = decoded(LUMBERJACK, path, "--time", form, "--select", "@time")
    assert [each["@time"] for each in chosen] == [line["time"] for line in lines]
    tree = run("decode", LUMBERJACK, path, "--time", form, "--format", "tree").stdout
    shown = first if isinstance(first, str) else f"{first:.6f}"
    assert f"at {shown}" in tree.splitlines()[0]


@pytest.mark.parametrize(
    ("options", "told"),
    [
        (("--where", "mesage == 1"), "error[WG2001]: there is no field, variable or constant `mesage`"),
        (("--where", 'message == "Akc"'), "= help: did you mean `Ack`?"),
        (("--where", "sequence"), "the condition must be a Boolean, found an integer"),
        (("--where", "sequence = 1"), "= help: write `==` to compare"),
        (("--where", "a && b"), "= help: write `and`"),
        (("--where", "@ofset > 1"), "= help: did you mean `@offset`?"),
        (("--where", "header.sequence > 1"), "= help: write `sequence`: fields of headers and of messages"),
        (("--where", 'pairs[0].key == x"00"'), "= help: ask about fields outside of lists"),
        (("--where", "sequence == 1 and"), "expected an expression, found the end of the text"),
        (("--where", "true, false"), "= help: join conditions with `and` or `or`"),
        (("--where", ""), "expected an expression"),
        (("--where", "(" * 100), "WG1109"),
        (("--select", "sequence,"), "expected an expression"),
        (("--select", "sequence", "--count"), "--select, --group-by and --count exclude each other"),
        (("--select", "sequence", "--format", "tree"), "--format tree shows whole frames, not chosen values"),
        (("--format", "csv"), "--format csv without columns"),
    ],
)
def test_a_wrong_question_is_explained(options: tuple[str, ...], told: str) -> None:
    result = run("decode", "lumberjack", "--hex", ACK, *options)
    assert (result.exit_code, result.stdout) == (2, "")
    assert told in result.stderr


@pytest.mark.parametrize("place", PLACES)
def test_every_place_is_named_where_a_user_looks(place: str) -> None:
    assert place in run("decode", "--help").stdout
    assert f"`{place}`" in (ROOT / "docs" / "guide" / "recipes.md").read_text()


def test_a_word_that_only_sessions_use_is_not_suggested() -> None:
    result = run("decode", "lumberjack", "--hex", ACK, "--where", "header == 1")
    assert result.exit_code == 2 and "there is no field, variable or constant `header`" in result.stderr
    assert "did you mean" not in result.stderr


def test_contexts_cannot_be_asked_about() -> None:
    result = run("decode", "reactive_streams", "--hex", "00", "--where", "element_size[1] == 1")
    assert result.exit_code == 2
    assert "the context `element_size` is not part of a frame" in result.stderr


@pytest.mark.parametrize("name", ["golumber-async-pipelined.pcap", "pylogbeat-unicode.writer.bin"])
def test_a_file_that_grows_is_followed(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    data = (CAPTURES / name).read_bytes()
    path = tmp_path / "growing"
    path.write_bytes(data[:2])
    pieces = iter([data[start : start + 700] for start in range(2, len(data), 700)])

    def grow(_: float) -> None:
        piece = next(pieces, None)
        if piece is None:
            path.unlink()
            return
        with path.open("ab") as file:
            file.write(piece)

    monkeypatch.setattr("wiregen.tools.cli.growing_file.time.sleep", grow)
    result = run("decode", "lumberjack", path, "--follow")
    assert result.exit_code == 0 and not path.exists()
    assert result.stdout == run("decode", "lumberjack", CAPTURES / name).stdout != ""


def test_following_ends_with_the_keyboard(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupt(_: float) -> None:
        raise KeyboardInterrupt

    path = tmp_path / "growing"
    path.write_bytes(bytes.fromhex(ACK * 3))
    monkeypatch.setattr("wiregen.tools.cli.growing_file.time.sleep", interrupt)
    result = run("decode", "lumberjack", path, "--follow", "--group-by", "message")
    assert (result.exit_code, result.stdout) == (0, '{"count":3,"message":"Ack"}\n')


@pytest.mark.parametrize("options", [(), ("--no-pcap",)])
def test_a_short_file_is_decoded_before_it_grows(
    options: tuple[str, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    protocol, path = tmp_path / "short.wire", tmp_path / "growing"
    protocol.write_text(
        "wire 1\nprotocol short { endian big  roles client, server }\n"
        "frame Frame { type : u8 := code(body)  body : match type }\nmessage Ping 1 { id : u8 }\n"
    )
    path.write_bytes(bytes.fromhex("0102"))

    def interrupt(_: float) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("wiregen.tools.cli.growing_file.time.sleep", interrupt)
    result = run("decode", protocol, path, "--follow", *options, "--select", "message,id")
    assert (result.exit_code, result.stdout) == (0, '{"message":"Ping","id":2}\n')


def test_a_keyboard_ends_a_file_that_may_become_a_capture(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupt(_: float) -> None:
        raise KeyboardInterrupt

    path = tmp_path / "growing"
    path.write_bytes(bytes.fromhex("0a0d"))
    monkeypatch.setattr("wiregen.tools.cli.growing_file.time.sleep", interrupt)
    result = run("decode", "lumberjack", path, "--follow")
    assert (result.exit_code, result.output) == (0, "")


def test_a_file_that_shrinks_is_not_followed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "growing"
    path.write_bytes(bytes.fromhex(ACK * 3))
    monkeypatch.setattr("wiregen.tools.cli.growing_file.time.sleep", lambda _: path.write_bytes(b""))
    result = run("decode", "lumberjack", path, "--follow")
    assert result.exit_code == 1 and "the file was truncated while it was read" in result.stderr
    assert result.stdout.count("Ack") == 3


def test_only_files_are_followed() -> None:
    result = run("decode", "lumberjack", "-", "--follow")
    assert result.exit_code == 2 and "--follow needs a file" in result.stderr
