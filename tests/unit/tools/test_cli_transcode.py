"""`transcode`, and `decode` and `encode` of other serializations: round trips, faults with their place, bounded memory."""

import json
import os
import pty
import subprocess
import sys
import tracemalloc
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.unit.tools.test_cli_decode import (
    ACK,
    EVENT,
    GENERATOR,
    JSON,
    LUMBERJACK,
    STORED,
    check_refused,
    lines_of,
    run,
)

from wiregen.runtime.codec.errors import DecodeError, EncodeError
from wiregen.tools.cli.protocols import package_of
from wiregen.tools.transcoding import LeftOut, LostBytes, StreamWishes, Transcoder
from wireproto import geode, pravega, reactive_streams
from wireproto import lumberjack as lj

OTHERS = ("protobuf", "msgpack")
STREAM = EVENT + ACK + JSON
ECHO = """\
protocol echo { source "Echo" endian big roles client, server }
frame Frame {
  length : u16 := size(body)
  type   : u8 := code(body)
  body   : match type in length
}
message Ping 1 from client { text : utf8[u8] }
message Pong 2 from server { text : utf8[u8] }
"""
UNKNOWN = bytes.fromhex("7fff0000 00000002 abcd")


def transcode(protocol: str | Path, source: str, target: str, data: bytes, *options: str) -> bytes:
    result = run("transcode", protocol, "--from", source, "--to", target, *options, data=data)
    assert result.exit_code == 0, result.stderr
    return result.stdout_bytes


def other_bytes(backend: str) -> bytes:
    return transcode(LUMBERJACK, "native", backend, STREAM)


# ---- lines ----


@pytest.mark.parametrize("backend", OTHERS)
def test_the_lines_are_those_of_the_native_bytes_at_other_places(backend: str) -> None:
    result = run("decode", LUMBERJACK, "--backend", backend, data=other_bytes(backend))
    assert (result.exit_code, result.stderr) == (0, "")
    lines, native = lines_of(result), lines_of(run("decode", LUMBERJACK, data=STREAM))
    bare = [{key: line[key] for key in line if key not in ("offset", "size")} for line in lines]
    assert bare == [{key: line[key] for key in line if key not in ("offset", "size")} for line in native]
    assert [line["offset"] for line in lines] == [0, lines[0]["size"], len(other_bytes(backend)) - lines[2]["size"]]  # type: ignore[operator]


@pytest.mark.parametrize("backend", OTHERS)
def test_lines_become_the_bytes_of_any_serialization(backend: str) -> None:
    lines = run("decode", LUMBERJACK, data=STREAM).stdout_bytes
    assert run("encode", LUMBERJACK, "--backend", backend, data=lines).stdout_bytes == other_bytes(backend)
    lines = run("decode", LUMBERJACK, "--backend", backend, data=other_bytes(backend)).stdout_bytes
    assert run("encode", LUMBERJACK, data=lines).stdout_bytes == STREAM


@pytest.mark.parametrize(
    ("backend", "octets"),
    [
        pytest.param("protobuf", "06 22020803 0832", id="fields in another order"),
        pytest.param("protobuf", "06083222020803 06083322020803 06083222020804", id="a fault between"),
        pytest.param("protobuf", "06083222020803 0608", id="a cut"),
        pytest.param("msgpack", "9341cd003203", id="a number written long"),
        pytest.param("msgpack", "93413203 93413303 c0 93413203", id="faults between"),
        pytest.param("msgpack", "93413203 9441", id="a cut array"),
        pytest.param("msgpack", "c1", id="no msgpack"),
    ],
)
def test_encode_undoes_decode_whatever_the_bytes(backend: str, octets: str) -> None:
    data = bytes.fromhex(octets)
    lines = run("decode", LUMBERJACK, "--backend", backend, "--from", "reader", data=data)
    again = run("encode", LUMBERJACK, "--backend", backend, data=lines.stdout_bytes)
    assert (again.exit_code, again.stdout_bytes) == (0, data), again.stderr
    assert all(
        ("raw" in line or "bytes" in line) == (line.get("backend") == backend) for line in lines_of(lines)
    )


