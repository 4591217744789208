"""Connections over asyncio with real sockets on loopback: no losses, bounded resources, and no leftovers."""

from __future__ import annotations

import asyncio
import gc
import os
import ssl
import subprocess
import sys
import threading
import zlib
from collections.abc import Callable, Coroutine
from contextlib import suppress
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from tests.interop.certificates import Certificates, make_certificates

from wireproto import lumberjack as lj
from wireproto import reactive_streams as rs
from wireproto._runtime.aio import endpoint, network_side
from wireproto._runtime.sessions.connection import Connection
from wireproto._runtime.stream import decoder
from wireproto.lumberjack import aio
from wireproto.reactive_streams import aio as rs_aio

HOST = "127.0.0.1"
ROOT = Path(__file__).resolve().parents[3]
GENERATED = ROOT / "generated" / "python"


def run(main: Coroutine[Any, Any, None]) -> None:
    async def bounded() -> None:
        async with asyncio.timeout(60):
            await main

    asyncio.run(bounded())


@pytest.fixture(scope="module")
def certificates(tmp_path_factory: pytest.TempPathFactory) -> Certificates:
    return make_certificates(tmp_path_factory.mktemp("certificates"))


async def until(is_true: Callable[[], bool]) -> None:
    while not is_true():
        await asyncio.sleep(0.005)


async def acknowledge(peer: aio.Peer) -> None:
    async for frame in peer:
        match frame.message:
            case lj.Json(sequence=sequence):
                await peer.send(lj.Ack(sequence))
            case lj.Compressed(frames=[*_, lj.Frame(message=lj.Json(sequence=sequence))]):
                await peer.send(lj.Ack(sequence))
            case _:
                pass


def events(n: int) -> list[lj.Json]:
    return [lj.Json(number, b"{}") for number in range(1, n + 1)]


def test_the_package_loads_asyncio_only_by_name() -> None:
    code = "import sys; from wireproto import lumberjack as lj; lj.Connection('writer'); assert 'asyncio' not in sys.modules"
    subprocess.run([sys.executable, "-c", code], check=True, cwd=GENERATED)


def test_frames_go_both_ways() -> None:
    async def main() -> None:
        server = await aio.serve(acknowledge, HOST, 0)
        async with server, aio.connect(HOST, server.port) as peer:
            await peer.send(lj.Window(3))
            for event in events(3):
                await peer.send(event)
            got = []
            async for frame in peer:
                assert isinstance(frame.message, lj.Ack)
                got.append(frame.message.sequence)
                if got[-1] == 3:
                    break
            assert got == [1, 2, 3]
            assert peer.connection.transfer.state == "idle"
            assert peer.address == (HOST, server.port)

    run(main())


def test_tls_with_client_certificates(certificates: Certificates) -> None:
    subjects: list[object] = []

    async def handler(peer: aio.Peer) -> None:
        subjects.append(None if peer.certificate is None else peer.certificate["subject"])
        await acknowledge(peer)

    async def main() -> None:
        failures: list[Exception] = []
        of_server = aio.tls_server(certificates.server, certificates.server_key, client_ca=certificates.ca)
        of_client = aio.tls_client(
            certificates.ca, certificate=certificates.client, key=certificates.client_key
        )
        assert of_server.minimum_version == of_client.minimum_version == ssl.TLSVersion.TLSv1_2
        server = await aio.serve(
            handler, HOST, 0, ssl=of_server, report=lambda peer, error: failures.append(error)
        )
        async with server:
            async with aio.connect(HOST, server.port, ssl=of_client, server_hostname="localhost") as peer:
                await peer.send(lj.Window(2000))
                await peer.send(lj.Compressed([lj.Frame(event) for event in events(2000)]))
                while peer.connection.transfer.outstanding:
                    assert await peer.receive() is not None
            assert subjects == [((("commonName", "client"),),)]
            stranger = aio.tls_client(certificates.ca)
            with suppress(OSError):  # by TLS 1.3 a client may have connected before it is refused
                async with aio.connect(HOST, server.port, ssl=stranger, server_hostname="localhost") as peer:
                    assert await peer.receive() is None
            await until(lambda: bool(failures))
            assert isinstance(failures[0], ssl.SSLError)
        assert len(subjects) == 1

    run(main())


def test_reading_stops_while_the_handler_has_too_much() -> None:
    """The peer's writes do not come through while nobody reads, and then all of it does, in order."""
    total = 8_000
    got: list[int] = []

    async def main() -> None:
        may_read = asyncio.Event()
        peers: list[aio.Peer] = []

        async def handler(peer: aio.Peer) -> None:
            peers.append(peer)
            await may_read.wait()
            async for frame in peer:
                assert isinstance(frame.message, lj.Json)
                got.append(frame.message.sequence)

        server = await aio.serve(handler, HOST, 0, backlog=8)
        body = b"x" * 1000
        async with server:
            async with aio.connect(HOST, server.port, limits=lj.Limits(window=total)) as peer:

                async def write() -> None:
                    for number in range(1, total + 1):
                        await peer.send(lj.Json(number, body))

                writing = asyncio.create_task(write())
                await until(lambda: bool(peers) and len(peers[0]._events) == 8)
                await asyncio.sleep(0.1)  # in which it would read more
                assert len(peers[0]._events) == 8 and not writing.done()
                may_read.set()
                await writing
            await until(lambda: len(got) == total)
        assert got == list(range(1, total + 1))

    run(main())


