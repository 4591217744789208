"""`python -m lumberjack_receiver FOLDER --cert … --key …`: runs until SIGTERM or SIGINT, then stops in order."""

from __future__ import annotations

import argparse
import asyncio
import signal
import sys
from pathlib import Path
from ssl import SSLContext

from command_options import integer, regular_file, seconds, tls_options

from wireproto import lumberjack as lj
from wireproto.lumberjack.aio import tls_server

from .metrics import serve_metrics
from .service import Service, Settings


def main() -> int:
    parser = _parser()
    arguments = parser.parse_args()
    if not arguments.insecure and not (arguments.cert and arguments.key):
        parser.error("give --cert and --key, or --insecure to do without TLS")
    try:
        tls = None if arguments.insecure else _tls(arguments)
    except OSError as error:
        parser.error(f"{tls_options(arguments, 'cert', 'key', 'client-ca')}: {error}")
    try:
        asyncio.run(_run(_settings(arguments, tls), arguments.metrics_port))
    except (OSError, ValueError) as error:
        print(f"lumberjack_receiver: {error}", file=sys.stderr)
        return 1
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="lumberjack_receiver", description=__doc__)
    add = parser.add_argument
    add("folder", type=Path, help="where files appear; one receiver has it at a time")
    add("--host", default="127.0.0.1")
    add("--port", type=_PORT, default=5044)
    add("--cert", type=regular_file, help="PEM file of the certificate and its chain")
    add("--key", type=regular_file, help="PEM file of its key")
    add(
        "--client-ca",
        type=regular_file,
        help="demand client certificates that this PEM file's authority has signed",
    )
    add("--insecure", action="store_true", help="no TLS")
    add("--metrics-port", type=_PORT, default=9100, help="on 127.0.0.1")
    add("--max-connections", type=integer(1, 2**31 - 1), default=256)
    add(
        "--refusal-lines",
        type=integer(0, 2**31 - 1),
        default=60,
        help="lines a minute on stderr about refused connections",
    )
    for name, what in _LIMITS.items():
        add(f"--max-{name}", type=_amount, default=getattr(_DEFAULTS, name), metavar="N", help=what)
    add("--idle-timeout", type=seconds(0.001), default=600.0, help="seconds without a whole frame")
    return parser


_PORT = integer(0, 65535)
_MAX_AMOUNT = 2**31 - 1
_DEFAULTS = lj.Limits()
_LIMITS = {
    "frame": "bytes of a frame (16MiB)",
    "inflated": "bytes that a compressed frame inflates to (64MiB)",
    "count": "pairs of a Data (65536)",
    "messages": "frames in one compressed frame, and the pairs in them (131072)",
    "depth": "compressed frames inside each other (1)",
    "window": "events that a Window announces (10000)",
}
_UNITS = {"KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30}


def _amount(text: str) -> int:
    """Return a number in `1 .. _MAX_AMOUNT` out of a text such as `1000` or `64MiB`."""
    unit = next((unit for unit in _UNITS if text.endswith(unit)), "")
    digits = text.removesuffix(unit)
    if not (digits.isascii() and digits.isdecimal() and len(digits) <= 20):
        raise argparse.ArgumentTypeError(f"{text!r} is not a number, as in 1000 or 64MiB")
    amount = int(digits) * _UNITS.get(unit, 1)
    if not 1 <= amount <= _MAX_AMOUNT:
        raise argparse.ArgumentTypeError(f"{text!r} is not in 1 .. {_MAX_AMOUNT}")
    return amount


def _tls(arguments: argparse.Namespace) -> SSLContext:
    return tls_server(arguments.cert, arguments.key, client_ca=arguments.client_ca)


def _settings(arguments: argparse.Namespace, tls: SSLContext | None) -> Settings:
    return Settings(
        folder=arguments.folder,
        host=arguments.host,
        port=arguments.port,
        ssl=tls,
        max_connections=arguments.max_connections,
        limits=lj.Limits(**{name: getattr(arguments, f"max_{name}") for name in _LIMITS}),
        refusal_lines=arguments.refusal_lines,
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
