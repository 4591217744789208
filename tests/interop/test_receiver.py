"""The receiver of `examples/`: its batches and acks, its behaviour with a slow or failing disk, and its stop."""

from __future__ import annotations

import asyncio
import json
import random
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Coroutine, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from lumberjack_receiver.batches import Ack, Batch, Batches
from lumberjack_receiver.refusals import Refusals
from lumberjack_receiver.service import Service, Settings
from tests.interop.certificates import make_certificates
from tests.interop.receiver import (
    HOST,
    ROOT,
    Receiver,
    environment,
    running,
    stored_events,
    stored_numbers,
)

from wireproto import lumberjack as lj
from wireproto.lumberjack import aio

V1, V2 = lj.Version.V1, lj.Version.V2


def event(sequence: int, version: lj.Version = V2) -> lj.Frame:
    return lj.Frame(lj.Json(sequence, b'{"number": %d}' % sequence), version=version)


def window(size: int, version: lj.Version = V2) -> lj.Frame:
    return lj.Frame(lj.Window(size), version=version)


def taken(*frames: lj.Frame, max_size: int = 1 << 20) -> list[tuple[int, tuple[int, int] | None]]:
    """Return of each batch how many events it has, and the number and version of its ack."""
    batches = Batches(max_size)
    found = [batch for frame in frames for batch in batches.take(frame)]
    return [(each.n_events, _shown(each)) for each in [*found, batches.rest()]]


def _shown(batch: Batch) -> tuple[int, int] | None:
    match batch.ack:
        case Ack(sequence=sequence, version=version):
            return sequence, {V1: 1, V2: 2}[version]
        case None:
            return None


REST = (0, None)


@pytest.mark.parametrize(
    ("frames", "expected"),
    [
        pytest.param([window(2), event(1), event(2)], [(2, (2, 2)), REST], id="a full window"),
        pytest.param([window(2), event(1)], [(1, None)], id="a window that is not full"),
        pytest.param(
            [event(7, V1), event(8)], [(1, (7, 1)), (1, (8, 2)), REST], id="events without a window"
        ),
        pytest.param([window(0, V1)], [(0, (0, 1)), REST], id="an empty window"),
        pytest.param(
            [window(3), event(1), window(1), event(2)], [(1, (1, 2)), (1, (2, 2)), REST], id="a short window"
        ),
        pytest.param(
            [window(3), window(1), event(1)], [(1, (1, 2)), REST], id="a short window without events"
        ),
        pytest.param(
            [lj.Frame(lj.Compressed([window(1), event(1), lj.Frame(lj.Compressed([window(1), event(9)]))]))],
            [(1, (1, 2)), (1, (9, 2)), REST],
            id="windows inside",
        ),
    ],
)
def test_batches(frames: list[lj.Frame], expected: list[object]) -> None:
    assert taken(*frames) == expected


def test_a_large_window_is_handed_out_in_parts_and_acknowledged_once() -> None:
    frames = [window(100), *(event(number) for number in range(1, 101))]
    found = taken(*frames, max_size=200)
    assert sum(n_events for n_events, _ in found) == 100
    assert max(n_events for n_events, _ in found) < 12
    assert [ack for _, ack in found if ack is not None] == [(100, 2)]
    cut = taken(*frames[:50], window(0), max_size=200)
    assert [ack for _, ack in cut if ack is not None] == [(49, 2), (0, 2)]


# ---- the service in this process ----


def served(
    folder: Path, talk: Callable[[Service, int], Coroutine[Any, Any, None]], **settings: Any
) -> Service:
    service = Service(Settings(folder=folder, port=0, **settings))

    async def main() -> None:
        async with asyncio.timeout(60):
            await talk(service, await service.start())
            await service.stop()

    asyncio.run(main())
    return service


@pytest.mark.parametrize(("version", "first"), [(V2, 1), (V1, 1), (V2, 0)], ids=["v2", "v1", "v2-from-0"])
def test_keepalives_while_the_disk_is_slow(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, version: lj.Version, first: int
) -> None:
    """Only for version 2, and never where 0 would acknowledge an event."""

    async def talk(service: Service, port: int) -> None:
        write = service.spool._write

        def slowly(pieces: list[bytes]) -> None:
            time.sleep(0.25)
            write(pieces)

        monkeypatch.setattr(service.spool, "_write", slowly)
        async with aio.connect(HOST, port) as peer:
            await peer.send(lj.Window(2), version=version)
            for sequence in (first, first + 1):
                await peer.send(event(sequence, version))
            acks = []
            while peer.connection.transfer.outstanding:
                frame = await peer.receive()
                assert frame is not None and frame.version is version
                acks.append(frame.message)
            n_keepalives = len(acks) - 1
            assert acks == [lj.Ack(0)] * n_keepalives + [lj.Ack(first + 1)]
            assert n_keepalives == service.counts.keepalives
            assert (n_keepalives > 0) == (version is V2 and first > 0)

    served(tmp_path, talk, keepalive=0.05)


