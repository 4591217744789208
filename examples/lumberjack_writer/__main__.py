"""`python -m lumberjack_writer HOST PORT < events.jsonl`: sends each line, and ends when all are acknowledged."""

from __future__ import annotations

import argparse
import asyncio
import sys
from ssl import SSLCertVerificationError, SSLError

from wireproto import lumberjack as lj
from wireproto.lumberjack.aio import tls_client

from .writer import Settings, Writer


def main() -> int:
    parser = argparse.ArgumentParser(prog="lumberjack_writer", description=__doc__)
    add = parser.add_argument
    add("host")
    add("port", type=int)
    add("--ca", help="PEM file of whom to trust, else the system's")
    add("--cert", help="PEM file of a certificate of our own")
    add("--key", help="PEM file of its key")
    add("--insecure", action="store_true", help="no TLS")
    add("--tries", type=int, default=10, help="connections in a row without any ack")
    arguments = parser.parse_args()
    ssl = (
        None
        if arguments.insecure
        else tls_client(arguments.ca, certificate=arguments.cert, key=arguments.key)
    )
    writer = Writer(Settings(host=arguments.host, port=arguments.port, ssl=ssl, tries=arguments.tries))
    try:
        asyncio.run(writer.deliver(line.rstrip(b"\r\n") for line in sys.stdin.buffer))
    except (OSError, lj.SessionError, lj.DecodeError, lj.EncodeError) as error:
        print(
            f"lumberjack_writer: {error}; {writer.n_acknowledged} events were acknowledged", file=sys.stderr
        )
        way_out = None if writer.n_acknowledged else _way_out(error, arguments)
        if way_out is not None:
            print(f"lumberjack_writer: {way_out}", file=sys.stderr)
        return 1
    return 0


def _way_out(error: Exception, arguments: argparse.Namespace) -> str | None:
    """Return what to try where not one connection came to anything."""
    match error:
        case SSLCertVerificationError():
            return "give --ca, the PEM file of the authority that has signed the receiver's certificate"
        case ConnectionError() if arguments.insecure:
            return "if the receiver speaks TLS, leave --insecure out"
        case SSLError() | ConnectionResetError() | BrokenPipeError() if not arguments.cert:
            # By TLS 1.3 a writer has connected before it is refused, and what it sends may destroy the receiver's reason.
            return "if the receiver demands a certificate of its writers, give --cert and --key"
    return None


if __name__ == "__main__":
    sys.exit(main())
