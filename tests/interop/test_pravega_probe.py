"""The probe of `examples/`: its output, its messages, its exit codes, against stores that behave and stores
that do not.
"""

from __future__ import annotations

import asyncio
import gzip
import json
import os
import pty
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, TypeVar

import pytest
from pravega_probe.failures import Exit, shown
from pravega_probe.store import PIECE, connect
from tests.interop.certificates import Certificates, make_certificates
from tests.interop.fake_store import HOST, Cut, FakeStore, Segment, serving
from tests.interop.receiver import ROOT, environment

from wireproto import pravega
from wireproto.pravega import aio

NAME = "scope/stream/0.#epoch.0"
TOKEN = "token-that-nobody-sees"
BYTES = bytes(range(256)) * 4
M = TypeVar("M")


def command(port: int, *arguments: str) -> list[str]:
    return [sys.executable, "-m", "pravega_probe", f"{HOST}:{port}", *arguments]


def probe(port: int, *arguments: str) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run(
        command(port, *arguments), env=environment(), capture_output=True, timeout=60, check=False
    )


def answered(answers: dict[type, Any], *arguments: str, **more: Any) -> tuple[int, str, FakeStore]:
    """Return exit code and words of a probe of the segment, where a store answers so."""
    store = FakeStore(segments={NAME: Segment(data=BYTES)}, answers=answers, **more)
    with serving(store) as port:
        done = probe(port, *(arguments or (NAME, "--timeout", "20")))
    return done.returncode, done.stderr.decode(), store


# ---- what is read ----


def test_hello_alone() -> None:
    with serving(FakeStore()) as port:
        done = probe(port)
    assert (done.returncode, done.stdout, done.stderr) == (0, b"wire versions 5 to 17\n", b"")


@pytest.mark.parametrize(
    ("arguments", "start", "end"),
    [
        pytest.param([], 0, 1024, id="all"),
        pytest.param(["--offset", "1000"], 900, 1024, id="from an offset"),
        pytest.param(["--offset", "200", "--length", "3"], 100, 103, id="fewer bytes than a store gives"),
        pytest.param(["--length", "0"], 0, 0, id="nothing"),
        pytest.param(["--offset", "1124"], 1024, 1024, id="from the end"),
        pytest.param(["--length", "99999"], 0, 1024, id="more than there is"),
        pytest.param(["--follow", "--length", "1024"], 0, 1024, id="followed so far"),
    ],
)
def test_what_is_read(arguments: list[str], start: int, end: int) -> None:
    with serving(FakeStore(segments={NAME: Segment(data=BYTES, start=100)})) as port:
        done = probe(port, NAME, *arguments)
    assert (done.returncode, done.stdout, done.stderr) == (0, BYTES[start:end], b"")


def test_a_large_segment_comes_in_pieces() -> None:
    data = os.urandom(2 * PIECE + 12345)
    store = FakeStore(segments={NAME: Segment(data=data, is_sealed=True)})
    with serving(store) as port:
        done = probe(port, NAME)
    assert (done.returncode, done.stdout == data) == (0, True)
    reads = [each for each in store.asked if isinstance(each, pravega.ReadSegment)]
    assert [read.offset for read in reads] == [0, PIECE, 2 * PIECE]
    assert store.ended == [None]  # the end of an orderly connection


def test_one_byte_at_a_time() -> None:
    with serving(FakeStore(segments={NAME: Segment(data=BYTES)}, chunk=1)) as port:
        done = probe(port, NAME)
    assert (done.returncode, done.stdout, done.stderr) == (0, BYTES, b"")


def test_it_follows_to_the_seal() -> None:
    segment = Segment(data=b"now ", later=[b"and ", b"later"], seals_then=True)
    with serving(FakeStore(segments={NAME: segment})) as port:
        done = probe(port, NAME, "--follow")
    assert (done.returncode, done.stdout) == (0, b"now and later")


