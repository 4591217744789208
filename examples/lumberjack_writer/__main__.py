"""`python -m lumberjack_writer HOST PORT < events.jsonl`: sends each line, and ends when all are acknowledged."""

from __future__ import annotations

import argparse
import asyncio
import sys

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
    arguments = parser.parse_args()
    ssl = (
        None
        if arguments.insecure
        else tls_client(arguments.ca, certificate=arguments.cert, key=arguments.key)
    )
    writer = Writer(Settings(host=arguments.host, port=arguments.port, ssl=ssl))
    try:
        asyncio.run(writer.deliver(line.rstrip(b"\r\n") for line in sys.stdin.buffer))
    except (OSError, lj.SessionError, lj.DecodeError, lj.EncodeError) as error:
        print(
            f"lumberjack_writer: {error}; {writer.n_acknowledged} events were acknowledged", file=sys.stderr
        )
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