def test_a_sender_waits_for_the_credit_that_the_other_side_gives() -> None:
    """Ten elements go out as they are asked for, three at a time; without `wait` the fourth is refused."""
    credits: list[int] = []

    async def publish(peer: rs_aio.Peer) -> None:
        await peer.send(rs.ServerHello(0, []))
        while not isinstance(getattr(await peer.receive(), "message", None), rs.Subscribe):
            pass
        receiving = asyncio.create_task(receive_all(peer))
        await peer.send(rs.Subscribed(7))
        for number in range(10):
            await peer.send(rs.OnNext(7, bytes([number])), wait=True)
            credits.append(peer.connection.subscription[7].credit)
        with pytest.raises(rs.SessionError, match="demand_exceeded"):
            await peer.send(rs.OnNext(7, b"more"))
        with pytest.raises(rs.SessionError, match="demand_exceeded"):
            await peer.send(rs.OnNext(7, b"more"), wait=True)
        await receiving

    async def main() -> None:
        server = await rs_aio.serve(publish, HOST, 0)
        async with server, rs_aio.connect(HOST, server.port) as peer:
            await peer.send(rs.ClientHello(0, []))
            await peer.send(rs.Subscribe("all", 7))
            got: list[bytes] = []
            for asked in (3, 6, 10):
                await peer.send(rs.Request(7, asked - len(got)))
                while len(got) < asked:
                    frame = await peer.receive()
                    assert frame is not None
                    if isinstance(frame.message, rs.OnNext):
                        got.append(frame.message.element)
            assert got == [bytes([number]) for number in range(10)]

    run(main())
    assert len(credits) == 10 and min(credits) == 0


async def receive_all(peer: rs_aio.Peer) -> None:
    async for _ in peer:
        pass


@pytest.mark.parametrize("close_is", ["orderly", "reset"])
def test_what_was_received_before_the_end_is_given_first(close_is: str) -> None:
    got: list[int] = []
    ended: list[Exception] = []

    async def main() -> None:
        may_read = asyncio.Event()
        peers: list[aio.Peer] = []

        async def handler(peer: aio.Peer) -> None:
            peers.append(peer)
            await may_read.wait()
            async for frame in peer:
                assert isinstance(frame.message, lj.Json)
                got.append(frame.message.sequence)

        server = await aio.serve(handler, HOST, 0, backlog=4, report=lambda peer, error: ended.append(error))
        async with server:
            _, writer = await asyncio.open_connection(HOST, server.port)
            writer.write(b"".join(lj.encode(event) for event in events(500)))
            await writer.drain()
            await until(lambda: bool(peers) and len(peers[0]._events) > 0)  # it has come, in one piece
            if close_is == "reset":
                writer.transport.abort()
            else:
                writer.close()
            await asyncio.sleep(0.1)
            may_read.set()
            await until(lambda: len(got) == 500)

    run(main())
    assert got == list(range(1, 501))
    assert ended == []


def test_a_peer_that_is_gone_when_it_is_answered_leaves_nothing_behind() -> None:
    """It closes, and its machine resets the connection when the answer comes: an end like others, and no failed handler."""
    seen: list[object] = []

    async def late(peer: aio.Peer) -> None:
        sequences = [frame.message async for frame in peer]
        for _ in sequences:
            await peer.send(lj.Ack(1))
            await asyncio.sleep(0.05)

    async def main() -> None:
        asyncio.get_running_loop().set_exception_handler(lambda loop, context: seen.append(context))
        server = await aio.serve(late, HOST, 0)
        async with server:
            _, writer = await asyncio.open_connection(HOST, server.port)
            writer.write(lj.encode(lj.Json(1, b"{}")))
            writer.close()
            await writer.wait_closed()
            await until(lambda: server.n_connections == 1)
            await until(lambda: server.n_connections == 0)

    run(main())
    gc.collect()  # an unclosed socket would say so here
    assert seen == []


def test_the_last_answer_arrives_although_more_was_sent() -> None:
    """Closing with bytes unread would reset the connection, and the answer would be gone."""

    async def one(peer: aio.Peer) -> None:
        frame = await peer.receive()
        assert frame is not None
        await peer.send(lj.Ack(1))

    async def main() -> None:
        server = await aio.serve(one, HOST, 0, backlog=1)
        async with server:
            for _ in range(5):
                reader, writer = await asyncio.open_connection(HOST, server.port)
                writer.write(lj.encode(lj.Json(1, b"{}")) * 50_000)
                assert await reader.readexactly(6) == lj.encode(lj.Ack(1))
                assert await reader.read() == b""
                writer.close()

    run(main())


