"""The writer of `examples/` on real sockets: every event at least once, in order within a connection, none lost."""

from __future__ import annotations

import asyncio
import json
import random
import re
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from lumberjack_writer.closing import Size, limit_closed_on
from lumberjack_writer.writer import Settings, Writer
from tests.interop.certificates import make_certificates
from tests.interop.plain_receiver import Manners, PlainReceiver, receiving
from tests.interop.receiver import HOST, CuttingProxy, environment, running, stored_numbers

from wireproto import lumberjack as lj
from wireproto.lumberjack import aio

EVENTS, WINDOW = 1_000, 100
LAST = 2**32 - 250
"""Numbers that begin here roll over in the third window."""


def documents(n_events: int = EVENTS) -> Iterator[bytes]:
    return (b'{"number": %d}' % number for number in range(n_events))


def numbers(came: list[tuple[int, bytes]]) -> list[int]:
    return [json.loads(document)["number"] for _, document in came]


def delivered(manners: Manners, *, n_events: int = EVENTS, **settings: Any) -> tuple[PlainReceiver, Writer]:
    """Return the events that a receiver of such manners got, and the writer after it."""

    async def main() -> tuple[PlainReceiver, Writer]:
        async with asyncio.timeout(60), receiving(manners) as receiver:
            given = {"window": WINDOW, "pause": 0.0} | settings
            writer = Writer(Settings(host=HOST, port=receiver.port, **given))
            await writer.deliver(documents(n_events))
            return receiver, writer

    return asyncio.run(main())


def check(receiver: PlainReceiver, writer: Writer, n_events: int = EVENTS) -> None:
    """Each connection has a run of events without a gap, which begins at the latest after the acknowledged ones."""
    n_safe = 0
    for came, n_acknowledged in zip(receiver.came, receiver.acknowledged, strict=True):
        run = numbers(came)
        if run:
            assert run == list(range(run[0], run[0] + len(run)))
            assert run[0] <= n_safe
            n_safe = max(n_safe, run[0] + n_acknowledged)
    assert n_safe == writer.n_acknowledged == n_events
    assert len(receiver.came) == writer.n_connections


NUMBERINGS = [
    pytest.param({}, id="each window from 1"),
    pytest.param({"first": 1}, id="on and on"),
    pytest.param({"first": LAST}, id="rolling over"),
]
SHAPES = [pytest.param({"compression": 3}, id="compressed"), pytest.param({"compression": 0}, id="plain")]


