"""pylogbeat and the receiver with `wiregen proxy` between them: no event is lost, and the proxy decodes all of them."""

from __future__ import annotations

import contextlib
import json
import os
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from tests.commands import called
from tests.interop.receiver import HOST, running, stored_numbers
from tests.proxies import running_tool

PROTOCOL = Path(__file__).resolve().parents[2] / "idl" / "lumberjack.wire"
IS_SOAK = os.environ.get("HYPOTHESIS_PROFILE") == "soak"
WINDOW = 500
N_EVENTS = 5_000
N_CUT_EVENTS = 100_000 if IS_SOAK else 5_000
CUT_AT = 20_000 if IS_SOAK else 4_000
"""Bytes of a connection after which the next frame is cut off."""


def windows(n_events: int) -> Iterator[list[dict[str, int]]]:
    for first in range(0, n_events, WINDOW):
        yield [{"number": number} for number in range(first, first + WINDOW)]


def numbers_in(value: object) -> Iterator[int]:
    """Yield the numbers of the events in a decoded line, at any depth."""
    match value:
        case {"message": "Json", "fields": {"document": str() as document}}:
            yield json.loads(bytes.fromhex(document))["number"]
        case dict():
            for each in value.values():
                yield from numbers_in(each)
        case list():
            for each in value:
                yield from numbers_in(each)


def test_all_events_arrive_and_are_decoded(tmp_path: Path) -> None:
    pylogbeat = pytest.importorskip("pylogbeat", reason="pylogbeat is not installed")
    spool, path = tmp_path / "spool", tmp_path / "talk.pcap"
    with running(spool) as receiver:
        command = ("proxy", PROTOCOL, "--listen", "0", "--to", str(receiver.port), "--record", path)
        with running_tool(tmp_path, *command) as proxy:
            client = pylogbeat.PyLogBeatClient(HOST, proxy.port(), timeout=60)
            for window in windows(N_EVENTS):
                client.send(window)
            client.close()
            ended = proxy.stop()
        assert receiver.stop() == 0
    assert stored_numbers(spool) == list(range(N_EVENTS))
    assert ended.code == 0
    assert "0 errors, 0 violations" in ended.summary
    assert list(numbers_in(ended.lines)) == list(range(N_EVENTS))
    recorded = called("decode", str(PROTOCOL), str(path), folder=tmp_path)
    assert recorded.exit_code == 0
    assert list(numbers_in([json.loads(line) for line in recorded.stdout.splitlines()])) == list(
        range(N_EVENTS)
    )


def test_no_event_is_lost_through_cuts(tmp_path: Path, evidence: Callable[..., None]) -> None:
    """The proxy cuts each connection after some windows, and pylogbeat sends those again that were not acknowledged."""
    pylogbeat = pytest.importorskip("pylogbeat", reason="pylogbeat is not installed")
    spool = tmp_path / "spool"
    n_failed = 0
    with running(spool) as receiver:
        cut = f"@from == writer and @offset > {CUT_AT}"
        command = ("proxy", PROTOCOL, "--listen", "0", "--to", str(receiver.port), "--cut", cut)
        with running_tool(tmp_path, *command) as proxy:
            client = pylogbeat.PyLogBeatClient(HOST, proxy.port(), timeout=60)
            for window in windows(N_CUT_EVENTS):
                while True:
                    try:
                        client.send(window)
                        break
                    except (OSError, pylogbeat.ConnectionException):
                        n_failed += 1
                        with contextlib.suppress(OSError):
                            client.close()
            client.close()
            ended = proxy.stop()
        assert receiver.stop() == 0
    stored = set(stored_numbers(spool))
    decoded = set(numbers_in(ended.lines))
    n_lost, n_undecoded = (N_CUT_EVENTS - len(each) for each in (stored, decoded))
    n_cut = sum(line.get("action") == "cut" for line in ended.lines)
    evidence("proxy_cuts", count=N_CUT_EVENTS, failures=n_lost + n_undecoded, cuts=n_cut)
    assert (n_lost, n_undecoded) == (0, 0)
    assert n_cut == n_failed > 1
    assert "0 errors, 0 violations" in ended.summary
