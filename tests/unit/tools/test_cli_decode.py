"""`decode` and `encode`: formats, errors, the bounds on hostile bytes, and that one reverses the other."""

import json
import os
import pty
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from hypothesis import given, settings
from hypothesis import strategies as st

from wiregen.tools.cli import wiregen

GENERATOR = Path(__file__).resolve().parents[3] / "generator"
LUMBERJACK = Path(__file__).resolve().parents[3] / "idl" / "lumberjack.wire"

EVENT = bytes.fromhex("31 44 00000001 00000001 00000004 6c696e65 00000005 68656c6c6f")
WINDOW = bytes.fromhex("32 57 0000000a")
ACK = bytes.fromhex("32 41 0000000a")
JSON = bytes.fromhex("32 4a 00000002 00000002 7b7d")
STORED = bytes.fromhex("32 43 00000011 78 01 01 0600 f9ff 32 41 00000001 02780075")
CUT = EVENT[:-2]

VAULT = """\
protocol vault { source "Vault protocol" endian big roles client, server }
frame Frame {
  type   : u8 := code(body)
  length : u16 := size(body)
  body   : match type in length
}
message Login 1 from client { user : utf8[u8] token : bytes[u8] @secret }
message Nod 2 from server { what : u8 }
"""


def run(*arguments: str | Path, data: bytes = b"") -> Result:
    return CliRunner().invoke(wiregen, [str(argument) for argument in arguments], input=data)


def decode(data: bytes, *options: str, protocol: Path = LUMBERJACK) -> Result:
    return run("decode", protocol, "-", *options, data=data)


def lines_of(result: Result) -> list[dict[str, object]]:
    return [json.loads(line) for line in result.stdout.splitlines()]


def check_refused(result: Result, *parts: str, code: int = 2) -> None:
    assert result.exit_code == code, result.output
    assert "= help: " in result.stderr
    for part in parts:
        assert part in result.stderr


@pytest.fixture
def vault(tmp_path: Path) -> Path:
    path = tmp_path / "vault.wire"
    path.write_text(VAULT)
    return path


# ---- lines ----


def test_a_line_is_as_promised() -> None:
    result = decode(EVENT)
    assert (result.exit_code, result.stderr) == (0, "")
    assert result.stdout == (
        '{"offset":0,"size":27,"from":"writer","message":"Data","header":{"version":"V1"},'
        '"fields":{"sequence":1,"pairs":[{"key":"line","value":"hello"}]}}\n'
    )


def test_a_fault_is_a_line_too_and_the_exit_code_tells() -> None:
    result = decode(WINDOW + CUT, "--from", "writer")
    assert result.exit_code == 1
    first, fault = lines_of(result)
    assert (first["message"], fault["offset"], fault["size"]) == ("Window", 6, 25)
    assert (fault["bytes"], fault["bytes_truncated"]) == (CUT.hex(), False)
    assert fault["partial"] == {
        "message": "Data",
        "header": {"version": "V1"},
        "fields": {"sequence": 1, "pairs": [{"key": "line"}]},
    }
    assert fault["error"] == {
        "code": "truncated",
        "rule": None,
        "path": "Data.pairs[0].value",
        "at": 31,
        "expected": "5 bytes",
        "found": "3 bytes",
        "recoverable": False,
    }


def test_decoding_goes_on_behind_a_fault_whose_end_is_known(vault: Path) -> None:
    bad = bytes.fromhex("02 0002 0707")
    result = decode(bad + bytes.fromhex("02 0001 07"), protocol=vault)
    assert result.exit_code == 1
    fault, good = lines_of(result)
    assert (fault["offset"], fault["size"], fault["bytes"]) == (0, 5, bad.hex())
    assert (good["offset"], good["message"]) == (5, "Nod")


