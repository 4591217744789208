"""The probe against a segment store of Pravega's own, in memory, where Maven has it."""

from __future__ import annotations

import asyncio
import shutil
import subprocess
from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest
from pravega_probe.failures import Exit
from tests.interop.fake_store import HOST
from tests.interop.receiver import environment
from tests.interop.test_pravega_probe import command, probe

from wireproto import pravega
from wireproto.pravega import aio

HERE = Path(__file__).parent / "segment_store"
WRITER = UUID(int=7)
LATE = 20
"""Seconds after which the probe gives up: however busy the machine is, a reply takes less."""
FETCH = "mvn -f tests/interop/segment_store dependency:build-classpath"


@pytest.fixture(scope="module")
def port(tmp_path_factory: pytest.TempPathFactory) -> Iterator[int]:
    """Start the store, without downloads."""
    if shutil.which("mvn") is None or shutil.which("java") is None:
        pytest.skip("there is no Java, or no Maven")
    folder = tmp_path_factory.mktemp("store")
    paths = folder / "classpath"
    found = subprocess.run(
        [
            "mvn",
            "-B",
            "-o",
            "-q",
            "-f",
            str(HERE),
            "dependency:build-classpath",
            f"-Dmdep.outputFile={paths}",
        ],
        capture_output=True,
        check=False,
    )
    if found.returncode:
        pytest.skip(f"Maven does not have the store yet: {FETCH}")
    process = subprocess.Popen(
        ["java", "-cp", paths.read_text(encoding="utf-8"), str(HERE / "SegmentStore.java")],
        cwd=folder,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    with process:
        assert process.stdin is not None and process.stdout is not None
        word, _, number = process.stdout.readline().rpartition(" ")
        assert word == "listening on"
        yield int(number)
        process.stdin.close()


async def ask(peer: aio.Peer, request: Any) -> Any:
    await peer.send(request)
    frame = await peer.receive()
    assert frame is not None
    return frame.message


def with_store(port: int, talk: Callable[[aio.Peer], Awaitable[None]]) -> None:
    async def main() -> None:
        async with asyncio.timeout(60), aio.connect(HOST, port) as peer:
            assert (await ask(peer, pravega.Hello())) == pravega.Hello(16, 5)
            await talk(peer)

    asyncio.run(main())


async def create(peer: aio.Peer, name: str) -> None:
    request = pravega.CreateSegment(1, name, 0, pravega.ScaleType.NO_SCALING, "")
    assert await ask(peer, request) == pravega.SegmentCreated(1, name)
    assert isinstance(await ask(peer, pravega.SetupAppend(2, WRITER, name, "")), pravega.AppendSetup)


async def append(peer: aio.Peer, number: int, event: bytes) -> None:
    data = pravega.encode(pravega.Event(event))
    request = pravega.AppendBlockEnd(WRITER, len(data), data, 1, number, 2)
    assert (await ask(peer, request)).event_number == number


def events(*contents: bytes) -> bytes:
    return b"".join(pravega.encode(pravega.Event(content)) for content in contents)


def test_hello(port: int) -> None:
    done = probe(port)
    assert (done.returncode, done.stdout) == (0, b"wire versions 5 to 16\n")


def test_what_was_appended_is_read(port: int) -> None:
    name, large = "scope/read/0.#epoch.0", bytes(range(256)) * 3000

    async def talk(peer: aio.Peer) -> None:
        await create(peer, name)
        for number, content in enumerate((b"one", b"two", large, large), 1):
            await append(peer, number, content)

    with_store(port, talk)
    data = events(b"one", b"two", large, large)
    for arguments, expected in (
        ([], data),
        (["--offset", "11"], data[11:]),
        (["--offset", "4", "--length", "3"], data[4:7]),
        (["--offset", str(len(data))], b""),
    ):
        done = probe(port, name, *arguments)
        assert (done.returncode, done.stdout == expected, done.stderr) == (0, True, b"")
    done = probe(port, name, "--offset", str(len(data) + 1))
    assert done.returncode == Exit.OFFSET


def test_it_follows_while_somebody_writes_and_seals(port: int) -> None:
    name = "scope/follow/0.#epoch.0"

    async def talk(peer: aio.Peer) -> None:
        await create(peer, name)
        await append(peer, 1, b"before")
        process = await asyncio.create_subprocess_exec(
            *command(port, name, "--follow", "--timeout", str(LATE)),
            env=environment(),
            stdout=subprocess.PIPE,
        )
        assert process.stdout is not None
        assert await process.stdout.readexactly(14) == events(b"before")
        await asyncio.sleep(2 * LATE)  # in which only keepalives are said
        await append(peer, 2, b"after")
        assert await process.stdout.readexactly(13) == events(b"after")
        assert isinstance(await ask(peer, pravega.SealSegment(3, name, "")), pravega.SegmentSealed)
        assert (await process.stdout.read(), await process.wait()) == (b"", 0)

    with_store(port, talk)
    assert probe(port, name, "--follow").stdout == events(b"before", b"after")


def test_what_the_store_refuses(port: int) -> None:
    name = "scope/refuse/0.#epoch.0"

    async def talk(peer: aio.Peer) -> None:
        await create(peer, name)
        await append(peer, 1, b"dropped")
        await append(peer, 2, b"kept")
        truncate = pravega.TruncateSegment(3, name, 15, "")
        assert await ask(peer, truncate) == pravega.SegmentTruncated(3, name)

    with_store(port, talk)
    assert probe(port, name).stdout == events(b"kept")
    for arguments, code, words in (
        ([name, "--offset", "0"], Exit.OFFSET, "begins at 15"),
        (["scope/none/0.#epoch.0"], Exit.NO_SUCH_SEGMENT, "no such segment"),
        ([name, "--token", "bad-secret"], Exit.TOKEN, "does not allow"),
        ([name, "--token", "expired-secret"], Exit.TOKEN, "has expired"),
    ):
        done = probe(port, *arguments)
        assert (done.returncode, done.stdout) == (code, b"")
        assert words in done.stderr.decode() and b"secret" not in done.stderr


def test_a_refused_token_has_the_offset_for_an_id(port: int) -> None:
    name = "scope/token/0.#epoch.0"

    async def talk(peer: aio.Peer) -> None:
        await create(peer, name)
        refused = await ask(peer, pravega.ReadSegment(name, 5, 1, "bad-secret", 99))
        assert isinstance(refused, pravega.AuthTokenCheckFailed)
        assert (refused.request_id, refused.error_code) == (5, pravega.AuthError.CHECK_FAILED)

    with_store(port, talk)


def test_versions_without_any_in_common(port: int) -> None:
    async def main() -> None:
        async with aio.connect(HOST, port) as peer:
            await peer.send(pravega.Hello(30, 20))
            with pytest.raises(pravega.SessionError) as caught:
                await peer.receive()
        assert caught.value.violation == "incompatible_version"
        assert caught.value.frame == pravega.Frame(pravega.Hello(16, 5))

    asyncio.run(main())