def test_a_violation_comes_behind_the_frames_before_it_and_ends_one_connection() -> None:
    ended: list[tuple[aio.Peer | None, Exception]] = []
    got: list[object] = []

    async def handler(peer: aio.Peer) -> None:
        async for frame in peer:
            got.append(frame.message)

    async def main() -> None:
        server = await aio.serve(handler, HOST, 0, report=lambda *both: ended.append(both))
        async with server:
            reader, writer = await asyncio.open_connection(HOST, server.port)
            writer.write(lj.encode(lj.Window(2)) + lj.encode(lj.Ack(1)) + lj.encode(lj.Window(3)))
            assert await reader.read() == b""
            writer.close()
            async with aio.connect(HOST, server.port) as peer:
                await peer.send(lj.Window(1))
                await until(lambda: len(got) == 2)
            assert server.refused == 0

    run(main())
    assert got == [lj.Window(2), lj.Window(1)]
    [(peer, error)] = ended
    assert peer is not None and isinstance(error, lj.SessionError)
    assert error.violation == "wrong_direction" and not error.local
    assert error.frame.message == lj.Ack(1)


def test_bytes_that_are_no_frame_are_an_error() -> None:
    ended: list[Exception] = []

    async def main() -> None:
        server = await aio.serve(acknowledge, HOST, 0, report=lambda peer, error: ended.append(error))
        async with server:
            reader, writer = await asyncio.open_connection(HOST, server.port)
            writer.write(b"GET / HTTP/1.1\r\n\r\n")
            assert await reader.read() == b""
            writer.close()

    run(main())
    assert isinstance(ended[0], lj.DecodeError)


def test_time_outs_of_the_protocol_and_of_the_connection() -> None:
    ended: list[Exception] = []

    async def silent(peer: aio.Peer) -> None:
        async for _ in peer:
            pass

    async def main() -> None:
        server = await aio.serve(
            silent, HOST, 0, idle_timeout=0.4, report=lambda peer, error: ended.append(error)
        )
        limits = lj.Limits(ack_wait=100)
        async with server, aio.connect(HOST, server.port, limits=limits, strict=True) as peer:
            await peer.send(lj.Window(1))
            await peer.send(lj.Json(1, b"{}"))
            with pytest.raises(lj.SessionError) as caught:
                await peer.receive()
            assert caught.value.violation == "ack_timeout" and caught.value.local
            with pytest.raises(lj.SessionError):
                await peer.send(lj.Json(2, b"{}"))
        async with aio.connect(HOST, server.port) as peer:  # nobody listens any more
            pass

    with pytest.raises(OSError):
        run(main())

    async def dripping() -> None:
        server = await aio.serve(
            silent, HOST, 0, idle_timeout=0.3, report=lambda peer, error: ended.append(error)
        )
        async with server:
            reader, writer = await asyncio.open_connection(HOST, server.port)
            for byte in lj.encode(lj.Json(1, b"{}" * 20)):
                writer.write(bytes([byte]))
                if ended:
                    break
                await asyncio.sleep(0.05)
            assert await reader.read() == b""
            writer.close()

    ended.clear()
    run(dripping())
    assert isinstance(ended[0], TimeoutError)


async def pour(peer: aio.Peer) -> None:
    """Send events as long as the peer takes them, up to 40 MB."""
    for number in range(1, 641):
        await peer.send(lj.Json(number, b"x" * 65_536))


def test_a_peer_that_takes_no_bytes_is_let_go() -> None:
    ended: list[tuple[object, Exception]] = []

    async def main() -> None:
        server = await aio.serve(
            pour,
            HOST,
            0,
            role="writer",
            idle_timeout=0.5,
            report=lambda peer, error: ended.append((peer and peer.address, error)),
        )
        async with server:
            _, writer = await asyncio.open_connection(HOST, server.port)
            address = writer.get_extra_info("sockname")
            await until(lambda: bool(ended))
            assert ended[0][0] == address
            assert (
                isinstance(ended[0][1], TimeoutError)
                and str(ended[0][1]) == "the peer took no bytes for 0.5 s"
            )
            await until(lambda: not server.n_connections)
            writer.close()

    run(main())


class ClockAhead(asyncio.SelectorEventLoop):
    """An event loop whose clock a test puts forward by `ahead` seconds."""

    ahead = 0.0

    def time(self) -> float:
        return super().time() + self.ahead


def test_a_peer_that_takes_bytes_slowly_is_waited_for() -> None:
    """It takes some within the idle timeout, but too few for the next message."""
    ended: list[Exception] = []
    sending: list[aio.Peer] = []

    async def pour_large(peer: aio.Peer) -> None:
        sending.append(peer)
        for number in range(1, 20):
            await peer.send(lj.Json(number, b"x" * (8 << 20)))

    def n_waiting() -> int:
        """Return the bytes that the sender has and the network does not."""
        transport = sending[0]._transport if sending else None
        return 0 if transport is None else transport.get_write_buffer_size()

    async def main() -> None:
        loop = asyncio.get_running_loop()
        assert isinstance(loop, ClockAhead)
        server = await aio.serve(
            pour_large,
            HOST,
            0,
            role="writer",
            idle_timeout=10.0,
            report=lambda peer, error: ended.append(error),
        )
        async with server, asyncio.timeout(600):
            reader, writer = await asyncio.open_connection(HOST, server.port)
            while n_waiting() < 4 << 20:  # of a message, less than what is taken next
                await reader.read(1 << 16)
            before = n_waiting()
            while n_waiting() == before:
                await reader.read(1 << 16)
            loop.ahead += 11
            await asyncio.sleep(0.2)
            assert server.n_connections == 1 and not ended
            while not ended:
                loop.ahead += 11
                await asyncio.sleep(0.05)
            writer.close()

    with asyncio.Runner(loop_factory=ClockAhead) as runner:
        runner.run(main())
    assert [str(each) for each in ended] == ["the peer took no bytes for 10 s"]