def test_what_cannot_be_stored_is_not_acknowledged(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(pieces: list[bytes]) -> None:
        raise OSError(28, "no space left on device")

    async def talk(service: Service, port: int) -> None:
        with monkeypatch.context() as patched:
            patched.setattr(service.spool, "_write", full)
            async with aio.connect(HOST, port) as peer:
                await peer.send(event(1))
                assert await peer.receive() is None
        async with aio.connect(HOST, port) as peer:
            await peer.send(event(1))
            assert (await peer.receive()) == lj.Frame(lj.Ack(1))

    service = served(tmp_path, talk)
    assert service.counts.ended == {"OSError": 1}
    assert stored_numbers(tmp_path) == [1]


def test_events_of_a_window_that_stays_open_are_stored_and_not_acknowledged(tmp_path: Path) -> None:
    async def talk(service: Service, port: int) -> None:
        async with aio.connect(HOST, port) as peer:
            for frame in (window(3), event(1), event(2)):
                await peer.send(frame)
            while not stored_events(tmp_path):
                await asyncio.sleep(0.02)
            assert service.counts.acks == 0
            await peer.send(event(3))
            assert (await peer.receive()) == lj.Frame(lj.Ack(3))
            await peer.send(window(3))
            await peer.send(event(4))

    served(tmp_path, talk, quiet=0.1)
    assert stored_numbers(tmp_path) == [1, 2, 3, 4]


def test_a_probe_is_answered(tmp_path: Path) -> None:
    async def talk(service: Service, port: int) -> None:
        async with aio.connect(HOST, port) as peer:
            await peer.send(lj.Window(0), version=V1)
            assert (await peer.receive()) == lj.Frame(lj.Ack(0), version=V1)

    served(tmp_path, talk)
    assert not list(tmp_path.glob("*.lumberjack"))


def test_a_bad_peer_is_named_and_the_others_go_on(tmp_path: Path) -> None:
    async def talk(service: Service, port: int) -> None:
        async with aio.connect(HOST, port) as good:
            for data in (b"GET / HTTP/1.1\r\n\r\n", lj.encode(lj.Ack(1)), lj.encode(lj.Window(10_001))):
                reader, writer = await asyncio.open_connection(HOST, port)
                writer.write(data)
                assert await reader.read() == b""
                writer.close()
            await good.send(event(1))
            assert (await good.receive()) == lj.Frame(lj.Ack(1))

    service = served(tmp_path, talk)
    assert service.counts.ended == {"invalid_enum": 1, "wrong_direction": 1, "window_too_large": 1}


# ---- refused connections ----


def refusals(most: int = 2) -> tuple[Refusals, list[str], list[float]]:
    """Return a bound of lines per minute, the lines that it writes, and a clock to be set."""
    lines, clock = list[str](), [0.0]
    return Refusals(most, lines.append, lambda: clock[0]), lines, clock


def test_refusals_are_lines_as_long_as_there_are_few_and_a_number_after_that() -> None:
    told, lines, clock = refusals(most=2)
    for second in range(50):
        clock[0] = second
        told.add(None, ConnectionRefusedError(111, "there are 2 connections already", (HOST, 5000 + second)))
    reason = "ConnectionRefusedError: there are 2 connections already"
    assert lines == [f"refused {HOST}:5000: {reason}", f"refused {HOST}:5001: {reason}"]
    clock[0] = 60.0
    told.add(None, TimeoutError("no whole frame came within 600 s"))
    assert lines[2:] == [
        "refused 48 more, left out: at most 2 lines a minute",
        "refused a peer without an address: TimeoutError: no whole frame came within 600 s",
    ]
    clock[0] = 120.0
    for second in range(3):
        told.add(None, ConnectionRefusedError(111, "again", ("::1", second, 0, 0)))
    told.flush()
    told.flush()
    assert lines[4:] == [
        "refused [::1]:0: ConnectionRefusedError: again",
        "refused [::1]:1: ConnectionRefusedError: again",
        "refused 1 more, left out: at most 2 lines a minute",
    ]


def test_a_line_holds_no_control_characters() -> None:
    told, lines, _ = refusals()
    told.add(None, OSError(4711, "\x1b[31mred\nrefused 10.0.0.1\u202e", "x"))
    assert lines == [r"refused a peer without an address: OSError: \x1b[31mred\nrefused 10.0.0.1\u202e"]


def refused_line(log: Path, data: bytes, receiver: Receiver) -> str:
    """Return the line about a connection that sent these bytes, `PORT` in place of its port."""
    with socket.create_connection((HOST, receiver.port), timeout=60) as wire:
        port = wire.getsockname()[1]
        with suppress(OSError):
            wire.sendall(data)
            assert wire.recv(1) == b""
        for _ in range(3000):
            found = [line for line in log.read_text().splitlines() if f":{port}: " in line]
            if found:
                [line] = found
                return line.replace(f":{port}: ", ":PORT: ")
            time.sleep(0.02)
    raise AssertionError(f"no line about port {port}: {log.read_text()}")


LIMITED = (
    "--max-frame",
    "2000",
    "--max-inflated",
    "1KiB",
    "--max-window",
    "5",
    "--max-depth",
    "1",
    "--max-count",
    "3",
)
WINDOW_5 = lj.encode(lj.Window(5))


@pytest.mark.parametrize(
    ("data", "line"),
    [
        pytest.param(
            WINDOW_5 + lj.encode(lj.Window(6)),
            "window_too_large at byte 6: a Window of 6 events, at most 5 (--max-window)",
            id="window",
        ),
        pytest.param(
            lj.encode(lj.Ack(1)),
            "wrong_direction at byte 0: Only the writer sends Window, Data, Json and Compressed, only the reader sends Ack.",
            id="direction",
        ),
        pytest.param(
            WINDOW_5 + b"GET / HTTP/1.1",
            "invalid_enum (bad_version) at byte 6: Frame.version: expected a member of Version, found 71",
            id="garbage",
        ),
        pytest.param(
            WINDOW_5 + lj.encode(lj.Compressed([lj.Frame(lj.Json(1, bytes(1025)))])),
            "limit_exceeded (inflate_limit) at byte ",
            id="inflated",
        ),
        pytest.param(
            WINDOW_5 + lj.encode(lj.Json(1, bytes(2001))), "limit_exceeded (frame_too_large) at byte ", id="frame"
        ),
        pytest.param(
            lj.encode(lj.Data(1, [lj.Pair("a", "b")] * 4)), "limit_exceeded (too_many_pairs) at byte 6: ", id="pairs"
        ),
    ],
)  # fmt: skip
def test_a_refused_connection_is_one_line(limited: tuple[Receiver, Path], data: bytes, line: str) -> None:
    receiver, log = limited
    assert refused_line(log, data, receiver).startswith(f"refused {HOST}:PORT: {line}")


@pytest.fixture(scope="module")
def limited(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Receiver, Path]]:
    folder = tmp_path_factory.mktemp("limited")
    log = folder / "stderr"
    with running(folder / "spool", "--insecure", *LIMITED, log=log) as receiver:
        yield receiver, log