def test_bytes_of_one_serialization_are_not_written_as_another() -> None:
    reordered = bytes.fromhex("06 22020803 0832")
    lines = run("decode", LUMBERJACK, "--backend", "protobuf", data=reordered).stdout_bytes
    assert run("encode", LUMBERJACK, data=lines).stdout_bytes == bytes.fromhex("324100000003")
    bad = run("decode", LUMBERJACK, "--backend", "protobuf", data=b"\x02\x08\x32").stdout_bytes
    check_refused(run("encode", LUMBERJACK, data=bad), "line 1: bytes that could not be decoded", code=1)


def test_a_fault_has_its_place_and_the_exit_code_tells() -> None:
    result = run("decode", LUMBERJACK, "--backend", "msgpack", data=bytes.fromhex("93413203 934132a133"))
    assert result.exit_code == 1
    error = lines_of(result)[1]["error"]
    assert isinstance(error, dict)
    assert (error["code"], error["path"], lines_of(result)[1]["offset"]) == (
        "invalid_value",
        "Ack.sequence",
        4,
    )


def test_what_a_serialization_has_not_is_refused() -> None:
    check_refused(
        run("decode", LUMBERJACK, "--backend", "protobuff", data=b""),
        "unknown backend `protobuff`",
        "did you mean",
    )
    check_refused(run("decode", LUMBERJACK, "--backend", "protobuf", "--pcap", data=b""), "a capture")
    check_refused(
        run("decode", LUMBERJACK, "--backend", "msgpack", "--format", "hex", data=b""), "--format hex"
    )


def test_a_protocol_that_nobody_built_has_all_serializations(tmp_path: Path) -> None:
    path = tmp_path / "echo.wire"
    path.write_text(ECHO)
    native = bytes.fromhex("0003 01 026869 0001 02 00")
    for backend in OTHERS:
        data = transcode(path, "native", backend, native)
        assert transcode(path, backend, "native", data) == native
    assert transcode(path, "native", "msgpack", native) == bytes.fromhex("9201a26869 9202a0")
    assert list(tmp_path.iterdir()) == [path]


def test_a_missing_library_is_named(tmp_path: Path) -> None:
    (tmp_path / "msgspec.py").write_text("raise ImportError('no msgspec')")
    done = command("decode", str(LUMBERJACK), "--hex", "", "--backend", "msgpack", path=tmp_path)
    assert (done.returncode, done.stdout) == (2, b"")
    assert b"lumberjack.msgpack needs msgspec" in done.stderr and b"pip install msgspec" in done.stderr


def command(*arguments: str, path: Path) -> "subprocess.CompletedProcess[bytes]":
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(path), str(GENERATOR)])}
    line = [sys.executable, "-m", "wiregen", *arguments]
    return subprocess.run(line, env=environment, capture_output=True, check=False)


# ---- streams ----


@pytest.mark.parametrize("target", OTHERS)
def test_there_and_back(target: str) -> None:
    other = "msgpack" if target == "protobuf" else "protobuf"
    data = transcode(LUMBERJACK, "native", target, STREAM)
    assert transcode(LUMBERJACK, other, "native", transcode(LUMBERJACK, target, other, data)) == STREAM
    assert transcode(LUMBERJACK, target, target, data) == data
    held = transcode(LUMBERJACK, "native", target, STORED)
    inflated = lj.decode(transcode(LUMBERJACK, target, "native", held)).message
    assert inflated == lj.decode(STORED).message


@pytest.mark.parametrize("target", OTHERS)
def test_the_first_fault_ends_it_with_its_place(tmp_path: Path, target: str) -> None:
    source, output = tmp_path / "source.bin", tmp_path / "output.bin"
    source.write_bytes(EVENT + b"\x33" + ACK)
    output.write_bytes(b"as it was")
    result = run("transcode", LUMBERJACK, "--from", "native", "--to", target, "-o", output, source)
    check_refused(result, f"the frame at {len(EVENT)} (native): Frame.version: invalid_enum", code=1)
    assert output.read_bytes() == b"as it was" and len(list(tmp_path.iterdir())) == 2
    cut = run("transcode", LUMBERJACK, "--from", "native", "--to", target, data=EVENT + ACK[:-1])
    check_refused(cut, f"the frame at {len(EVENT)} (native): ", "truncated", code=1)