def test_it_waits_at_the_tail_as_long_as_the_store_is_alive() -> None:
    reads = iter([pravega.SegmentRead(NAME, 0, True, False, b"", -1), None])

    def read_then(_: pravega.ReadSegment) -> Any:
        return next(reads)

    n_alive = 0

    def alive(request: pravega.KeepAlive) -> Any:
        nonlocal n_alive
        n_alive += 1
        rest = [] if n_alive < 3 else [pravega.SegmentRead(NAME, 0, False, True, b"late", 3)]
        return [request, *rest]

    answers: dict[type, Any] = {READ: read_then, pravega.KeepAlive: alive}
    store = FakeStore(segments={NAME: Segment(data=b"")}, answers=answers)
    with serving(store) as port:
        done = probe(port, NAME, "--follow", "--timeout", "0.8")
    assert (done.returncode, done.stdout, done.stderr) == (0, b"late", b"")
    assert [type(each).__name__ for each in store.asked[2:]] == ["ReadSegment"] * 2 + ["KeepAlive"] * 3


def test_a_store_that_does_not_answer_keepalives_is_gone() -> None:
    code, text, store = answered({pravega.KeepAlive: lambda _: None}, NAME, "--follow", "--timeout", "0.8")
    assert (code, text) == (Exit.TIMEOUT, "pravega_probe: no answer in time\n")
    assert isinstance(store.asked[-1], pravega.KeepAlive)


# ---- replies that are errors ----


def no_such(request: Any) -> Any:
    return pravega.StreamSegmentInfo(request.request_id, NAME, False, True, True, 0, 0, 0)


INFO, READ = pravega.GetStreamSegmentInfo, pravega.ReadSegment
ILLEGAL = pravega.ErrorCode.ILLEGAL_ARGUMENT
REFUSALS = [
    pytest.param(INFO, no_such, Exit.NO_SUCH_SEGMENT, "the segment does not exist", id="gone"),
    pytest.param(
        READ, lambda r: pravega.NoSuchSegment(r.request_id, NAME), Exit.NO_SUCH_SEGMENT, "the segment does not exist", id="none"
    ),
    pytest.param(INFO, lambda r: pravega.WrongHost(r.request_id, NAME, ""), Exit.WRONG_HOST, "elsewhere\n", id="host"),
    pytest.param(
        READ, lambda r: pravega.WrongHost(r.request_id, NAME, "h\x1b[2Jb:1"), Exit.WRONG_HOST, r": h\x1b[2Jb:1", id="named-host"
    ),
    pytest.param(
        READ, lambda r: pravega.AuthTokenCheckFailed(r.offset, "", 1), Exit.TOKEN, "has expired", id="expired"
    ),
    pytest.param(INFO, lambda r: pravega.AuthTokenCheckFailed(r.request_id, "", 0), Exit.TOKEN, "not allow", id="token"),
    pytest.param(INFO, lambda r: pravega.AuthTokenCheckFailed(r.request_id, "", 77), Exit.TOKEN, "not allow", id="token-77"),
    pytest.param(
        READ, lambda r: pravega.SegmentIsTruncated(r.request_id, NAME, 512), Exit.OFFSET, "begins at 512", id="truncated"
    ),
    pytest.param(
        INFO, lambda r: pravega.OperationUnsupported(r.request_id, "asking"), Exit.REFUSED, "support asking", id="unsupported"
    ),
    pytest.param(
        READ,
        lambda r: pravega.ErrorMessage(r.request_id, NAME, f"no {TOKEN}", ILLEGAL),
        Exit.REFUSED,
        "(ILLEGAL_ARGUMENT): no …",
        id="error",
    ),
    pytest.param(
        READ, lambda r: pravega.ErrorMessage(r.request_id, NAME, "x" * 9000, 42), Exit.REFUSED, "(42): xxx", id="long-error"
    ),
]  # fmt: skip


