"""Programs of other makers send to the receiver: every event once, or after a cut at least once, in order, none lost."""

from __future__ import annotations

import contextlib
import importlib.util
import subprocess
import sys
from pathlib import Path

import pytest
from tests.interop.certificates import make_certificates
from tests.interop.receiver import HOST, ROOT, CuttingProxy, running, stored_events, stored_numbers
from tests.npm import npm_modules

from wireproto import lumberjack as lj

WINDOWS, EVENTS = 10, 2_000
ALL = list(range(WINDOWS * EVENTS))


def window(number: int) -> list[dict[str, int]]:
    return [{"number": number * EVENTS + each} for each in range(EVENTS)]


def check_at_least_once(numbers: list[int]) -> None:
    """Whole windows may come twice, and nothing else is out of order."""
    assert list(dict.fromkeys(numbers)) == ALL
    for begin in range(0, len(numbers), EVENTS):
        assert numbers[begin : begin + EVENTS] == list(range(numbers[begin], numbers[begin] + EVENTS))


@pytest.mark.parametrize("is_secure", [False, True], ids=["plain", "tls"])
def test_pylogbeat_with_orderly_reconnects(tmp_path: Path, is_secure: bool) -> None:
    pylogbeat = pytest.importorskip("pylogbeat", reason="pylogbeat is not installed")
    arguments, more = ("--insecure",), {}
    if is_secure:
        made = make_certificates(tmp_path)
        arguments = ("--cert", made.server, "--key", made.server_key, "--client-ca", made.ca)  # type: ignore[assignment]
        more = {"ca_certs": made.ca, "certfile": made.client, "keyfile": made.client_key}
    with running(tmp_path / "spool", *arguments) as receiver:
        client = pylogbeat.PyLogBeatClient(HOST, receiver.port, timeout=60, ssl_enable=is_secure, **more)
        for number in range(WINDOWS):
            if number % 3 == 2:
                client.close()
            client.send(window(number))
        client.close()
        metrics = receiver.metrics()
        assert metrics["events_total"] == len(ALL)
        assert metrics["acks_total"] == WINDOWS
        assert metrics["connections_total"] == 4
        assert receiver.stop() == 0
    assert stored_numbers(tmp_path / "spool") == ALL


def test_pylogbeat_through_cuts(tmp_path: Path) -> None:
    """Cut in the middle of the first window, after its announcement, and after some that were acknowledged."""
    pylogbeat = pytest.importorskip("pylogbeat", reason="pylogbeat is not installed")
    with running(tmp_path) as receiver:
        proxy = CuttingProxy(receiver.port, {0: 3_000, 1: 6, 2: 12_000, 3: 20_000})
        client = pylogbeat.PyLogBeatClient(HOST, proxy.port, timeout=60)
        n_failed = 0
        for number in range(WINDOWS):
            while True:
                try:
                    client.send(window(number))
                    break
                except (OSError, pylogbeat.ConnectionException):
                    n_failed += 1
                    with contextlib.suppress(OSError):
                        client.close()
        client.close()
        proxy.close()
        assert proxy.n_cut == n_failed == 4
        assert receiver.stop() == 0
    check_at_least_once(stored_numbers(tmp_path))


def test_the_handler_of_logstash_async_through_cuts(tmp_path: Path) -> None:
    if importlib.util.find_spec("logstash_async") is None:
        pytest.skip("python-logstash-async is not installed")
    script = ROOT / "tests" / "interop" / "log_through_beats.py"
    with running(tmp_path) as receiver:
        proxy = CuttingProxy(receiver.port, {1: 4_000, 2: 5_000})
        subprocess.run(
            [sys.executable, str(script), str(proxy.port), str(len(ALL))],
            check=True,
            timeout=60,
            capture_output=True,
        )
        proxy.close()
        assert proxy.n_cut == 2
        assert receiver.stop() == 0
    assert list(dict.fromkeys(stored_numbers(tmp_path))) == ALL


@pytest.fixture(scope="module")
def node_modules(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("npm")
    npm_modules(folder, "lumberjack-protocol@1.0.7")
    return folder


def test_npm_lumberjack_protocol(tmp_path: Path, node_modules: Path) -> None:
    """One window for the whole connection: events after it are acknowledged one by one."""
    made, n_events = make_certificates(tmp_path), 425
    script = ROOT / "tests" / "interop" / "log_from_node.js"
    with running(tmp_path / "spool", "--cert", made.server, "--key", made.server_key) as receiver:
        subprocess.run(
            ["node", str(script), str(node_modules), str(receiver.port), made.ca, str(n_events), "100"],
            check=True,
            timeout=60,
        )
        assert receiver.stop() == 0
    events = stored_events(tmp_path / "spool")
    numbers = [event.pairs[0].value for event in events if isinstance(event, lj.Data)]
    assert numbers == [str(number) for number in range(n_events)]