@pytest.mark.parametrize("target", OTHERS)
def test_what_cannot_be_carried_is_named_with_its_place_and_left_out_on_demand(target: str) -> None:
    ping = pravega.encode(pravega.KeepAlive())
    surrogate = pravega.encode(pravega.SegmentCreated(1, "\ud800"))
    data = ping + UNKNOWN + surrogate + ping
    arguments = ("transcode", "pravega", "--from", "native", "--to", target)
    result = run(*arguments, data=data)
    place = f"the frame at {len(ping)} cannot be converted to {target}: Unknown: unrepresentable"
    check_refused(result, place, "--skip", code=1)
    result = run(*arguments, "--skip", data=data)
    place = f"the frame at {len(ping + UNKNOWN)} cannot be converted to {target}: SegmentCreated.segment"
    assert result.exit_code == 1 and place in result.stderr
    assert transcode("pravega", target, "native", result.stdout_bytes) == ping + ping


@pytest.mark.parametrize("target", OTHERS)
def test_preambles_and_contexts(tmp_path: Path, target: str) -> None:
    asked = geode.Request(
        geode.GetRequest("r", geode.GeodeValue.Integer(1), geode.GeodeValue.Null()), correlation_id=7
    )
    request = asked.encode(from_role="client")
    client = b"\x6e" + request
    result = run("transcode", "geode", "--from", "native", "--to", target, "--role", "client", data=client)
    assert result.exit_code == 0 and "use `--preamble 6e` to restore Connect" in result.stderr
    back = ("transcode", "geode", "--from", target, "--to", "native", "--role", "client")
    check_refused(run(*back, data=result.stdout_bytes), "begin with Connect")
    check_refused(run(*back, "--preamble", "6f6f", data=b""), "--preamble is not Connect")
    assert run(*back, "--preamble", "6e", data=result.stdout_bytes).stdout_bytes == client
    check_refused(run(*back[:-1], "server", "--preamble", "6e", data=b""), "--preamble is only for")

    context = geode.Context()
    context.apply(asked, "client")
    answer = geode.encode(
        geode.GetResponse(geode.GeodeValue.Integer(2)), correlation_id=7, from_role="server", context=context
    )
    server = ("transcode", "geode", "--role", "server", "--from")
    check_refused(
        run(*server, "native", "--to", target, data=answer), "Unknown: unrepresentable", "--before", code=1
    )
    other = run(*server, "native", "--to", target, "--before", f"client:{client.hex()}", data=answer)
    assert other.exit_code == 0, other.stderr
    (tmp_path / "said").write_bytes(result.stdout_bytes)
    told = ("--before", f"client:@{tmp_path / 'said'}")
    assert run(*server, target, "--to", "native", *told, data=other.stdout_bytes).stdout_bytes == answer
    check_refused(
        run(*server, target, "--to", "native", "--before", "client:00", data=b""), "--before client: "
    )
    lines = run("decode", "geode", "--backend", target, "--from", "server", *told, data=other.stdout_bytes)
    assert lines_of(lines)[0]["message"] == "GetResponse"


def test_the_context_of_a_stream_is_its_own() -> None:
    subscribed = reactive_streams.Subscribed(1, 4).encode()
    context = reactive_streams.Context()
    context.apply(reactive_streams.Message(reactive_streams.Subscribed(1, 4)), "server")
    data = subscribed + reactive_streams.OnNext(1, b"abcd").encode(from_role="server", context=context)
    for target in OTHERS:
        other = transcode("reactive_streams", "native", target, data, "--role", "server")
        assert transcode("reactive_streams", target, "native", other, "--role", "server") == data


# ---- long streams ----


def long_stream(n_frames: int) -> Iterator[bytes]:
    """Yield chunks that cut frames anywhere."""
    left = b""
    for sequence in range(n_frames):
        left += lj.encode(lj.Data(sequence, [lj.Pair("line", "x" * 4000)]))
        if len(left) > 65536:
            yield left[:65536]
            left = left[65536:]
    yield left