def test_connections_without_tls_and_those_that_are_too_many_have_a_line(tmp_path: Path) -> None:
    made, log = make_certificates(tmp_path), tmp_path / "stderr"
    arguments = ["--cert", made.server, "--key", made.server_key, "--max-connections", "1"]
    with running(tmp_path / "spool", *arguments, log=log) as receiver:
        assert "SSLError: " in refused_line(log, lj.encode(lj.Window(1)), receiver)
        while receiver.metrics()["connections"]:
            time.sleep(0.02)
        with socket.create_connection((HOST, receiver.port), timeout=60):
            while not receiver.metrics()["connections"]:
                time.sleep(0.02)
            line = refused_line(log, b"", receiver)
            assert line == f"refused {HOST}:PORT: ConnectionRefusedError: there are 1 connections already"


def test_a_limit_that_is_none_is_refused(tmp_path: Path) -> None:
    for value in ("-1", "5 apples", "1KB"):
        command = [sys.executable, "-m", "lumberjack_receiver", str(tmp_path), f"--max-frame={value}"]
        done = subprocess.run(
            command, env=environment(), capture_output=True, text=True, check=False, timeout=60
        )
        assert done.returncode == 2
        assert f"--max-frame: {value!r} is not a number, as in 1000 or 64MiB\n" in done.stderr


# ---- batches as Filebeat sends them ----

FILEBEAT_EVENTS, FILEBEAT_EVENT_SIZE = 2_048, 9 << 10
"""`bulk_max_size` of Filebeat's output, and events of 9 KiB: 18 MiB in one compressed frame."""
MOST_MEMORY = 192 << 10
"""KiB of the whole process; README.md."""