def test_an_unknown_message_is_a_line(vault: Path) -> None:
    (line,) = lines_of(decode(bytes.fromhex("4d 0002 abcd"), "--from", "client", protocol=vault))
    assert (line["message"], line["code"], line["fields"]) == ("Unknown", 77, {"data": "abcd"})


def test_json_is_one_array_of_the_same_objects() -> None:
    data = WINDOW + EVENT + CUT
    assert json.loads(decode(data, "--format", "json").stdout) == lines_of(decode(data))
    assert json.loads(decode(b"", "--format", "json").stdout) == []


def test_hex_digits_take_the_place_of_a_file() -> None:
    for digits in (ACK.hex(), f"0x{ACK.hex()}", "32 41\n0000 000A"):
        assert run("decode", LUMBERJACK, "--hex", digits).stdout == decode(ACK).stdout


def test_a_file_is_read_in_any_format(tmp_path: Path) -> None:
    path = tmp_path / "stream.bin"
    path.write_bytes(EVENT * 5000)
    result = run("decode", LUMBERJACK, path)
    assert result.exit_code == 0
    offsets = [line["offset"] for line in lines_of(result)]
    assert offsets == [27 * index for index in range(5000)]


def test_a_lost_stream_is_bounded_lines_that_tile() -> None:
    data = EVENT + b"\x07" * 300_000
    result = run("decode", LUMBERJACK, "--limit", "frame=1KiB", "-", data=data)
    found = lines_of(result)
    assert b"".join(bytes.fromhex(str(line["bytes"])) for line in found[1:]) == data[27:]
    assert [line["offset"] for line in found][:2] == [0, 27]
    assert found[1]["error"]["code"] == "invalid_enum"  # type: ignore[index]
    assert {line["error"]["code"] for line in found[2:]} == {"lost_sync"}  # type: ignore[index]


def test_strict_refuses_what_is_tolerated() -> None:
    latin = bytes.fromhex("31 44 00000001 00000001 00000001 6b 00000001 e9")
    assert decode(latin).exit_code == 0
    (line,) = lines_of(decode(latin, "--strict"))
    assert line["error"]["code"] == "invalid_text"  # type: ignore[index]
    assert line["error"]["found"] == "byte 0xe9 at 0"  # type: ignore[index]


def test_no_byte_of_a_secret_text_is_in_an_error(tmp_path: Path) -> None:
    protocol = tmp_path / "vault.wire"
    protocol.write_text(VAULT.replace("token : bytes[u8]", "token : utf8[u8]"))
    (line,) = lines_of(decode(bytes.fromhex("01 0004 00 02 61 e9"), "--from", "client", protocol=protocol))
    assert (line["error"]["code"], line["error"]["found"]) == ("invalid_text", "")  # type: ignore[index]


def test_who_sent_a_faulty_frame_is_told_by_its_message() -> None:
    good, fault = lines_of(decode(WINDOW + CUT))
    assert ("error" in fault, good["from"], fault["from"]) == (True, "writer", "writer")
    (nameless,) = lines_of(decode(b"2"))
    assert "from" not in nameless


def test_a_limit_can_be_replaced() -> None:
    assert decode(EVENT, "--limit", "count=1").exit_code == 0
    (line,) = lines_of(decode(EVENT, "--limit", "count=0"))
    assert line["error"]["code"] == "limit_exceeded"  # type: ignore[index]


def test_a_preamble_needs_to_know_who_sent_it(tmp_path: Path) -> None:
    path = tmp_path / "hail.wire"
    path.write_text(VAULT.replace("vault", "hail") + "preamble Hail from client { mode : u8 }\n")
    result = run("decode", path, "--hex", "07 02 0001 09")
    assert [line["message"] for line in lines_of(result)] == ["Hail", "Nod"]
    assert result.stderr == "decoded as sent by client; use --from for the other role\n"
    assert run("decode", path, "--from", "server", "--hex", "02 0001 09").stderr == ""


# ---- refusals ----


