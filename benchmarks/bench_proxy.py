"""`wiregen proxy` next to a plain relay of asyncio: the rate of bytes from a sender to a receiver that reads them all.

Run `make bench`, or `python benchmarks/bench_proxy.py [--quick]`. Each relay is a process of its own. Every relay runs in each round, and only
ratios inside a round are kept. A relay may be slower by its own work, or because the thread that decodes uses the interpreter.
"""

from __future__ import annotations

import argparse
import os
import re
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from statistics import median

from wireproto import lumberjack as lj

ROOT = Path(__file__).resolve().parents[1]
PROXY = [
    sys.executable,
    "-m",
    "wiregen",
    "proxy",
    str(ROOT / "idl" / "lumberjack.wire"),
    "--listen",
    "0",
    "--to",
]
PLAIN = "a plain relay"
EVENTS = 500
GOAL = 0.25
"""The least rate of the proxy, as a share of the plain relay's: it decodes and records in the same interpreter."""


def window() -> bytes:
    events = [lj.Json(number, b'{"message": "%s"}' % (b"x" * 1_000)) for number in range(1, EVENTS + 1)]
    return lj.encode(lj.Window(EVENTS)) + b"".join(lj.encode(event) for event in events)


def commands(target: int, folder: Path) -> dict[str, list[str]]:
    """Return the command of each relay to a port; the first is the base of comparison."""
    return {
        PLAIN: [sys.executable, str(ROOT / "benchmarks" / "plain_relay.py"), str(target)],
        "proxy": [*PROXY, str(target)],
        "proxy, recorded": [*PROXY, str(target), "--record", str(folder / "talk.pcap"), "--force"],
    }


@contextmanager
def running(command: list[str]) -> Iterator[tuple[int, subprocess.Popen[str]]]:
    """Run a relay; give the port at which it listens, and its process."""
    paths = (ROOT / "generator", ROOT / "generated" / "python")
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(map(str, paths))}
    with subprocess.Popen(
        command, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True
    ) as process:
        assert process.stderr is not None
        found = re.search(r"port (\d+)", process.stderr.readline())
        assert found is not None
        yield int(found[1]), process
        for _ in range(2):
            process.send_signal(signal.SIGINT)
            time.sleep(0.1)
        process.kill()


def rate(port: int, listener: socket.socket, data: bytes, n_windows: int) -> float:
    """Return the rate of a relay in MB a second, from the first byte sent to the last one received."""

    def send() -> None:
        with socket.create_connection(("127.0.0.1", port), timeout=60) as sender:
            for _ in range(n_windows):
                sender.sendall(data)
            sender.shutdown(socket.SHUT_WR)
            sender.recv(1)

    left, buffer = n_windows * len(data), bytearray(1 << 20)
    sending = threading.Thread(target=send)
    began = time.perf_counter()
    sending.start()
    receiver, _ = listener.accept()
    with receiver:
        receiver.settimeout(60)
        while left:
            n_received = receiver.recv_into(buffer)
            if not n_received:
                raise ConnectionError("the relay has lost bytes")
            left -= n_received
        seconds = time.perf_counter() - began
    sending.join()
    return n_windows * len(data) / seconds / 1e6


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="once and little: to see that it runs")
    is_quick = parser.parse_args().quick
    data, n_windows, rounds = window(), 4 if is_quick else 100, 1 if is_quick else 7
    rates: dict[str, list[float]] = {}
    with tempfile.TemporaryDirectory() as folder, socket.create_server(("127.0.0.1", 0)) as listener:
        listener.settimeout(60)
        relays = commands(listener.getsockname()[1], Path(folder))
        for number in range(rounds):
            for name in relays if number % 2 else reversed(relays):
                with running(relays[name]) as (port, _):
                    rates.setdefault(name, []).append(rate(port, listener, data, n_windows))
    print(f"{n_windows * len(data) / 1e6:.0f} MB in windows of {EVENTS} events, MB/s, as a share of {PLAIN}")
    missed = False
    for name in relays:
        shares = sorted(one / plain for one, plain in zip(rates[name], rates[PLAIN], strict=True))
        spread = f"{shares[len(shares) // 4]:.2f} .. {shares[-(len(shares) // 4) - 1]:.2f}"
        print(f"  {name:<20} {median(rates[name]):8.1f} {median(shares):6.2f}  ({spread})")
        missed |= median(shares) < GOAL
    print("goals")
    print(f"  {'missed' if missed else 'met'}: at least {GOAL} of the plain relay")
    return int(missed and not is_quick)


if __name__ == "__main__":
    sys.exit(main())
