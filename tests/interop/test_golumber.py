"""go-lumber's server and client held to the traces of Lumberjack by `vectors run`, over TCP and TLS."""

from __future__ import annotations

import json
import os
import shutil
import socket
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from tests.interop.certificates import make_certificates
from tests.interop.receiver import HOST, ROOT
from tests.unit.tools.test_cli_decode import LUMBERJACK, run

from wiregen.conformance.judge.expected_failures import expected_failures

IS_SOAK = os.environ.get("HYPOTHESIS_PROFILE") == "soak"
FOLDER = ROOT / "examples" / "golumber_peer"
KNOWN = FOLDER / "expected-failures-server.txt"
AT_ONCE = ("--at-once", "64")
"""They mostly wait: for what a peer does not say, and for a connection that it does not close."""
SERVER = (
    *AT_ONCE,
    "--strict",
    "--without",
    "Data",
    "--option",
    "ack_value=COUNT",
    "--option",
    "window_use=BATCH",
)
CLIENT = (*AT_ONCE, "--strict", "--option", "ack_value=COUNT")
GO = {name: value for name, value in os.environ.items() if name != "XDG_CACHE_HOME"}
"""The tests have a cache of their own; Go's, with the compiled standard library, is the user's."""
ACKED_BEFORE = "trace-transfer-waiting-reader-ack-4"


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Build the peer; skip without Go, or if its modules are not available."""
    if shutil.which("go") is None:
        pytest.skip("Go is not installed")
    fetched = subprocess.run(
        ["go", "mod", "download"],
        cwd=FOLDER,
        check=False,
        capture_output=True,
        text=True,
        timeout=300,
        env=GO,
    )
    if fetched.returncode:
        pytest.skip(f"go-lumber is not to be had: {fetched.stderr.strip().splitlines()[-1][:200]}")
    path = tmp_path_factory.mktemp("golumber") / "golumber_peer"
    command = ["go", "build", "-mod=readonly", "-o", str(path), "."]
    subprocess.run(command, cwd=FOLDER, check=True, timeout=500, env=GO)
    return path


@contextmanager
def peer(program: Path, *arguments: str) -> Iterator[subprocess.Popen[str]]:
    """Run the peer; it ends with its stdin."""
    with subprocess.Popen(
        [str(program), *arguments], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        try:
            yield process
        finally:
            assert process.stdin is not None
            process.stdin.close()
            try:
                process.wait(60)
            finally:
                process.kill()


@contextmanager
def server(program: Path, *arguments: str) -> Iterator[str]:
    """Run go-lumber's server; yield its address."""
    with peer(program, "server", *arguments) as process:
        assert process.stdout is not None
        yield process.stdout.readline().strip()


def traces() -> list[str]:
    file = json.loads((ROOT / "generated" / "vectors" / "lumberjack.json").read_text())
    return [vector["id"] for vector in file["vectors"] if vector["kind"] == "trace"]


def only(*ids: str) -> list[str]:
    return [each for id_ in ids for each in ("--only", id_)]


def test_the_server_holds_all_traces_but_those_that_are_known(program: Path) -> None:
    others = [id_ for id_ in traces() if id_ not in expected_failures(KNOWN.read_text())][
        :: 1 if IS_SOAK else 4
    ]
    with server(program) as address:
        result = run(
            "vectors", "run", LUMBERJACK, "--connect", address, *SERVER, "--timeout", "60", *only(*others)
        )
    assert result.exit_code == 0, result.stdout
    assert "0 failed" in result.stdout and "0 passed" not in result.stdout


def test_the_known_failures_of_the_server_are_real(program: Path) -> None:
    known = expected_failures(KNOWN.read_text())
    idle = [id_ for id_ in known if "-idle-" in id_]
    with server(program) as address:
        result = run(
            *("vectors", "run", LUMBERJACK, "--connect", address, *SERVER, "--expected-failures", str(KNOWN)),
            *("--timeout", "1", "--quiet", "10", *only(*idle)),
        )
    assert result.exit_code == 0, result.stdout
    assert f"0 failed, {len(idle)} failed as expected" in result.stdout
    assert set(known) <= set(traces())


def test_the_server_over_tls(program: Path, tmp_path: Path) -> None:
    made = make_certificates(tmp_path)
    chosen = only("trace-transfer-idle-writer-data-2", "trace-transfer-idle-writer-data-window-overrun-2")
    with server(program, "-cert", made.server, "-key", made.server_key) as address:
        result = run(
            *("vectors", "run", LUMBERJACK, "--connect", address, *SERVER, "--timeout", "60"),
            *("--tls", "--ca", made.ca, *chosen),
        )
    assert result.stdout.endswith("2 vectors, 2 passed, 0 failed\n")


@pytest.mark.parametrize("is_secure", [False, True], ids=["plain", "tls"])
def test_the_client_holds_all_traces(program: Path, tmp_path: Path, is_secure: bool) -> None:
    with socket.create_server((HOST, 0)) as listener:
        port = listener.getsockname()[1]
    theirs, ours, host = [], [], HOST
    chosen = only("trace-transfer-waiting-reader-ack", "trace-transfer-waiting-reader-ack-ack-out-of-window")
    if is_secure:
        made, host = make_certificates(tmp_path), "localhost"
        theirs = ["-ca", made.ca]
        ours = ["--tls", "--cert", made.server, "--key", made.server_key, *chosen]
    with peer(program, "client", "-connect", f"{host}:{port}", "-timeout", "60s", *theirs):
        result = run(
            "vectors", "run", LUMBERJACK, "--listen", f"{host}:{port}", *CLIENT, "--timeout", "60", *ours
        )
    assert result.exit_code == 0, result.stdout
    assert "0 failed" in result.stdout and "0 passed" not in result.stdout


def test_the_client_refuses_what_was_acknowledged_before(program: Path) -> None:
    """The protocol lets a reader say an old number again; go-lumber's client takes any number above its count for a fault."""
    with socket.create_server((HOST, 0)) as listener:
        port = listener.getsockname()[1]
    with peer(program, "client", "-connect", f"{HOST}:{port}", "-timeout", "60s"):
        result = run(
            *("vectors", "run", str(LUMBERJACK), "--listen", f"{HOST}:{port}", "--quiet", "3"),
            *only(ACKED_BEFORE),
        )
    assert result.exit_code == 1
    assert "expected it accepted, found a closed connection" in result.stdout