@pytest.mark.parametrize(
    ("arguments", "parts"),
    [
        pytest.param(
            ["lumberjak", "--hex", "00"], ["there is no protocol `lumberjak`", "`lumberjack`"], id="protocol"
        ),
        pytest.param(
            [LUMBERJACK, "--from", "wrter", "--hex", "00"], ["no role `wrter`", "`writer`"], id="role"
        ),
        pytest.param(
            [LUMBERJACK, "--from", "x", "--hex", "00"], ["lumberjack has writer, reader"], id="role-far"
        ),
        pytest.param(
            [LUMBERJACK, "--variant", "x", "--hex", "00"], ["no variant `x`", "has none"], id="variant"
        ),
        pytest.param(
            [LUMBERJACK, "--limit", "frme=1", "--hex", "00"], ["no limit `frme`", "`frame`"], id="limit"
        ),
        pytest.param([LUMBERJACK, "--limit", "frame", "--hex", "00"], ["NAME=VALUE"], id="limit-form"),
        pytest.param([LUMBERJACK, "--hex", "0g"], ["`g` is not a hexadecimal digit"], id="digit"),
        pytest.param([LUMBERJACK, "--hex", "012"], ["an odd number of digits"], id="odd"),
        pytest.param([LUMBERJACK, "--hex", "00", "file"], ["--hex and a file are both given"], id="both"),
        pytest.param(
            [LUMBERJACK, "--hex", "00", "--follow"], ["--follow needs a file that grows"], id="hex-follow"
        ),
        pytest.param([LUMBERJACK, "--hex", "00", "--pcap"], ["--pcap is for files"], id="hex-pcap"),
        pytest.param(["-", "-"], ["stdin would be read twice"], id="stdin-twice"),
        pytest.param([LUMBERJACK, "--hex", "00", "--port", "1"], ["--port is for captures"], id="port"),
        pytest.param([LUMBERJACK, "no/such/file"], ["`no/such/file` cannot be read"], id="file"),
        pytest.param([LUMBERJACK, "."], ["`.` is a folder"], id="folder"),
        pytest.param(
            [LUMBERJACK, "--pcap", LUMBERJACK], ["not a capture", "with --no-pcap"], id="no-capture"
        ),
        pytest.param([LUMBERJACK, "--backend", "nativ"], ["nativ"], id="backend"),
    ],
)
def test_every_refusal_names_the_way_out(arguments: list[str | Path], parts: list[str]) -> None:
    result = run("decode", *arguments)
    check_refused(result, *parts)
    assert result.stdout == ""


# ---- views ----


def test_the_tree_of_frames_and_of_a_fault() -> None:
    result = decode(STORED + CUT, "--format", "tree", "--from", "writer")
    assert result.stdout == """\
@0  23 bytes from writer: Compressed
  version  V2 (50)
  type     67  Compressed, derived
  Compressed
    frames  1 item  zlib, 17 bytes of 6
      [0]  Ack
        version  V2 (50)
        type     65  Ack, derived
        Ack
          sequence  1
@23  25 bytes from writer: error truncated
  error  truncated in Data.pairs[0].value at 48: expected 5 bytes, found 3 bytes
  read so far
    version  "V1"
    Data
      sequence  1
      pairs     1 item
        [0]
          key  "line"
"""


def test_the_hexdump_of_a_frame_and_of_a_fault() -> None:
    result = decode(STORED + CUT, "--format", "hex", "--from", "writer")
    assert result.stdout == """\
@0  23 bytes from writer: Compressed
00000000  32 43 00 00 00 11 78 01 01 06 00 f9 ff 32 41 00  |2C....x......2A.|  Frame.version, Frame.type, Compressed.frames length, Compressed.frames
00000010  00 00 01 02 78 00 75                             |....x.u|
  Compressed.frames, inflated, 6 bytes:
  00000000  32 41 00 00 00 01                                |2A....|  [0].Frame.version, [0].Frame.type, [0].Ack.sequence
@23  25 bytes from writer: error truncated
00000017  31 44 00 00 00 01 00 00 00 01 00 00 00 04 6c 69  |1D............li|
00000027  6e 65 00 00 00 05 68 65 6c                       |ne....hel|
                                     ^^ Data.pairs[0].value truncated
"""