def test_a_handshake_that_is_broken_off_is_reported_with_its_address_and_reason(
    certificates: Certificates,
) -> None:
    ended: list[tuple[object, Exception]] = []

    async def main() -> None:
        server = await aio.serve(
            pour,
            HOST,
            0,
            ssl=aio.tls_server(certificates.server, certificates.server_key),
            report=lambda peer, error: ended.append((peer, error)),
        )
        async with server:
            _, writer = await asyncio.open_connection(HOST, server.port)
            address = writer.get_extra_info("sockname")
            writer.write(b"\x16\x03\x01\x02\x00")  # the beginning of a record
            await writer.drain()
            writer.close()
            await until(lambda: bool(ended))
            peer, error = ended[0]
            assert peer is None and isinstance(error, OSError)
            assert error.filename == address and error.strerror and "None" not in str(error)

    run(main())


def test_a_peer_that_breaks_tls_off_while_this_side_writes_is_one_error_and_no_warnings(
    certificates: Certificates, caplog: pytest.LogCaptureFixture
) -> None:
    ended: list[Exception] = []

    async def pour_when_asked(peer: aio.Peer) -> None:
        await peer.receive()
        for _ in range(10_000):
            await peer.send(lj.Ack(0))

    async def main() -> None:
        server = await aio.serve(
            pour_when_asked,
            HOST,
            0,
            ssl=aio.tls_server(certificates.server, certificates.server_key),
            report=lambda peer, error: ended.append(error),
        )
        async with server:
            for _ in range(5):
                _, writer = await asyncio.open_connection(
                    HOST, server.port, ssl=aio.tls_client(certificates.ca), server_hostname="localhost"
                )
                writer.write(lj.encode(lj.Window(1)))
                writer.transport.abort()
            await until(lambda: len(ended) == 5)

    run(main())
    assert all(isinstance(error, OSError) for error in ended)
    assert [each.getMessage() for each in caplog.records if each.name == "asyncio"] == []


def test_connections_above_the_bound_are_closed_at_once(certificates: Certificates) -> None:
    """Those that only shake hands count too."""
    reported: list[tuple[Any, Exception]] = []

    async def main() -> None:
        server = await aio.serve(
            acknowledge,
            HOST,
            0,
            max_connections=2,
            ssl=aio.tls_server(certificates.server, certificates.server_key),
            report=lambda peer, error: reported.append((peer, error)),
        )
        async with server:
            idle = [await asyncio.open_connection(HOST, server.port) for _ in range(2)]
            await until(lambda: server.n_connections == 2)
            reader, writer = await asyncio.open_connection(HOST, server.port)
            assert await reader.read() == b""
            assert server.refused == 1
            [(peer, error)] = reported
            assert isinstance(error, ConnectionRefusedError)
            assert (peer, error.filename) == (None, writer.get_extra_info("sockname"))
            for _, each in [*idle, (reader, writer)]:
                each.close()
            await until(lambda: server.n_connections == 0)

    run(main())


def test_a_server_lets_handlers_finish_what_they_received() -> None:
    done: list[int] = []

    async def slow(peer: aio.Peer) -> None:
        async for frame in peer:
            await asyncio.sleep(0.02)
            assert isinstance(frame.message, lj.Json)
            await peer.send(lj.Ack(frame.message.sequence))
            done.append(frame.message.sequence)

    async def main() -> None:
        server = await aio.serve(slow, HOST, 0)
        async with aio.connect(HOST, server.port) as peer:
            for event in events(20):
                await peer.send(event)
            await until(lambda: len(done) >= 2)
            await server.close()
            acks = [frame.message async for frame in peer]
            assert acks == [lj.Ack(number) for number in range(1, 21)]
        with pytest.raises(OSError):
            async with aio.connect(HOST, server.port):
                pass

    run(main())
    assert done == list(range(1, 21))


def test_a_server_cuts_handlers_that_do_not_end() -> None:
    was_cancelled: list[bool] = []

    async def stuck(peer: aio.Peer) -> None:
        try:
            await asyncio.sleep(60)
        except asyncio.CancelledError:
            was_cancelled.append(True)
            raise

    async def main() -> None:
        server = await aio.serve(stuck, HOST, 0)
        async with aio.connect(HOST, server.port) as peer:
            await until(lambda: server.n_connections == 1)
            await asyncio.sleep(0.05)
            await server.close(grace=0.1)
            assert await peer.receive() is None

    run(main())
    assert was_cancelled == [True]