@pytest.mark.parametrize(("source", "target"), [("native", "protobuf"), ("native", "msgpack")])
def test_memory_does_not_grow_with_the_stream(source: str, target: str) -> None:
    package = package_of(str(LUMBERJACK), (source, target))
    there = Transcoder(package, source, target, StreamWishes())
    back = Transcoder(package, target, source, StreamWishes())

    def carried(n_frames: int) -> int:
        size = 0
        for chunk in long_stream(n_frames):
            for piece in there.feed(chunk):
                assert isinstance(piece, bytes)
                size += sum(len(again) for again in back.feed(piece) if isinstance(again, bytes))
        assert [*there.finish()] == []
        return size

    assert carried(50) == 50 * 4022
    tracemalloc.start()
    try:
        assert carried(5000) == 5000 * 4022
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 2**21, peak


def test_pieces_tell_what_became_of_each_frame() -> None:
    package = package_of("geode", ("protobuf",))
    transcoder = Transcoder(package, "native", "protobuf", StreamWishes(role="client"))
    first, second = transcoder.feed(b"\x6e" + bytes.fromhex("00000001 00000000 00 00 7fff 01"))
    assert first == LeftOut(data=b"\x6e", name="Connect")
    assert (
        isinstance(second, LostBytes)
        and second.offset == 1
        and isinstance(second.error, EncodeError | DecodeError)
    )


def test_a_terminal_sees_how_far_it_is(tmp_path: Path) -> None:
    source = tmp_path / "long.bin"
    with source.open("wb") as file:
        file.writelines(long_stream(4300))
    leader, follower = pty.openpty()
    line = [
        sys.executable,
        "-m",
        "wiregen",
        "transcode",
        str(LUMBERJACK),
        "--from",
        "native",
        "--to",
        "msgpack",
    ]
    environment = {**os.environ, "PYTHONPATH": str(GENERATOR), "TERM": "xterm"}
    with subprocess.Popen(
        [*line, "-o", str(tmp_path / "o"), str(source)], env=environment, stderr=follower
    ) as process:
        os.close(follower)
        shown = b""
        try:
            while piece := os.read(leader, 65536):
                shown += piece
        except OSError:  # the other end is closed
            pass
        assert process.wait() == 0
    os.close(leader)
    assert b"MiB" in shown
    assert (tmp_path / "o").stat().st_size > 4300 * 4000


@pytest.mark.parametrize("target", OTHERS)
def test_a_line_whose_bytes_have_something_left_over_is_not_encoded_without_it(target: str) -> None:
    keep_alive, with_tail = bytes.fromhex("00000064 00000000"), bytes.fromhex("00000064 00000002 abcd")
    lines = run("decode", "pravega", data=keep_alive + with_tail).stdout_bytes
    assert lines_of(run("decode", "pravega", data=with_tail))[0]["raw"] == with_tail.hex()
    refused = run("encode", "pravega", "--backend", target, data=lines)
    check_refused(refused, "line 2: Frame.body: unrepresentable: expected no trailing bytes", code=1)
    assert "--canonical" in refused.stderr
    anew = run("encode", "pravega", "--backend", target, "--canonical", data=lines)
    assert anew.stdout_bytes == transcode("pravega", "native", target, keep_alive * 2)


@pytest.mark.parametrize("target", OTHERS)
def test_a_line_whose_bytes_say_the_same_otherwise_is_encoded(target: str) -> None:
    [line] = lines_of(run("decode", LUMBERJACK, data=STORED))
    assert "raw" in line
    assert run("encode", LUMBERJACK, "--backend", target, data=json.dumps(line).encode()).exit_code == 0


@pytest.mark.parametrize("target", ["native", *OTHERS])
def test_what_was_left_over_is_not_dropped_in_silence(target: str) -> None:
    keep_alive, with_tail = bytes.fromhex("00000064 00000000"), bytes.fromhex("00000064 00000002 abcd")
    data = keep_alive + with_tail + keep_alive
    command = ("transcode", "pravega", "--from", "native", "--to", target)
    refused = run(*command, data=data)
    check_refused(
        refused, f"the frame at 8 cannot be converted to {target}: KeepAlive.tail: unrepresentable", code=1
    )
    skipped = run(*command, "--skip", data=data)
    assert skipped.exit_code == 1
    assert skipped.stdout_bytes == transcode("pravega", "native", target, keep_alive * 2)