@pytest.mark.parametrize("form", ["tree", "hex"])
def test_a_secret_is_hidden_from_eyes(vault: Path, form: str) -> None:
    whole = bytes.fromhex("01 0009 03 626f62 04 73336372")
    cut = bytes.fromhex("01 0009 03 626f62 09 73336372")
    result = decode(whole + cut, "--format", form, "--from", "client", protocol=vault)
    assert result.exit_code == 1
    for trace in ("s3cr", "73336372", "73 33"):
        assert trace not in result.stdout
    assert "··" in result.stdout
    assert b"s3cr".hex() in decode(whole, protocol=vault).stdout


# ---- the terminal ----


def on_terminal(arguments: list[str], **variables: str) -> str:
    """Return the command's output on a terminal."""
    leader, follower = pty.openpty()
    environment = {**os.environ, "PYTHONPATH": str(GENERATOR), "TERM": "xterm-256color", **variables}
    environment = {name: value for name, value in environment.items() if value}
    with subprocess.Popen(
        [sys.executable, "-m", "wiregen", *arguments], stdin=follower, stdout=follower, stderr=follower,
        env=environment,
    ) as process:  # fmt: skip
        os.close(follower)
        shown = b"".join(_until_closed(leader))
    os.close(leader)
    assert process.returncode in (0, 1, 2)
    return shown.decode().replace("\r\n", "\n")


def _until_closed(descriptor: int) -> Iterator[bytes]:
    while True:
        try:
            data = os.read(descriptor, 1 << 16)
        except OSError:
            return
        if not data:
            return
        yield data


def test_a_terminal_gets_a_coloured_tree() -> None:
    shown = on_terminal(["decode", str(LUMBERJACK), "--hex", EVENT.hex()], NO_COLOR="")
    assert "\x1b[" in shown
    plain = re.sub(r"\x1b\[[0-9;]*m", "", shown)
    assert plain == decode(EVENT, "--format", "tree").stdout


def test_no_color_is_kept() -> None:
    shown = on_terminal(["decode", str(LUMBERJACK), "--hex", EVENT.hex()], NO_COLOR="1", FORCE_COLOR="1")
    assert shown == decode(EVENT, "--format", "tree").stdout