def test_a_handler_that_fails_is_reported_to_the_loop_and_closes_its_connection() -> None:
    seen: list[object] = []

    async def broken(peer: aio.Peer) -> None:
        raise KeyError("a bug")

    async def main() -> None:
        asyncio.get_running_loop().set_exception_handler(
            lambda loop, context: seen.append(context["exception"])
        )
        server = await aio.serve(broken, HOST, 0)
        async with server, aio.connect(HOST, server.port) as peer:
            assert await peer.receive() is None
            await until(lambda: bool(seen))

    run(main())
    assert isinstance(seen[0], KeyError)


def test_each_protocol_with_sessions_has_the_module() -> None:
    async def main() -> None:
        names: list[str] = []

        async def handler(peer: rs_aio.Peer) -> None:
            names.extend([type(getattr(frame, "message", frame)).__name__ async for frame in peer])

        server = await rs_aio.serve(handler, HOST, 0)
        async with server, rs_aio.connect(HOST, server.port) as peer:
            hello = rs.ClientHello(0, [])
            await peer.send(hello)
        assert names == ["ClientHello"]

    run(main())


def test_header_fields_may_be_named_like_arguments(tmp_path: Path) -> None:
    """The name of a field does not conflict with the parameters of sending a message."""
    fields = (
        "wait",
        "now",
        "split",
        "compression",
        "from_role",
        "self",
        "context",
        "variant",
        "strict",
        "limits",
    )
    (tmp_path / "idl").mkdir()
    (tmp_path / "idl" / "tide.wire").write_text(
        'protocol tide { source "Tide" endian big roles ship, port }\n'
        f"frame Frame {{ {' '.join(f'{name} : u8' for name in fields)} type : u8 := code(body) body : match type }}\n"
        "message Ask 1 from ship { depth : u16 }\nsession Talk { state open { ship Ask => {} } }\n"
    )
    build = [sys.executable, "-m", "wiregen", "build"]
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "generator")}
    subprocess.run(build, cwd=tmp_path, env=environment, check=True, capture_output=True)
    given = ", ".join(f"{name}_={number}" for number, name in enumerate(fields, 1))
    code = f"from wireproto.tide import aio, Connection, Ask; print(Connection('ship').send(Ask(3), {given}, now=0.0).hex())"
    environment["PYTHONPATH"] = str(tmp_path / "generated" / "python")
    shown = subprocess.run(
        [sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True
    )
    assert shown.stdout == "0102030405060708090a010003\n"


def test_a_connection_that_keeps_going_gives_every_frame_and_counts_what_was_wrong() -> None:
    """On both sides, and the peer's violations are reported to callers of `event`."""
    got: list[int] = []
    counted: list[dict[str, int]] = []
    told: list[str] = []

    async def handler(peer: aio.Peer) -> None:
        async for frame in peer:
            if isinstance(frame.message, lj.Json):
                got.append(frame.message.sequence)
                await peer.send(lj.Ack(999), despite="ack_out_of_window")
        counted.append(dict(peer.tolerated))

    async def main() -> None:
        server = await aio.serve(handler, HOST, 0, keep_going=True, limits=lj.Limits(window=2))
        async with server, aio.connect(HOST, server.port, keep_going=True) as peer:
            await peer.send(lj.Window(3))
            await peer.send(lj.Json(1, b"{}"))
            for _ in range(2):
                event = await peer.event()
                told.append(type(event).__name__)
            assert peer.tolerated == {"ack_out_of_window": 1}
            await peer.send(lj.Json(2, b"{}"))
            frame = await peer.receive()
            assert frame is not None and frame.message == lj.Ack(999)

    run(main())
    assert got == [1, 2] and told == ["Violation", "Received"]
    assert counted == [{"window_too_large": 1}]


def test_a_peer_is_told_what_it_did_wrong_before_the_close() -> None:
    async def handler(peer: rs_aio.Peer) -> None:
        try:
            await peer.receive()
        except rs.SessionError as error:
            told.append(error.frame_offset)
            await peer.send(rs.Goodbye("version 0 only"), despite=error.violation)

    async def main() -> None:
        server = await rs_aio.serve(handler, HOST, 0, strict=True)
        async with server, rs_aio.connect(HOST, server.port) as peer:
            await peer.send(rs.ClientHello(7, []))
            frames = [frame async for frame in peer]
            assert getattr(frames[-1], "message", None) == rs.Goodbye("version 0 only")

    told: list[int | None] = []
    run(main())
    assert told == [0]


@pytest.mark.parametrize(
    ("wrong", "text"),
    [
        ({"backlog": 0}, "the backlog is a number of events from 1 on, not 0"),
        ({"idle_timeout": 0.0}, "the idle timeout is a number of seconds above 0, not 0.0"),
        ({"role": "author"}, "there is no role 'author', only writer and reader"),
    ],
    ids=["backlog", "idle_timeout", "role"],
)
def test_settings_that_nothing_can_work_with_are_refused_at_once(wrong: dict[str, Any], text: str) -> None:
    async def main() -> None:
        with pytest.raises(ValueError, match=text):
            await aio.serve(acknowledge, HOST, 0, **wrong)
        with pytest.raises(ValueError, match=text):
            async with aio.connect(HOST, 9, **wrong):
                pass

    run(main())


def test_a_handler_that_sends_without_end_leaves_others_their_turn() -> None:
    """The network takes megabytes of small messages before it makes anybody wait."""
    sent: list[int] = []
    others: list[int] = []
    ended: list[Exception] = []

    async def flood(peer: aio.Peer) -> None:
        try:
            while True:
                await peer.send(lj.Ack(0))
                sent.append(0)
        except OSError as error:
            ended.append(error)

    async def main() -> None:
        server = await aio.serve(flood, HOST, 0)
        async with server, aio.connect(HOST, server.port) as peer:
            while len(others) < 20:
                await asyncio.sleep(0)
                others.append(len(sent))
            assert await peer.receive() is not None
        assert len(ended) == 1

    run(main())
    assert others[-1] < 20 * 200


def test_a_peer_that_sends_many_frames_of_little_leaves_others_their_turn(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Each envelope is quick. Here no time at all may pass before the others have their turn."""
    for module in (endpoint, network_side):
        monkeypatch.setattr(module, "TURN", 0.0)
    turns: list[int] = []
    got: list[object] = []
    numbers: list[int] = []

    async def handler(peer: aio.Peer) -> None:
        async for frame in peer:
            got.append(frame)
            if isinstance(frame.message, lj.Compressed):
                inner = [each.message for each in frame.message.frames]
                numbers.extend(each.sequence for each in inner if isinstance(each, lj.Json))

    async def tick() -> None:
        while len(got) < 101:
            turns.append(len(got))
            await asyncio.sleep(0)

    async def main() -> None:
        data = b"".join(envelope(20, 2, 1 + 20 * n) for n in range(100))
        async with await aio.serve(handler, HOST, 0) as server:
            writer = await send_raw(server.port, lj.encode(lj.Window(2_000)) + data)
            await asyncio.gather(tick(), until(lambda: len(got) == 101))
            writer.close()

    run(main())
    assert numbers == list(range(1, 2_001))
    assert max(after - before for before, after in pairwise(turns)) <= 2


# ---- frames that may take long ----


class Watch:
    """Wraps `Connection.receive` and `_send`: records the thread of each call, and whether two of them ever overlap.

    Attributes:
        calls: (whether a thread of its own ran it, the number of events) of each `receive`.
        gate: The event for which a call in a thread of its own waits.
        n_inside: The number of calls of connections that run now in threads of their own.
        overlaps: Calls that were made of a connection while a thread was inside it.
    """

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.calls: list[tuple[bool, int]] = []
        self.gate = threading.Event()
        self.gate.set()
        self.n_inside = 0
        self.overlaps: list[str] = []
        self.inside: set[int] = set()
        self._loop_thread = threading.get_ident()
        for name in ("receive", "_send", "tick", "next_timeout", "eof"):
            monkeypatch.setattr(Connection, name, self._watched(name, getattr(Connection, name)))

    def _watched(self, name: str, call: Callable[..., Any]) -> Callable[..., Any]:
        def watched(connection: Any, *given: Any, **more: Any) -> Any:
            if threading.get_ident() == self._loop_thread:
                if id(connection) in self.inside:
                    self.overlaps.append(name)
                result = call(connection, *given, **more)
                if name == "receive":
                    self.calls.append((False, len(result)))
                return result
            if name not in ("receive", "eof") or id(connection) in self.inside:  # what eof itself calls
                return call(connection, *given, **more)
            self.inside.add(id(connection))
            self.n_inside += 1
            try:
                assert self.gate.wait(50)
                result = call(connection, *given, **more)
            finally:
                self.n_inside -= 1
                self.inside.discard(id(connection))
            self.calls.append((True, len(result)))
            return result

        return watched


@pytest.fixture
def watch(monkeypatch: pytest.MonkeyPatch) -> Watch:
    return Watch(monkeypatch)


def envelope(n: int, size: int, begin: int = 1) -> bytes:
    """Return a compressed frame of n events of so many bytes."""
    inner = [lj.Frame(lj.Json(number, b"x" * size)) for number in range(begin, begin + n)]
    return lj.encode(lj.Compressed(inner), compression=1)


async def send_raw(port: int, data: bytes) -> asyncio.StreamWriter:
    _, writer = await asyncio.open_connection(HOST, port)
    writer.write(data)
    return writer


def test_the_loop_goes_on_while_a_frame_is_inflated_to_its_limit(watch: Watch) -> None:
    """64 MiB: the heartbeat of the loop is counted while the thread is at work."""
    data = lj.encode(lj.Window(2048)) + envelope(2048, 32_700)
    got: list[int] = []
    beats: list[int] = []

    async def handler(peer: aio.Peer) -> None:
        async for frame in peer:
            if isinstance(frame.message, lj.Compressed):
                got.append(sum(len(each.encode()) - 10 for each in frame.message.frames))

    async def beat() -> None:
        while True:
            await asyncio.sleep(0.001)
            beats.append(watch.n_inside)

    async def main() -> None:
        async with await aio.serve(handler, HOST, 0) as server:
            beating = asyncio.create_task(beat())
            writer = await send_raw(server.port, data)
            await until(lambda: bool(got))
            beating.cancel()
            writer.close()

    run(main())
    assert got == [2048 * 32_700]
    assert sum(beats) >= 5
    assert [n for is_in_thread, n in watch.calls if is_in_thread and n] == [1]


def test_large_and_small_frames_keep_their_order_and_only_large_ones_leave_the_loop(watch: Watch) -> None:
    got: list[tuple[str, int]] = []
    sent: list[tuple[str, int]] = []
    parts = [lj.encode(lj.Window(9_000))]
    for number in range(1, 300, 30):
        for small in range(number, number + 10):
            parts.append(lj.encode(lj.Json(small, b"{}")))
            sent.append(("Json", small))
        parts += [envelope(10, 8_000, number + 10), lj.encode(lj.Json(number + 20, b"y" * 300_000))]
        sent += [("Compressed", number + 19), ("Json", number + 20)]

    async def handler(peer: aio.Peer) -> None:
        async for frame in peer:
            match frame.message:
                case lj.Json(sequence=sequence):
                    got.append(("Json", sequence))
                case lj.Compressed(frames=[*_, lj.Frame(message=lj.Json(sequence=sequence))]):
                    got.append(("Compressed", sequence))
                case _:
                    pass

    async def main() -> None:
        async with await aio.serve(
            handler, HOST, 0, limits=lj.Limits(window=10_000), keep_going=True
        ) as server:
            writer = await send_raw(server.port, b"".join(parts))
            await until(lambda: len(got) == len(sent))
            writer.close()

    run(main())
    assert got == sent
    assert sum(is_in_thread for is_in_thread, _ in watch.calls) >= 5
    assert sum(n for is_in_thread, n in watch.calls if not is_in_thread) > 0
    assert watch.overlaps == []


def test_small_frames_are_decoded_on_the_loop(watch: Watch) -> None:
    """As many as one read gives, and compressed ones of little."""
    got: list[object] = []
    data = lj.encode(lj.Window(9_000)) + b"".join(lj.encode(lj.Json(n, b"x" * 50)) for n in range(1, 5_001))

    async def handler(peer: aio.Peer) -> None:
        async for frame in peer:
            got.append(frame)

    async def main() -> None:
        async with await aio.serve(handler, HOST, 0, keep_going=True) as server:
            writer = await send_raw(server.port, data + envelope(20, 100, 5_001))
            await until(lambda: len(got) == 5_002)
            writer.close()

    run(main())
    assert not any(is_in_thread for is_in_thread, _ in watch.calls)


def faulty(kind: str) -> bytes:
    first = lj.encode(lj.Window(5)) + lj.encode(lj.Json(1, b"{}"))
    match kind:
        case "stream":
            whole = envelope(4, 90_000, 2)
            return first + whole[:-4] + b"\0\0\0\0"
        case "inside":
            inner = b"".join(lj.encode(lj.Json(n, b"x" * 90_000)) for n in range(2, 5)) + b"2Q\0\0\0\0"
            body = zlib.compress(inner)
            return first + b"2C" + len(body).to_bytes(4, "big") + body
        case "violation":
            return lj.encode(lj.Window(5)) + envelope(3, 90_000, 2) + lj.encode(lj.Ack(1)) + b"more"
        case "cut":
            return first + b"2J" + bytes([0, 0, 0, 2]) + (90_000).to_bytes(4, "big") + b"x" * 80_000
        case _:
            return (
                first + b"2J" + bytes([0, 0, 0, 2]) + (300_000).to_bytes(4, "big") + b"x" * 300_000 + b"GET /"
            )


@pytest.mark.parametrize("keeps_going", [False, True])
@pytest.mark.parametrize("kind", ["stream", "inside", "violation", "cut", "behind"])
def test_errors_of_a_thread_are_those_of_the_connection(watch: Watch, kind: str, keeps_going: bool) -> None:
    """The same events, offsets included, as where all is decoded at once; and the error ends the connection as it would."""
    data = faulty(kind)
    got: list[tuple[object, ...]] = []
    ended: list[Exception] = []

    def shown(event: Any) -> tuple[object, ...]:
        error = getattr(event, "error", None)
        place = None if error is None else (str(error), error.at, error.frame_offset, error.end)
        return type(event).__name__, getattr(event, "name", None), getattr(event, "offset", None), place

    async def handler(peer: aio.Peer) -> None:
        while (event := await peer.event()) is not None:
            got.append(shown(event))

    async def main() -> None:
        server = await aio.serve(
            handler, HOST, 0, keep_going=keeps_going, report=lambda peer, error: ended.append(error)
        )
        async with server:
            writer = await send_raw(server.port, data)
            writer.write_eof()
            await until(lambda: server.n_connections == 1 or bool(got))
            await until(lambda: server.n_connections == 0)
            writer.close()

    run(main())
    alone = lj.Connection("reader", keep_going=keeps_going)
    expected = alone.receive(data) + alone.eof()
    assert got == [shown(event) for event in expected if not isinstance(event, lj.Ended)]
    assert any(is_in_thread for is_in_thread, _ in watch.calls)
    assert watch.overlaps == []


def test_what_is_sent_while_a_thread_decodes_goes_out_after_it(watch: Watch) -> None:
    acks: list[object] = []

    async def main() -> None:
        first_seen = asyncio.Event()

        async def handler(peer: aio.Peer) -> None:
            async def answer() -> None:
                await until(lambda: watch.n_inside == 1)
                asyncio.get_running_loop().call_later(0.05, watch.gate.set)
                await peer.send(lj.Ack(1))
                acks.append(peer.connection.transfer.outstanding)

            watch.gate.clear()
            answering = asyncio.create_task(answer())
            async for frame in peer:
                if isinstance(frame.message, lj.Compressed):
                    first_seen.set()
            await answering

        async with await aio.serve(handler, HOST, 0) as server:
            reader, writer = await asyncio.open_connection(HOST, server.port)
            writer.write(lj.encode(lj.Window(4)) + lj.encode(lj.Json(1, b"{}")) + envelope(3, 90_000, 2))
            assert await reader.readexactly(6) == lj.encode(lj.Ack(1))
            await first_seen.wait()
            writer.close()

    run(main())
    assert watch.overlaps == [] and len(acks) == 1


def test_a_receive_that_is_given_up_loses_no_frame_that_a_thread_decodes(watch: Watch) -> None:
    got: list[object] = []

    async def handler(peer: aio.Peer) -> None:
        watch.gate.clear()
        with suppress(TimeoutError):
            async with asyncio.timeout(0.1):
                got.append(await peer.receive())
        assert got == []
        watch.gate.set()
        got.extend([frame.message async for frame in peer])

    async def main() -> None:
        async with await aio.serve(handler, HOST, 0, idle_timeout=30) as server:
            writer = await send_raw(
                server.port, lj.encode(lj.Json(1, b"x" * 300_000)) + lj.encode(lj.Json(2, b"{}"))
            )
            writer.close()
            await until(lambda: len(got) == 2)

    run(main())
    assert got == [lj.Json(1, b"x" * 300_000), lj.Json(2, b"{}")]
    assert watch.overlaps == []


@pytest.mark.parametrize("is_cut", [False, True], ids=["finished", "cut"])
def test_a_server_closes_while_a_thread_decodes(watch: Watch, is_cut: bool) -> None:
    """Within the grace the frame is given to its handler; after it the handler is cancelled, and nothing is left at work."""
    got: list[int] = []
    peers: list[aio.Peer] = []
    seen: list[object] = []

    async def handler(peer: aio.Peer) -> None:
        peers.append(peer)
        async for frame in peer:
            assert isinstance(frame.message, lj.Json)
            got.append(frame.message.sequence)

    async def main() -> None:
        loop = asyncio.get_running_loop()
        loop.set_exception_handler(lambda _, context: seen.append(context))
        watch.gate.clear()
        server = await aio.serve(handler, HOST, 0)
        writer = await send_raw(server.port, lj.encode(lj.Json(1, b"x" * 300_000)))
        await until(lambda: watch.n_inside == 1)
        loop.call_later(0.5 if is_cut else 0.1, watch.gate.set)
        await server.close(grace=0.1 if is_cut else 30)
        assert server.n_connections == 0 and peers[0]._long is None
        writer.close()

    run(main())
    assert got == ([] if is_cut else [1])
    assert watch.n_inside == 0 and watch.overlaps == [] and seen == []


def test_a_bug_of_the_decoder_in_a_thread_ends_one_connection(monkeypatch: pytest.MonkeyPatch) -> None:
    receive = Connection.receive
    seen: list[object] = []
    ended: list[Exception] = []

    def broken(self: Connection, *given: Any, is_brief: bool = False, **more: Any) -> Any:
        if not is_brief:
            raise KeyError("a bug")
        return receive(self, *given, is_brief=is_brief, **more)

    async def main() -> None:
        monkeypatch.setattr(Connection, "receive", broken)
        asyncio.get_running_loop().set_exception_handler(
            lambda _, context: seen.append(type(context["exception"]))
        )
        server = await aio.serve(acknowledge, HOST, 0, report=lambda peer, error: ended.append(error))
        async with server:
            writer = await send_raw(server.port, lj.encode(lj.Json(1, b"x" * 300_000)))
            await until(lambda: bool(ended))
            writer.close()

    run(main())
    assert seen == [KeyError]
    assert isinstance(ended[0], ConnectionAbortedError)


@pytest.mark.parametrize(
    "behaves",
    [
        test_frames_go_both_ways,
        test_a_sender_waits_for_the_credit_that_the_other_side_gives,
        test_the_last_answer_arrives_although_more_was_sent,
        test_a_violation_comes_behind_the_frames_before_it_and_ends_one_connection,
        test_a_server_lets_handlers_finish_what_they_received,
        test_a_connection_that_keeps_going_gives_every_frame_and_counts_what_was_wrong,
        test_a_peer_is_told_what_it_did_wrong_before_the_close,
    ],
)
def test_all_is_the_same_where_every_frame_is_decoded_in_a_thread(
    behaves: Callable[[], None], watch: Watch, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(decoder, "BRIEF_BYTES", 0)
    monkeypatch.setattr(decoder, "BRIEF_REFERENCE", 0)
    behaves()
    assert watch.overlaps == []
    assert not any(n and not is_in_thread for is_in_thread, n in watch.calls)
