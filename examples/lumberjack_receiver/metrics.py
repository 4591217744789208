"""Numbers for a monitor: plain text over HTTP, on a loopback address only."""

from __future__ import annotations

import asyncio
import resource
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from .service import Service

__all__ = ["serve_metrics"]

_HEAD = "HTTP/1.1 {status}\r\nContent-Type: text/plain; version=0.0.4; charset=utf-8\r\nContent-Length: {size}\r\nConnection: close\r\n\r\n"


async def serve_metrics(service: Service, port: int) -> asyncio.Server:
    """Return a server that answers `GET /metrics` on 127.0.0.1."""

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with suppress(OSError, asyncio.IncompleteReadError, asyncio.LimitOverrunError):
            async with asyncio.timeout(5):
                request = (await reader.readuntil(b"\r\n\r\n")).split(b"\r\n", 1)[0]
            is_known = request.startswith(b"GET /metrics ")
            body = "".join(f"{line}\n" for line in _lines(service)).encode() if is_known else b""
            head = _HEAD.format(status="200 OK" if is_known else "404 Not Found", size=len(body))
            writer.write(head.encode() + body)
            await writer.drain()
        writer.close()

    return await asyncio.start_server(answer, "127.0.0.1", port, limit=8192)


def _peak_memory() -> int:
    """Return the peak of the resident memory in KiB; `ru_maxrss` counts that of the program that started this one too."""
    with suppress(OSError):
        status = Path("/proc/self/status").read_text(encoding="ascii", errors="replace")
        return int(status.partition("VmHWM:")[2].split()[0])
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss


def _lines(service: Service) -> Iterator[str]:
    counts = service.counts
    for name, value in (
        ("connections", service.n_connections),
        ("connections_total", counts.connections),
        ("connections_refused_total", service.n_refused),
        ("events_total", counts.events),
        ("acks_total", counts.acks),
        ("keepalives_total", counts.keepalives),
        ("files_total", service.spool.n_files),
        ("stored_bytes_total", service.spool.n_bytes),
        ("peak_memory_kilobytes", _peak_memory()),
    ):
        yield f"lumberjack_receiver_{name} {value}"
    for reason, count in sorted(
        counts.ended.items()
    ):  # names of rules and of Python's classes, nothing of a peer's
        yield f'lumberjack_receiver_connections_failed_total{{reason="{reason}"}} {count}'