@pytest.mark.parametrize(("asked", "answer", "code", "words"), REFUSALS)
def test_a_reply_that_is_an_error_is_said_in_a_line(asked: type, answer: Any, code: Exit, words: str) -> None:
    found, text, _ = answered({asked: answer}, NAME, "--timeout", "20", "--token", TOKEN)
    assert (found, text.count("\n")) == (code, 1)
    assert words in text and TOKEN not in text and "\x1b" not in text and len(text) < 600


# ---- stores that do not behave ----


def changed(message: M, changes: dict[str, Any]) -> M:
    for name, value in changes.items():
        setattr(message, name, value)
    return message


def read(request: pravega.ReadSegment, **changes: Any) -> pravega.SegmentRead:
    found = pravega.SegmentRead(NAME, 0, False, False, b"x", request.request_id)
    return changed(found, changes)


def info(request: pravega.GetStreamSegmentInfo, **changes: Any) -> pravega.StreamSegmentInfo:
    found = pravega.StreamSegmentInfo(request.request_id, NAME, True, False, False, 0, 5, 0)
    return changed(found, changes)


HELLO = pravega.Hello
MISBEHAVIOUR = [
    pytest.param(
        HELLO, lambda _: pravega.Hello(30, 20), Exit.VERSION, "the store speaks wire versions 20 to 30, this probe 5 to 17\n", id="newer"
    ),
    pytest.param(HELLO, lambda _: pravega.Hello(4, 1), Exit.VERSION, "wire versions 1 to 4, this", id="older"),
    pytest.param(HELLO, lambda _: [], Exit.TIMEOUT, "no answer in time", id="silence"),
    pytest.param(HELLO, lambda _: pravega.SegmentSealed(1, NAME), Exit.PROTOCOL, "SegmentSealed does not answer the Hello", id="no-hello"),
    pytest.param(HELLO, lambda _: b"HTTP/1.1 400 Bad Request\r\n\r\n", Exit.PROTOCOL, "not Pravega's protocol", id="http"),
    pytest.param(HELLO, lambda _: b"\x00" * 64, Exit.PROTOCOL, "", id="zeros"),
    pytest.param(
        HELLO, lambda _: b"\x00\x00\x00\x0a\x7f\xff\xff\xff", Exit.PROTOCOL, "not Pravega's protocol: Frame.body: limit_exceeded", id="endless"
    ),
    pytest.param(HELLO, lambda _: b"\x00\x00\x00\x0a\xff\xff\xff\xff", Exit.PROTOCOL, "not Pravega", id="negative"),
    pytest.param(HELLO, lambda _: Cut(message=pravega.Hello(), size=0), Exit.NETWORK, "closed the connection", id="closed"),
    pytest.param(HELLO, lambda _: Cut(message=pravega.Hello(), size=11), Exit.NETWORK, "middle of a message", id="cut"),
    pytest.param(HELLO, lambda _: [pravega.Hello(), pravega.Hello()], Exit.PROTOCOL, "Hello answers no request", id="twice"),
    pytest.param(INFO, lambda r: [], Exit.TIMEOUT, "no answer in time", id="no-info"),
    pytest.param(INFO, lambda r: info(r, request_id=77), Exit.PROTOCOL, "answers request 77, but request 1", id="info-id"),
    pytest.param(INFO, lambda r: info(r, segment_name="b"), Exit.PROTOCOL, "does not answer", id="info-segment"),
    pytest.param(INFO, lambda r: pravega.SegmentSealed(1, NAME), Exit.PROTOCOL, "SegmentSealed does not", id="other"),
    pytest.param(INFO, lambda r: b"\x00\x00\x03\xe7\x00\x00\x00\x00", Exit.PROTOCOL, "", id="unknown"),
    pytest.param(INFO, lambda r: pravega.encode(READ(NAME, 0, 1, "", 1)), Exit.PROTOCOL, "", id="request"),
    pytest.param(READ, lambda r: read(r, request_id=77), Exit.PROTOCOL, "answers request 77, but request 2", id="read-id"),
    pytest.param(READ, lambda r: read(r, offset=9), Exit.PROTOCOL, "does not answer", id="read-offset"),
    pytest.param(READ, lambda r: read(r, segment="b"), Exit.PROTOCOL, "does not answer", id="read-segment"),
    pytest.param(READ, lambda r: read(r, data=b""), Exit.PROTOCOL, "gives nothing at 0, before the end at 1024", id="nothing"),
    pytest.param(
        READ, lambda r: read(r, data=b"x" * (PIECE + (1 << 19))), Exit.PROTOCOL, "expected at most 1310720 bytes", id="too-much"
    ),
    pytest.param(READ, lambda r: Cut(message=read(r, data=BYTES), size=600), Exit.NETWORK, "middle of a message", id="cut-read"),
    pytest.param(READ, lambda r: [], Exit.TIMEOUT, "no answer in time", id="no-read"),
    pytest.param(READ, lambda r: [pravega.KeepAlive()] * 50, Exit.TIMEOUT, "no answer in time", id="keepalives"),
]  # fmt: skip