def filebeat_batch() -> bytes:
    chance = random.Random(9)
    words = [bytes(chance.choices(b"abcdefghijklmnop", k=40)) for _ in range(100)]
    documents = (
        b'{"message": "%s"}' % b" ".join(chance.choices(words, k=300))[: FILEBEAT_EVENT_SIZE - 15]
        for _ in range(FILEBEAT_EVENTS)
    )
    events = [lj.Frame(lj.Json(number, each)) for number, each in enumerate(documents, 1)]
    return lj.encode(lj.Window(FILEBEAT_EVENTS)) + lj.encode(lj.Compressed(events), compression=3)


def test_default_batches_of_filebeat_are_stored_in_bounded_memory(tmp_path: Path) -> None:
    """Five batches are sent ahead of their acks, as by a writer that does not wait."""
    batch, n_batches = filebeat_batch(), 5
    with running(tmp_path) as receiver, socket.create_connection((HOST, receiver.port), timeout=120) as wire:
        sending = threading.Thread(target=wire.sendall, args=(batch * n_batches,))
        sending.start()
        acks = b""
        while acks.count(lj.encode(lj.Ack(FILEBEAT_EVENTS))) < n_batches:
            data = wire.recv(4096)
            assert data, "the receiver closed the connection"
            acks += data
        sending.join()
        metrics = receiver.metrics()
        assert metrics["events_total"] == n_batches * FILEBEAT_EVENTS
        assert metrics["peak_memory_kilobytes"] < MOST_MEMORY
        assert receiver.stop() == 0
    sizes = [len(event.document) for event in stored_events(tmp_path) if isinstance(event, lj.Json)]
    assert len(sizes) == n_batches * FILEBEAT_EVENTS
    assert set(sizes) == {FILEBEAT_EVENT_SIZE}


# ---- the service as a process ----


def test_sigterm_in_the_middle_of_a_load_stops_in_order(tmp_path: Path) -> None:
    acknowledged = 0

    def write(port: int) -> None:
        nonlocal acknowledged
        connection = lj.Connection("writer")
        with suppress(OSError), socket.create_connection((HOST, port), timeout=60) as wire:
            for number in range(1, 10**6):
                wire.sendall(connection.send(lj.Window(1)) + connection.send(event(number)))
                while connection.transfer.outstanding:
                    data = wire.recv(4096)
                    if not data:
                        return
                    connection.receive(data)
                acknowledged = number

    with running(tmp_path) as receiver:
        writer = threading.Thread(target=write, args=(receiver.port,))
        writer.start()
        while acknowledged < 20:
            time.sleep(0.01)
        assert receiver.metrics()["connections"] == 1
        assert receiver.stop() == 0
        writer.join(timeout=60)
    numbers = stored_numbers(tmp_path)
    assert numbers == list(range(1, len(numbers) + 1))
    assert acknowledged <= len(numbers) <= acknowledged + 1


def test_the_command_reads_its_files(tmp_path: Path) -> None:
    with running(tmp_path) as receiver, socket.create_connection((HOST, receiver.port), timeout=60) as wire:
        wire.sendall(lj.encode(lj.Window(2)) + event(1).encode() + event(2).encode())
        assert lj.decode_message(wire.recv(6)) == lj.Ack(2)
        wire.close()
        assert receiver.stop() == 0
    [path] = tmp_path.glob("*.lumberjack")
    command = [sys.executable, "-m", "wiregen", "decode", "lumberjack", str(path), "--from", "writer", "--format", "jsonl"]  # fmt: skip
    shown = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout
    lines = [json.loads(line) for line in shown.splitlines()]
    assert [line["message"] for line in lines] == ["Window", "Json", "Json"]
    assert bytes.fromhex(lines[2]["fields"]["document"]) == b'{"number": 2}'


def test_without_a_certificate_it_says_so(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "lumberjack_receiver", str(tmp_path)]
    done = subprocess.run(command, env=environment(), capture_output=True, text=True, check=False)
    assert done.returncode == 2 and "--insecure" in done.stderr


def test_a_folder_that_another_receiver_has_is_refused_with_the_way_out(tmp_path: Path) -> None:
    with running(tmp_path / "spool"):
        done = subprocess.run(
            [sys.executable, "-m", "lumberjack_receiver", str(tmp_path / "spool"), "--insecure", "--port", "0"],
            check=False, env=environment(), capture_output=True, text=True, timeout=60,
        )  # fmt: skip
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr == (
        f"lumberjack_receiver: another receiver writes into {tmp_path / 'spool'}: "
        "stop it, or give this one a folder of its own\n"
    )