@pytest.mark.parametrize("numbering", NUMBERINGS)
@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize(
    "manners",
    [
        pytest.param(Manners(), id="one ack a window"),
        pytest.param(Manners(ack_every=7), id="acks of parts"),
        pytest.param(Manners(ack_every=1), id="an ack an event"),
        pytest.param(Manners(keepalives=3), id="keepalives"),
        pytest.param(Manners(ack_every=30, keepalives=2, repeats=2), id="acks said again"),
        pytest.param(Manners(drip=11, ack_every=13), id="slow"),
    ],
)
def test_without_cuts_every_event_comes_once(
    manners: Manners, numbering: dict[str, Any], shape: dict[str, Any]
) -> None:
    receiver, writer = delivered(manners, **numbering, **shape)
    [came] = receiver.came
    assert numbers(came) == list(range(EVENTS))
    check(receiver, writer)
    sequences = [sequence for sequence, _ in came]
    if "first" in numbering:
        assert sequences == [(numbering["first"] + place) % 2**32 for place in range(EVENTS)]
    else:
        assert sequences == list(range(1, WINDOW + 1)) * (EVENTS // WINDOW)


@pytest.mark.parametrize("numbering", NUMBERINGS)
@pytest.mark.parametrize("shape", SHAPES)
def test_what_an_orderly_end_leaves_unacknowledged_is_sent_again_and_nothing_else(
    numbering: dict[str, Any], shape: dict[str, Any]
) -> None:
    ends = (1, 99, 100, 101, 250, 7)
    receiver, writer = delivered(Manners(end_after=ends), **numbering, **shape)
    check(receiver, writer)
    came = [number for each in receiver.came for number in numbers(each)]
    assert came == list(range(EVENTS)), "each end was announced by the ack of the last event"
    assert [len(each) for each in receiver.came] == [*ends, EVENTS - sum(ends)]


@pytest.mark.parametrize("seed", range(12))
def test_nothing_is_lost_whatever_a_receiver_does(seed: int) -> None:
    """Connections are reset after any number of bytes: within a number, before a window, after an ack."""
    chance = random.Random(seed)
    manners = Manners(
        ack_every=chance.choice([0, 1, 9, 40]),
        keepalives=chance.randrange(3),
        repeats=chance.randrange(3),
        drip=chance.choice([0, 0, 17]),
        cut_after=tuple(chance.choice([1, 2, 5, 6, 7, chance.randrange(5_000)]) or 1 for _ in range(8)),
    )
    settings = {
        "first": chance.choice([None, 1, LAST]),
        "compression": chance.choice([0, 0, 3]),
        "max_in_flight": chance.randrange(1, 5),
        "window": chance.choice([1, 10, 64]),
    }
    receiver, writer = delivered(manners, n_events=400, **settings)
    assert writer.n_connections > 5
    check(receiver, writer, 400)


def test_a_receiver_that_only_keeps_alive_is_given_up_only_when_it_is_silent() -> None:
    """A keepalive begins the time to wait anew; without one it runs out, and the last try says so."""

    async def main() -> None:
        is_silent = False

        async def handle(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            await reader.readexactly(6)
            for _ in range(0 if is_silent else 6):
                await asyncio.sleep(0.5)
                writer.write(b"2A" + bytes(4))
            if not is_silent:
                writer.write(b"2A" + (1).to_bytes(4, "big"))
            await reader.read()
            writer.close()

        async with asyncio.timeout(60), await asyncio.start_server(handle, HOST, 0) as server:
            port = server.sockets[0].getsockname()[1]
            writer = Writer(Settings(host=HOST, port=port, ack_wait=2.0, pause=0.0, tries=2))
            await writer.deliver([b"{}"])
            assert (writer.n_connections, writer.n_acknowledged) == (1, 1)
            is_silent = True
            with pytest.raises(lj.SessionError, match="ack_timeout"):
                await writer.deliver([b"{}"])
            assert (writer.n_connections, writer.n_acknowledged) == (3, 1)

    asyncio.run(main())


def test_an_ack_of_what_was_not_sent_costs_the_connection() -> None:
    async def main() -> None:
        n_connections = 0

        async def handle(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            nonlocal n_connections
            n_connections += 1
            await reader.readexactly(12)
            writer.write(b"2A" + (7 if n_connections == 1 else 3).to_bytes(4, "big"))
            await reader.read()
            writer.close()

        async with asyncio.timeout(60), await asyncio.start_server(handle, HOST, 0) as server:
            port = server.sockets[0].getsockname()[1]
            writer = Writer(Settings(host=HOST, port=port, pause=0.0))
            await writer.deliver([b"{}", b"{}", b"{}"])
            assert (writer.n_connections, writer.n_acknowledged) == (2, 3)

    asyncio.run(main())


def test_nobody_listens() -> None:
    async def main() -> None:
        writer = Writer(Settings(host=HOST, port=1, pause=0.0, tries=3))
        with pytest.raises(ConnectionRefusedError):
            await writer.deliver([b"{}"])
        assert writer.n_connections == 3

    asyncio.run(main())


# ---- which limit a receiver closed on ----

SMALL = Size(window=100, frame=1_000, inflated=50_000)


@pytest.mark.parametrize(
    ("refused", "taken", "told"),
    [
        pytest.param(
            Size(window=10_001, frame=20, inflated=200_020),
            SMALL,
            "the window is above the protocol's limit `window` (10001 of 10000): send smaller windows (--window)",
            id="above a limit of the protocol",
        ),
        pytest.param(
            Size(window=100, frame=900, inflated=60_000),
            SMALL,
            "its limit may be 60000 bytes inflated (at most 50000 were acknowledged): send smaller windows (--window)",
            id="above what was taken",
        ),
        pytest.param(SMALL, SMALL, None, id="as large as what was taken"),
        pytest.param(SMALL, Size(), None, id="the first"),
    ],
)
def test_a_limit_is_named_by_what_was_sent_and_taken(refused: Size, taken: Size, told: str | None) -> None:
    assert limit_closed_on(refused, taken) == told


def test_the_command_says_which_limit_the_receiver_closed_on(tmp_path: Path) -> None:
    """The first window is taken; the second one inflates to more than the receiver allows."""
    documents_ = [b"{}"] * 50 + [b'"' + b"x" * 100 + b'"'] * 50
    with running(tmp_path, "--insecure", "--max-inflated", "2KiB", log=tmp_path / "stderr") as receiver:
        command = [
            *(sys.executable, "-m", "lumberjack_writer", HOST, str(receiver.port), "--insecure"),
            *("--window", "50", "--max-in-flight", "1", "--tries", "2", "--pause", "0"),
        ]
        done = subprocess.run(
            command,
            input=b"\n".join(documents_),
            env=environment(),
            check=False,
            timeout=60,
            capture_output=True,
        )
    assert done.returncode == 1
    said = (
        "lumberjack_writer: the receiver closed: its limit may be 112 bytes of an event (at most 12 were acknowledged), "
        "5600 bytes inflated (at most 600 were acknowledged): send smaller windows (--window)"
    )
    assert said in done.stderr.decode().splitlines()


@pytest.mark.parametrize("n_acknowledged", [0, 1], ids=["nothing", "a-window"])
def test_a_window_whose_sending_failed_does_not_count_as_taken(
    monkeypatch: pytest.MonkeyPatch, n_acknowledged: int
) -> None:
    """Each connection is reset while a window is sent; the windows differ in size."""
    n_sent = 0
    send = aio.Peer.send

    async def cut(self: aio.Peer, message: Any, **given: Any) -> None:
        nonlocal n_sent
        n_sent += isinstance(message, lj.Window)
        if n_sent > n_acknowledged:
            raise ConnectionResetError("cut")
        await send(self, message, **given)

    async def main() -> Writer:
        async with asyncio.timeout(60), receiving(Manners()) as receiver:
            settings = Settings(
                host=HOST, port=receiver.port, window=1, max_in_flight=1, compression=0, tries=2, pause=0.0
            )
            writer = Writer(settings)
            with pytest.raises(ConnectionResetError):
                await writer.deliver([b"{}", b'{"longer": 1}'])
            return writer

    monkeypatch.setattr(aio.Peer, "send", cut)
    writer = asyncio.run(main())
    told = "its limit may be 23 bytes of an event (at most 12 were acknowledged): send smaller windows (--window)"
    assert writer.n_acknowledged == n_acknowledged
    assert writer.closed_on == (told if n_acknowledged else None)
    assert writer._taken == Size(window=n_acknowledged, frame=12 * n_acknowledged)


def test_the_command_says_plainly_that_no_ack_came() -> None:
    with socket.create_server((HOST, 0)) as listener:
        port = listener.getsockname()[1]
        done = subprocess.run(
            [
                *(sys.executable, "-m", "lumberjack_writer", HOST, str(port), "--insecure"),
                *("--tries", "1", "--ack-wait", "0.2"),
            ],
            input="{}\n",
            env=environment(),
            check=False,
            capture_output=True,
            text=True,
            timeout=60,
        )
    assert done.returncode == 1
    assert done.stderr == (
        "lumberjack_writer: the receiver sent no ack and no keepalive for 0.2 seconds (--ack-wait); "
        "0 events were acknowledged\n"
    )


@pytest.mark.parametrize("ack_value", [lj.AckValue.SEQUENCE, lj.AckValue.COUNT])
def test_the_number_in_an_ack_means_what_the_settings_say(ack_value: lj.AckValue) -> None:
    """go-lumber's server acknowledges the number of events of a window, whatever their sequence numbers."""
    window, first = 4, 1_000

    async def main() -> None:
        async def handle(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            with suppress(asyncio.IncompleteReadError):
                while True:
                    head = await reader.readexactly(6)
                    body = await reader.readexactly((10 + 2) * int.from_bytes(head[2:], "big"))
                    last = int.from_bytes(body[-10:-6], "big")
                    number = window if ack_value is lj.AckValue.COUNT else last
                    writer.write(b"2A" + number.to_bytes(4, "big"))
            writer.close()

        async with asyncio.timeout(60), await asyncio.start_server(handle, HOST, 0) as server:
            settings = Settings(
                host=HOST,
                port=server.sockets[0].getsockname()[1],
                window=window,
                first=first,
                compression=0,
                ack_value=ack_value,
                tries=1,
            )
            writer = Writer(settings)
            await writer.deliver([b"{}"] * 12)
            assert (writer.n_acknowledged, writer.n_connections) == (12, 1)

    asyncio.run(main())


# ---- to the receiver of the examples ----


@pytest.mark.parametrize("numbering", NUMBERINGS)
@pytest.mark.parametrize("shape", SHAPES)
def test_the_receiver_stores_every_event_once(
    tmp_path: Path, numbering: dict[str, Any], shape: dict[str, Any]
) -> None:
    with running(tmp_path) as receiver:
        writer = Writer(Settings(host=HOST, port=receiver.port, window=WINDOW, **numbering, **shape))
        asyncio.run(writer.deliver(documents()))
        assert writer.n_connections == 1
        assert receiver.stop() == 0
    assert stored_numbers(tmp_path) == list(range(EVENTS))


def test_through_cuts_the_receiver_stores_every_event(tmp_path: Path) -> None:
    with running(tmp_path) as receiver:
        proxy = CuttingProxy(receiver.port, {0: 3, 1: 6, 2: 1_500, 3: 4_000, 4: 9_000})
        writer = Writer(
            Settings(host=HOST, port=proxy.port, window=WINDOW, compression=0, first=LAST, pause=0.0)
        )
        asyncio.run(writer.deliver(documents()))
        proxy.close()
        assert proxy.n_cut == 5 and writer.n_connections == 6
        assert receiver.stop() == 0
    stored = stored_numbers(tmp_path)
    assert sorted(set(stored)) == list(range(EVENTS))
    assert list(dict.fromkeys(stored)) == list(range(EVENTS)), "in order, but for what came again"


def test_the_command_sends_lines(tmp_path: Path) -> None:
    with running(tmp_path) as receiver:
        command = [sys.executable, "-m", "lumberjack_writer", HOST, str(receiver.port), "--insecure"]
        subprocess.run(command, input=b"\n".join(documents(50)), env=environment(), check=True, timeout=60)
        assert receiver.stop() == 0
    assert stored_numbers(tmp_path) == list(range(50))


def test_an_interrupted_command_says_how_many_events_were_acknowledged(tmp_path: Path) -> None:
    """Its input stays open. The third event is sent when the first two are acknowledged."""
    with running(tmp_path) as receiver:
        command = [sys.executable, "-m", "lumberjack_writer", HOST, str(receiver.port), "--insecure"]
        with subprocess.Popen(
            [*command, "--window", "2", "--max-in-flight", "1"],
            env=environment(),
            stdin=subprocess.PIPE,
            stderr=subprocess.PIPE,
        ) as writer:
            assert writer.stdin is not None
            writer.stdin.write(b"{}\n" * 4)
            writer.stdin.flush()
            while receiver.metrics()["events_total"] < 4:
                time.sleep(0.05)
            writer.send_signal(signal.SIGINT)
            _, said = writer.communicate(timeout=60)
        assert writer.returncode == 130
        assert receiver.stop(signal.SIGINT) == 0
    assert re.fullmatch(rb"lumberjack_writer: interrupted; [24] events were acknowledged\n", said)


def test_a_writer_that_comes_to_nothing_says_what_to_try(tmp_path: Path) -> None:
    made = make_certificates(tmp_path)
    arguments = ["--cert", made.server, "--key", made.server_key, "--client-ca", made.ca]
    tries = {
        ("--ca", made.ca): "if the receiver demands a certificate of its writers, give --cert and --key",
        (): "give --ca, the PEM file of the authority that has signed the receiver's certificate",
        ("--insecure",): "if the receiver speaks TLS, leave --insecure out",
    }
    with running(tmp_path / "spool", *arguments) as receiver:
        port = str(receiver.port)
        program = [sys.executable, "-m", "lumberjack_writer", "localhost", port, "--tries", "1"]
        for given, way_out in tries.items():
            done = subprocess.run(
                [*program, *given],
                check=False,
                env=environment(),
                input="{}\n",
                capture_output=True,
                text=True,
                timeout=60,
            )
            assert done.returncode == 1
            assert done.stderr.endswith(f"; 0 events were acknowledged\nlumberjack_writer: {way_out}\n")
        known = ["--ca", made.ca, "--cert", made.client, "--key", made.client_key]
        subprocess.run([*program, *known], env=environment(), input="{}\n", text=True, check=True, timeout=60)