@pytest.mark.parametrize(("asked", "answer", "code", "words"), MISBEHAVIOUR)
def test_a_store_that_misbehaves_is_named_and_left(asked: type, answer: Any, code: Exit, words: str) -> None:
    timeout = "1" if code is Exit.TIMEOUT else "20"
    found, text, _ = answered({asked: answer}, NAME, "--timeout", timeout, "--token", TOKEN)
    assert (found, text.count("\n")) == (code, 1), text
    assert words in text and TOKEN not in text


def test_a_store_of_before_request_ids_is_read() -> None:
    old = pravega.encode(read(pravega.ReadSegment(NAME, 0, 1, "", 0), data=BYTES))[8:-8]  # without the id
    answer = b"\x00\x00\x00\x0a" + len(old).to_bytes(4, "big") + old
    answers = {pravega.Hello: lambda _: pravega.Hello(7, 5), READ: lambda _: answer}
    store = FakeStore(segments={NAME: Segment(data=BYTES)}, answers=answers)
    with serving(store) as port:
        done = probe(port, NAME)
    assert (done.returncode, done.stdout) == (0, BYTES)


@pytest.mark.parametrize(
    ("sealed", "arguments"), [(False, []), (True, ["--follow"])], ids=["written", "sealed"]
)
def test_an_offset_behind_the_end(sealed: bool, arguments: list[str]) -> None:
    with serving(FakeStore(segments={NAME: Segment(data=BYTES, is_sealed=sealed)})) as port:
        done = probe(port, NAME, "--offset", "1025", *arguments)
    assert (done.returncode, done.stderr) == (Exit.OFFSET, b"pravega_probe: the segment ends at 1024\n")


def test_nobody_listens() -> None:
    with socket.create_server((HOST, 0)) as taken:
        port = taken.getsockname()[1]
    done = probe(port, NAME)
    assert (done.returncode, done.stdout, done.stderr.count(b"\n")) == (Exit.NETWORK, b"", 1)


# ---- the command ----


@pytest.mark.parametrize(
    "arguments",
    [
        ["localhost:0"],
        ["localhost:x"],
        [":1"],
        ["[::1]x:1", "a"],
        ["h", "s", "--offset", "-1"],
        ["h", "s", "--timeout", "0"],
        ["h", "s", "--timeout", "soon"],
        ["h", "s", "--token", "@/there/is/none"],
        ["h", "s", "--ca", "/there/is/none"],
    ],
    ids=" ".join,
)
def test_arguments_that_make_no_sense(arguments: list[str]) -> None:
    module = [sys.executable, "-m", "pravega_probe", *arguments]
    done = subprocess.run(module, env=environment(), capture_output=True, timeout=60, check=False)
    assert done.returncode == Exit.ARGUMENTS and b"Traceback" not in done.stderr


