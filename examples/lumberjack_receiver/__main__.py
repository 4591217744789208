"""`python -m lumberjack_receiver FOLDER --cert … --key …`: runs until SIGTERM or SIGINT, then stops in order."""

from __future__ import annotations

import argparse
import asyncio
import signal
import sys
from pathlib import Path

from wireproto.lumberjack.aio import tls_server

from .metrics import serve_metrics
from .service import Service, Settings


def main() -> int:
    arguments = _parser().parse_args()
    if not arguments.insecure and not (arguments.cert and arguments.key):
        print("lumberjack_receiver: give --cert and --key, or --insecure to do without TLS", file=sys.stderr)
        return 2
    try:
        asyncio.run(_run(_settings(arguments), arguments.metrics_port))
    except OSError as error:
        print(f"lumberjack_receiver: {error}", file=sys.stderr)
        return 1
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="lumberjack_receiver", description=__doc__)
    add = parser.add_argument
    add("folder", type=Path, help="where files appear; one receiver has it at a time")
    add("--host", default="127.0.0.1")
    add("--port", type=int, default=5044)
    add("--cert", help="PEM file of the certificate and its chain")
    add("--key", help="PEM file of its key")
    add("--client-ca", help="demand client certificates that this PEM file's authority has signed")
    add("--insecure", action="store_true", help="no TLS")
    add("--metrics-port", type=int, default=9100, help="on 127.0.0.1")
    add("--max-connections", type=int, default=256)
    add("--idle-timeout", type=float, default=600.0, help="seconds without a whole frame")
    return parser


def _settings(arguments: argparse.Namespace) -> Settings:
    tls = None
    if not arguments.insecure:
        tls = tls_server(arguments.cert, arguments.key, client_ca=arguments.client_ca)
    return Settings(
        folder=arguments.folder,
        host=arguments.host,
        port=arguments.port,
        ssl=tls,
        max_connections=arguments.max_connections,
        idle_timeout=arguments.idle_timeout,
    )


async def _run(settings: Settings, metrics_port: int) -> None:
    stopping, loop = asyncio.Event(), asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, stopping.set)
    service = Service(settings)
    port = await service.start()
    metrics = await serve_metrics(service, metrics_port)
    shown = metrics.sockets[0].getsockname()[1]
    print(f"listening on {settings.host} {port}, metrics on 127.0.0.1 {shown}", flush=True)
    await stopping.wait()
    await service.stop()
    metrics.close()


if __name__ == "__main__":
    sys.exit(main())
