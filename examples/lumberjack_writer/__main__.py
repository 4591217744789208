"""`python -m lumberjack_writer HOST PORT < events.jsonl`: sends each line, and ends when all are acknowledged."""

from __future__ import annotations

import argparse
import asyncio
import signal
import sys
from ssl import SSLCertVerificationError, SSLContext, SSLError

from command_options import integer, regular_file, seconds, tls_options

from wireproto import lumberjack as lj
from wireproto.lumberjack.aio import tls_client

from .writer import Settings, Writer


def main() -> int:
    parser = _parser()
    arguments = parser.parse_args()
    if arguments.key and not arguments.cert:
        parser.error("argument --key: give --cert, the certificate of this key, too")
    try:
        ssl = None if arguments.insecure else _tls(arguments)
    except OSError as error:
        parser.error(f"{tls_options(arguments, 'ca', 'cert', 'key')}: {error}")
    writer = Writer(_settings(arguments, ssl))
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        # asyncio only asks the task to end where it finds the default handler, and a task that reads stdin does not notice.
        signal.signal(signal.SIGINT, _interrupt)
    try:
        asyncio.run(writer.deliver(line.rstrip(b"\r\n") for line in sys.stdin.buffer))
    except (OSError, UnicodeError, lj.SessionError, lj.DecodeError, lj.EncodeError) as error:
        _say(f"{_told(error, arguments)}; {writer.n_acknowledged} events were acknowledged")
        if writer.closed_on is not None:
            _say(f"the receiver closed: {writer.closed_on}")
        elif not writer.n_acknowledged and (way_out := _way_out(error, arguments)) is not None:
            _say(way_out)
        return 1
    except KeyboardInterrupt:
        _say(f"interrupted; {writer.n_acknowledged} events were acknowledged")
        return 130
    return 0


def _interrupt(*_: object) -> None:
    raise KeyboardInterrupt


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="lumberjack_writer", description=__doc__)
    add = parser.add_argument
    count = integer(1, 2**32 - 1)
    add("host")
    add("port", type=integer(1, 65535))
    add("--ca", type=regular_file, help="PEM file of whom to trust, else the system's")
    add("--cert", type=regular_file, help="PEM file of a certificate of our own")
    add("--key", type=regular_file, help="PEM file of its key")
    add("--insecure", action="store_true", help="no TLS")
    add("--tries", type=count, default=10, help="connections in a row without any ack")
    add("--pause", type=seconds(0), default=1.0, help="seconds before the next connection")
    add("--window", type=count, default=2_000, help="events of a window")
    add(
        "--max-in-flight", type=integer(1, 65535), default=2, help="windows that are sent ahead of their acks"
    )
    add("--compression", type=int, choices=range(10), default=3, help="zlib's level; 0: events go plain")
    add("--ack-wait", type=seconds(0.001), default=30.0, help="seconds without an ack or a keepalive")
    add(
        "--ack-value",
        choices=[each.name.lower() for each in lj.AckValue],
        default="sequence",
        help="the meaning of the number in an ack; go-lumber's server sends a count",
    )
    return parser


def _tls(arguments: argparse.Namespace) -> SSLContext:
    return tls_client(arguments.ca, certificate=arguments.cert, key=arguments.key)


def _settings(arguments: argparse.Namespace, ssl: SSLContext | None) -> Settings:
    return Settings(
        host=arguments.host,
        port=arguments.port,
        ssl=ssl,
        tries=arguments.tries,
        pause=arguments.pause,
        window=arguments.window,
        max_in_flight=arguments.max_in_flight,
        compression=arguments.compression,
        ack_wait=arguments.ack_wait,
        ack_value=lj.AckValue[arguments.ack_value.upper()],
    )


def _say(line: str) -> None:
    print(f"lumberjack_writer: {line}", file=sys.stderr)


def _told(error: Exception, arguments: argparse.Namespace) -> str:
    """Return the error in the terms of this command."""
    match error:
        case lj.SessionError(violation="ack_timeout"):
            return (
                f"the receiver sent no ack and no keepalive for {arguments.ack_wait:g} seconds (--ack-wait)"
            )
        case UnicodeError():
            return f"{arguments.host!r} is not a name of a host: {error}"
    return str(error)


def _way_out(error: Exception, arguments: argparse.Namespace) -> str | None:
    """Return a hint if not one connection succeeded."""
    match error:
        case SSLCertVerificationError():
            return "give --ca, the PEM file of the authority that has signed the receiver's certificate"
        case ConnectionError() if arguments.insecure:
            return "if the receiver speaks TLS, leave --insecure out"
        case SSLError() | ConnectionResetError() | BrokenPipeError() if not arguments.cert:
            # With TLS 1.3 a writer has connected before it is refused, and bytes that it sends may destroy
            # the receiver's reason.
            return "if the receiver demands a certificate of its writers, give --cert and --key"
    return None


if __name__ == "__main__":
    sys.exit(main())