@pytest.mark.parametrize("how", ["argument", "file", "environment"])
def test_the_token_goes_to_the_store(how: str, tmp_path: Path) -> None:
    file = tmp_path / "token"
    file.write_text(f"{TOKEN}\n", encoding="utf-8")
    arguments = {"argument": ["--token", TOKEN], "file": ["--token", f"@{file}"], "environment": []}[how]
    more = {"PRAVEGA_TOKEN": TOKEN} if how == "environment" else {}
    store = FakeStore(segments={NAME: Segment(data=BYTES)})
    with serving(store) as port:
        subprocess.run(
            command(port, NAME, *arguments), env=environment() | more, capture_output=True, check=True
        )
    assert [each.delegation_token for each in store.asked[1:]] == [TOKEN, TOKEN]


def test_what_cannot_be_asked_does_not_show_the_token() -> None:
    with serving(FakeStore()) as port:
        done = probe(port, NAME, "--token", TOKEN * 4000)
    assert done.returncode == Exit.ARGUMENTS and TOKEN.encode() not in done.stderr


def test_a_file_is_written_and_an_old_one_left_alone_by_what_fails_before(tmp_path: Path) -> None:
    path = tmp_path / "segment"
    path.write_bytes(b"old")
    with serving(FakeStore(segments={NAME: Segment(data=BYTES)})) as port:
        assert probe(port, "none", "-o", str(path)).returncode == Exit.NO_SUCH_SEGMENT
        assert path.read_bytes() == b"old"
        done = probe(port, NAME, "-o", str(path))
    assert (done.returncode, done.stdout, path.read_bytes()) == (0, b"", BYTES)


def test_output_that_takes_no_more(tmp_path: Path) -> None:
    with serving(FakeStore(segments={NAME: Segment(data=BYTES * 1000)})) as port:
        process = subprocess.Popen(
            command(port, NAME), env=environment(), stdout=subprocess.PIPE, stderr=subprocess.PIPE
        )
        assert process.stdout is not None
        process.stdout.close()
        process.stdout = None
        text = process.communicate(timeout=60)[1]
        assert (process.returncode, text) == (
            Exit.NETWORK,
            b"pravega_probe: the reader of the output has closed it\n",
        )
        if Path("/dev/full").exists():
            done = probe(port, NAME, "-o", "/dev/full")
            assert done.returncode == Exit.NETWORK and b"No space left" in done.stderr


