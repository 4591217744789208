"""The receiver, killed repeatedly in the middle of a load: all acknowledged events are in its files."""

from __future__ import annotations

import os
import random
import socket
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import pytest
from tests.interop.receiver import HOST, Receiver, files, stored_numbers

from wireproto import lumberjack as lj

KILLS = int(os.environ.get("WIREGEN_KILLS") or (100 if os.environ.get("HYPOTHESIS_PROFILE") == "soak" else 3))
WRITERS, EVENTS = 3, 100


class Load:
    """A writer that sends window after window until the connection dies; two windows are in flight."""

    def __init__(self, port: int, first: int) -> None:
        self.acknowledged: set[int] = set()
        self._port = port
        self._next = first
        self._thread = threading.Thread(target=self._run)
        self._thread.start()

    def join(self) -> None:
        self._thread.join(timeout=60)
        assert not self._thread.is_alive()

    def _run(self) -> None:
        connection = lj.Connection("writer")
        in_flight: list[range] = []
        with suppress(OSError), socket.create_connection((HOST, self._port), timeout=60) as wire:
            while True:
                while len(in_flight) < 2:
                    in_flight.append(range(self._next, self._next + EVENTS))
                    self._next += EVENTS
                    wire.sendall(self._window(connection, in_flight[-1]))
                data = wire.recv(4096)
                if not data:
                    return
                for event in connection.receive(data):
                    assert isinstance(event, lj.Received), event
                n_waiting = len(connection.transfer.outstanding)
                while in_flight and n_waiting <= EVENTS * (len(in_flight) - 1):
                    self.acknowledged.update(in_flight.pop(0))

    @staticmethod
    def _window(connection: lj.Connection, numbers: range) -> bytes:
        events = [
            lj.Frame(lj.Json(sequence, b'{"number": %d}' % number))
            for sequence, number in enumerate(numbers, 1)
        ]
        return connection.send(lj.Window(len(events))) + connection.send(lj.Compressed(events))


def test_nothing_acknowledged_is_missing_after_sigkill(tmp_path: Path, evidence: Callable[..., None]) -> None:
    chance = random.Random(5)
    sizes: dict[str, int] = {}
    n_acknowledged = n_lost = n_failed = 0
    for kill in range(KILLS):
        receiver = Receiver(tmp_path, "--insecure")
        loads = [Load(receiver.port, (kill * WRITERS + number) * 10**7) for number in range(WRITERS)]
        began = time.monotonic()
        least = chance.uniform(0.05, 0.5)
        while time.monotonic() < began + 60:
            time.sleep(0.01)
            if time.monotonic() > began + least and all(load.acknowledged for load in loads):
                break
        receiver.kill()
        for load in loads:
            load.join()
            assert load.acknowledged
        acknowledged = set[int]().union(*(load.acknowledged for load in loads))
        lost = acknowledged.difference(stored_numbers(tmp_path, but=sizes))
        n_acknowledged += len(acknowledged)
        n_lost += len(lost)
        n_failed += bool(lost)
        assert sizes.items() <= sizes_of(tmp_path).items(), "a file of before was touched"
        sizes = sizes_of(tmp_path)
    more = {"events_acknowledged": n_acknowledged, "events_lost": n_lost}
    evidence("receiver_kills", count=KILLS, failures=n_failed, **more)
    assert n_lost == 0


def sizes_of(folder: Path) -> dict[str, int]:
    return {path.name: path.stat().st_size for path in files(folder)}


def test_a_folder_has_one_receiver_and_what_was_cut_is_cleared_away(tmp_path: Path) -> None:
    (tmp_path / ".part-1.lumberjack").write_bytes(b"2W")
    receiver = Receiver(tmp_path, "--insecure")
    assert not list(tmp_path.glob(".part-*"))
    try:
        with pytest.raises(ChildProcessError):
            Receiver(tmp_path, "--insecure")
    finally:
        assert receiver.stop() == 0