def test_colour_is_for_a_terminal_only(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FORCE_COLOR", "1")
    assert "\x1b" not in decode(EVENT, "--format", "tree").stdout


def test_rows_of_a_hexdump_fit_the_terminal() -> None:
    shown = on_terminal(
        ["decode", str(LUMBERJACK), "--format", "hex", "--hex", EVENT.hex()], NO_COLOR="1", COLUMNS="90"
    )
    rows = shown.splitlines()
    assert len(rows) == 3
    assert max(map(len, rows)) <= 90 and rows[1].endswith("…")


HOSTILE = "\x1b]0;owned\x07\x1b[2J[red]bold[/red]\u202egnp.\u200b\x9b31m\r\n\x7f"


@pytest.mark.parametrize("form", ["tree", "hex", "jsonl", "json"])
@pytest.mark.parametrize("is_cut", [False, True], ids=["whole", "cut"])
def test_what_peers_say_never_acts_on_the_terminal(form: str, is_cut: bool) -> None:
    text = HOSTILE.encode()
    size = len(text).to_bytes(4, "big")
    frame = b"1D" + bytes(3) + b"\1" + bytes(3) + b"\2" + (size + text) * 4
    data = frame[: len(frame) - 3 * is_cut]
    shown = on_terminal(["decode", str(LUMBERJACK), "--format", form, "--hex", data.hex()], NO_COLOR="1")
    assert re.search(r"[\x00-\x09\x0b-\x1f\x7f-\x9f\u200b\u202a-\u202e\u2066-\u2069]", shown) is None
    if form == "tree":
        assert "[red]bold[/red]" in shown


def test_the_command_asks_for_input_where_nothing_is_piped() -> None:
    assert "the input is missing" in on_terminal(["decode", str(LUMBERJACK)])


def test_binary_is_not_written_to_a_terminal() -> None:
    shown = on_terminal(["encode", str(LUMBERJACK), "-"])
    assert "stdout is a terminal" in shown and "-o FILE" in shown


def test_a_long_input_shows_how_far_it_is_on_a_terminal_only(tmp_path: Path) -> None:
    path = tmp_path / "long.bin"
    frame = b"2J" + bytes(4) + (9 << 20).to_bytes(4, "big") + bytes(9 << 20)
    path.write_bytes(frame * 2)
    leader, follower = pty.openpty()
    environment = {**os.environ, "PYTHONPATH": str(GENERATOR), "TERM": "xterm-256color"}
    arguments = [sys.executable, "-m", "wiregen", "decode", str(LUMBERJACK), str(path)]
    with subprocess.Popen(arguments, stdout=subprocess.DEVNULL, stderr=follower, env=environment) as process:
        os.close(follower)
        shown = b"".join(_until_closed(leader))
    os.close(leader)
    assert process.returncode == 0
    assert b"18.0 MiB" in shown
    assert run("decode", LUMBERJACK, path).stderr == ""


def test_explain_is_rendered_for_a_terminal() -> None:
    shown = on_terminal(["explain", "WG1001"], NO_COLOR="1")
    assert "WG1001" in shown and "# WG1001" not in shown


# ---- encode ----


def encode(text: str | bytes, *options: str | Path, protocol: Path = LUMBERJACK) -> Result:
    data = text.encode() if isinstance(text, str) else text
    return run("encode", protocol, "-", *options, data=data)


def check_identity(data: bytes, protocol: Path = LUMBERJACK, *options: str) -> None:
    decoded = decode(data, *options, protocol=protocol)
    assert decoded.exit_code in (0, 1), decoded.stderr
    found = lines_of(decoded)
    ends = [int(str(line["offset"])) + int(str(line["size"])) for line in found]
    assert [line["offset"] for line in found] == [0, *ends][: len(found)]
    assert ([0, *ends])[-1] == len(data)
    encoded = encode(decoded.stdout_bytes, protocol=protocol)
    assert encoded.exit_code == 0, encoded.stderr
    assert encoded.stdout_bytes == data


@pytest.mark.parametrize(
    "data",
    [b"", EVENT, WINDOW + EVENT + JSON, STORED, CUT, b"\x00", STORED[:-1] + b"\x00", WINDOW + STORED[:9]],
)
def test_encode_undoes_decode(data: bytes) -> None:
    check_identity(data)


@settings(max_examples=400 if settings.get_current_profile_name() == "soak" else 15)
@given(
    st.lists(st.sampled_from([EVENT, WINDOW, ACK, JSON, STORED]), max_size=6),
    st.lists(st.tuples(st.integers(0, 200), st.integers(0, 3), st.binary(max_size=3)), max_size=3),
)
def test_encode_undoes_decode_of_damaged_streams(
    frames: list[bytes], damages: list[tuple[int, int, bytes]]
) -> None:
    data = b"".join(frames)
    for place, n_lost, put in damages:
        data = data[:place] + put + data[place + n_lost :]
    check_identity(data)


@settings(max_examples=25)
@given(st.binary(max_size=60))
def test_encode_undoes_decode_where_faults_are_recovered_from(
    tmp_path_factory: pytest.TempPathFactory, data: bytes
) -> None:
    path = tmp_path_factory.getbasetemp() / "vault.wire"
    path.write_text(VAULT)
    framed = b"".join(
        bytes((code, 0, len(part))) + part for code, part in zip((1, 2, 3, 1, 2), _parts(data), strict=False)
    )
    check_identity(framed + data[:5], path)


def _parts(data: bytes) -> list[bytes]:
    return [data[start : start + 12] for start in range(0, len(data), 12)]


def test_canonical_writes_anew() -> None:
    lines = decode(STORED).stdout
    assert encode(lines).stdout_bytes == STORED
    anew = encode(lines, "--canonical").stdout_bytes
    assert anew != STORED
    assert [line["fields"] for line in lines_of(decode(anew))] == [
        line["fields"] for line in lines_of(decode(STORED))
    ]


def test_the_output_is_all_or_nothing(tmp_path: Path) -> None:
    path = tmp_path / "out.bin"
    path.write_bytes(b"before")
    bad = (
        decode(EVENT).stdout + '{"message": "Data", "header": {}, "fields": {"sequence": -1, "pairs": []}}\n'
    )
    check_refused(encode(bad, "-o", path), "line 2", "Data.sequence", "invalid_value", code=1)
    assert (path.read_bytes(), os.listdir(tmp_path)) == (b"before", ["out.bin"])
    assert encode(decode(EVENT).stdout, "-o", path).exit_code == 0
    assert (path.read_bytes(), os.listdir(tmp_path)) == (EVENT, ["out.bin"])


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        pytest.param("\n{", ["line 2", "not JSON"], id="json"),
        pytest.param("[]", ["line 1", "expected a JSON object"], id="array"),
        pytest.param("{}", ["line 1", "neither a message nor an error"], id="empty"),
        pytest.param('{"message": "Window"', ["line 1", "at column 21"], id="cut"),
        pytest.param(
            '{"message": "Dta", "fields": {}}', ["found message 'Dta'", "mean `Data`?"], id="message"
        ),
        pytest.param(
            '{"message": "Window", "fields": {"siz": 1}}', ["found field 'siz'", "mean `size`?"], id="field"
        ),
        pytest.param('{"message": "Ack", "foo": 1}', ["no key 'foo'", "there are offset, size"], id="key"),
        pytest.param(
            '{"error": {}, "bytes": "0", "bytes_truncated": false}', ["line 1", "hexadecimal"], id="hex"
        ),
        pytest.param(
            '{"error": {"code": "gap"}, "bytes": "", "bytes_truncated": true}', ["line 1", "cut"], id="gap"
        ),
        pytest.param('{"message": "Ack", "fields": {"sequence": 4294967296}}', ["Ack.sequence"], id="range"),
        pytest.param('{"message": "\x1b[31m", "fields": {}}', ["line 1"], id="escape"),
    ],
)
def test_a_line_that_cannot_be_written_is_named(text: str, parts: list[str]) -> None:
    result = encode(text)
    check_refused(result, *parts, code=1)
    assert "\x1b" not in result.stderr


def test_a_limit_holds_for_writing_too() -> None:
    lines = decode(EVENT).stdout
    check_refused(encode(lines, "--limit", "count=0"), "line 1", "limit_exceeded", code=1)
    assert encode(lines, "--limit", "count=1").stdout_bytes == EVENT


def test_encode_refuses_a_folder_that_is_not_there() -> None:
    check_refused(encode("", "-o", "no/such/folder/x"), "cannot be written", "an existing folder")


def test_the_tree_counts_bits(tmp_path: Path) -> None:
    protocol = tmp_path / "bits.wire"
    protocol.write_text(
        "wire 1\nprotocol bits { endian big  roles client, server }\n"
        "frame Frame { type : u8 := code(body)  body : match type }\nmessage Ping 1 { flag : bit  rest : u7 }\n"
    )
    tree = run("decode", protocol, "--hex", "01 81", "--format", "tree").stdout
    assert "1 bit from bit 0\n" in tree and "7 bits from bit 1\n" in tree