def test_interrupted_while_it_follows() -> None:
    store = FakeStore(segments={NAME: Segment(data=BYTES)})
    with serving(store) as port:
        process = subprocess.Popen(
            command(port, NAME, "--follow"),
            env=environment(),
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        while len(store.asked) < 4:  # Hello, the segment, its bytes, the tail
            time.sleep(0.01)
        process.send_signal(signal.SIGINT)
        out, text = process.communicate(timeout=60)
    assert (process.returncode, out, text) == (Exit.INTERRUPTED, BYTES, b"")


def test_progress_is_for_terminals() -> None:
    ours, theirs = pty.openpty()
    with serving(FakeStore(segments={NAME: Segment(data=BYTES)})) as port:
        subprocess.run(
            command(port, NAME), env=environment(), stdout=subprocess.DEVNULL, stderr=theirs, check=True
        )
    os.close(theirs)
    shown_there = os.read(ours, 4096).replace(b"\r\n", b"\n")
    os.close(ours)
    assert shown_there.endswith(b"\r1,024 of 1,024 bytes\n")


def test_memory_does_not_grow_with_the_segment() -> None:
    peaks = []
    for n_pieces in (1, 48):
        answers: dict[type, Any] = {
            INFO: lambda r, end=n_pieces * PIECE: info(r, write_offset=end),
            READ: lambda r: read(r, offset=r.offset, data=bytes(PIECE)),
        }
        with serving(FakeStore(answers=answers)) as port:
            process = subprocess.Popen(
                [*command(port, NAME), "-o", "/dev/null"], env=environment(), stderr=subprocess.PIPE
            )
            assert process.stderr is not None
            process.stderr.close()
            _, status, usage = os.wait4(process.pid, 0)
            process.returncode = os.waitstatus_to_exitcode(status)
            assert process.returncode == 0
        peaks.append(usage.ru_maxrss)  # kilobytes
    assert peaks[1] - peaks[0] < 12 * 1024


@pytest.fixture(scope="module")
def certificates(tmp_path_factory: pytest.TempPathFactory) -> Certificates:
    return make_certificates(tmp_path_factory.mktemp("certificates"))


def test_tls(certificates: Certificates) -> None:
    ssl = aio.tls_server(certificates.server, certificates.server_key)
    with serving(FakeStore(segments={NAME: Segment(data=BYTES)}), ssl=ssl) as port:
        done = probe(port, NAME, "--ca", certificates.ca)
        assert (done.returncode, done.stdout) == (0, BYTES)
        assert probe(port, NAME, "--ca", certificates.ca, "--server-name", "localhost").returncode == 0
        for arguments in (["--tls"], ["--ca", certificates.ca, "--server-name", "elsewhere"]):
            done = probe(port, NAME, *arguments)
            assert done.returncode == Exit.NETWORK and b"certificate" in done.stderr.lower()


def test_what_peers_say_is_shown_as_text() -> None:
    assert shown("a\x1b[31m\u202eb\n" + "c" * 1000, longest=9) == r"a\x1b[31m\u202eb\n" + "c…".removeprefix(
        "c"
    )
    assert shown("not mine", secret="mine") == "not …"


# ---- a captured store ----

STREAMS = json.loads(
    gzip.decompress((ROOT / "tests/conformance/data/pravega-write-read.streams.json.gz").read_bytes())
)["connections"]


def captured(number: int, role: Any) -> Iterator[pravega.Frame]:
    side = {"client": "c2s", "server": "s2c"}[role]
    yield from pravega.Decoder(role).feed(bytes.fromhex(STREAMS[number][side]))


def test_a_captured_store_is_read() -> None:
    """The client of the capture asked with the id 18; so does the probe."""
    hello, *_, read_then = (frame.encode() for frame in captured(1, "server"))
    asked = next(frame.message for frame in captured(1, "client") if isinstance(frame.message, READ))
    written = b"".join(
        frame.message.data
        for frame in captured(0, "client")
        if isinstance(frame.message, pravega.AppendBlockEnd)
    )
    store = FakeStore(answers={HELLO: lambda _: hello, READ: lambda _: read_then}, chunk=7)

    async def main(port: int) -> bytes:
        async with connect(HOST, port, timeout=60) as found:
            assert (found.hello.low_version, found.hello.high_version) == (5, 17)
            found._last_id = asked.request_id - 1
            pieces = found.read(asked.segment, 0, len(written), waits=False)
            return b"".join([piece async for piece in pieces])

    with serving(store) as port:
        assert asyncio.run(main(port)) == written
    assert store.asked[1].request_id == asked.request_id == 18


def test_the_captured_server_side_as_it_is() -> None:
    """Hello is understood; the later messages answer requests that this client never made, and are not accepted."""
    stream = bytes.fromhex(STREAMS[1]["s2c"])
    store = FakeStore(answers={HELLO: lambda _: stream, INFO: lambda _: None})
    with serving(store) as port:
        done = probe(port)
        assert (done.returncode, done.stdout) == (0, b"wire versions 5 to 17\n")
        done = probe(port, NAME, "--timeout", "20")
    assert (
        done.returncode == Exit.PROTOCOL and b"SegmentCreated answers request 9, but request 1" in done.stderr
    )
