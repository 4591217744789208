"""A server on the generated package, and the receiver of `examples/`, next to a minimal one written by hand.

Then the same with 10 connections in TCP segments of 1448 bytes, as an Ethernet carries them.

Run `make bench`, or `python benchmarks/bench_receiver.py [--quick]`. Each server is a process of its own; 1, 10 and 100
connections send windows of 2,000 events, each waiting for its ack. CPU is the server's own, memory its peak.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import socket
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from statistics import median

from wireproto import lumberjack as lj

ROOT = Path(__file__).resolve().parents[1]
WINDOW = 2_000
SEGMENT = 1448
"""Bytes of a TCP segment in an Ethernet frame."""
TICKS = os.sysconf("SC_CLK_TCK")


@dataclass(frozen=True, slots=True, kw_only=True)
class Load:
    """The results of one server: events per second of the wall clock, microseconds of CPU per event, peak
    memory in MiB.
    """

    rate: float
    cpu: float
    memory: float


def window(is_compressed: bool) -> bytes:
    documents = (
        b'{"@timestamp": "2026-01-01T00:00:%02d.000Z", "message": "GET /item/%d HTTP/1.1 200", "host": {"name": "web-%d"}}'
        % (number % 60, number * 7919 % 65536, number % 12)
        for number in range(1, WINDOW + 1)
    )
    events = [lj.Frame(lj.Json(number, document)) for number, document in enumerate(documents, 1)]
    head = lj.encode(lj.Window(WINDOW))
    if is_compressed:
        return head + lj.encode(lj.Compressed(events), compression=3)
    return head + b"".join(event.encode() for event in events)


def command(name: str, folder: str) -> list[str]:
    if name == "receiver, to disk":
        return [sys.executable, "-m", "lumberjack_receiver", folder, "--insecure", "--port", "0", "--metrics-port", "0"]  # fmt: skip
    return [sys.executable, str(ROOT / "benchmarks" / "receivers.py"), name.replace(" ", "_")]


def measure(name: str, data: bytes, n_connections: int, n_windows: int, segment: int | None = None) -> Load:
    """Return the load of one server; `segment`: the largest TCP segment in bytes, None for loopback's own."""
    paths = (ROOT / "examples", ROOT / "generated" / "python")
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(map(str, paths))}
    with (
        tempfile.TemporaryDirectory() as folder,
        subprocess.Popen(command(name, folder), env=environment, stdout=subprocess.PIPE, text=True) as server,
    ):
        assert server.stdout is not None
        port = int(server.stdout.readline().split(",")[0].split()[-1])
        before, began = cpu_of(server.pid), time.monotonic()
        asyncio.run(send(port, data, n_connections, n_windows, segment))
        seconds, cpu = time.monotonic() - began, cpu_of(server.pid) - before
        status = Path(f"/proc/{server.pid}/status").read_text(encoding="ascii")
        peak = next(line for line in status.splitlines() if line.startswith("VmHWM"))
        server.kill()
    n_events = n_windows * WINDOW
    return Load(rate=n_events / seconds, cpu=cpu / n_events * 1e6, memory=int(peak.split()[1]) / 1024)


def cpu_of(pid: int) -> float:
    fields = Path(f"/proc/{pid}/stat").read_text(encoding="ascii").rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / TICKS


def connected(port: int, segment: int | None) -> socket.socket:
    sock = socket.socket()
    if segment is not None:
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_MAXSEG, segment)
    sock.connect(("127.0.0.1", port))
    sock.setblocking(False)
    return sock


async def send(port: int, data: bytes, n_connections: int, n_windows: int, segment: int | None) -> None:
    """Send windows over connections, all at a time; each connection has the next one in hand when it is acknowledged."""
    left = iter(range(n_windows))

    async def one() -> None:
        reader, writer = await asyncio.open_connection(sock=connected(port, segment))
        for _ in left:
            writer.write(data)
            await writer.drain()
            while int.from_bytes((await reader.readexactly(6))[2:], "big") != WINDOW:
                pass
        writer.close()

    await asyncio.gather(*(one() for _ in range(n_connections)))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="once and little: to see that it runs")
    is_quick = parser.parse_args().quick
    rounds = 1 if is_quick else 3
    names = ("by hand", "generated", "receiver, to disk")
    n_windows = 10 if is_quick else 100
    for shape, segment in (
        ("compressed", None),
        ("plain", None),
        ("compressed", SEGMENT),
        ("plain", SEGMENT),
    ):
        data = window(shape == "compressed")
        for n_connections in (10,) if segment else (1, 10) if is_quick else (1, 10, 100):
            how = f", segments of {segment} bytes" if segment else ""
            print(
                f"{shape} windows of {WINDOW} events{how}, {n_connections} connections, {n_windows} windows"
            )
            loads: dict[str, list[Load]] = {name: [] for name in names}
            for _ in range(rounds):
                for name in names:
                    loads[name].append(measure(name, data, n_connections, n_windows, segment))
            for name, taken in loads.items():
                print(line(name, taken))


def line(name: str, taken: list[Load]) -> str:
    rate, cpu, memory = (median(getattr(load, what) for load in taken) for what in ("rate", "cpu", "memory"))
    return f"  {name:<20} {rate:>9,.0f} events/s   {cpu:>6.2f} µs CPU an event   {memory:>6.1f} MiB at most"


if __name__ == "__main__":
    main()
