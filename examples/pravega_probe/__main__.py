"""`python -m pravega_probe HOST[:PORT] [SEGMENT] …`: say Hello to a segment store, and write a segment's bytes."""

from __future__ import annotations

import argparse
import asyncio
import os
import re
import sys
from pathlib import Path
from ssl import SSLContext

from command_options import regular_file

from wireproto import pravega
from wireproto.pravega.aio import tls_client

from .failures import Exit, Failure, failure_of, shown
from .output import Output, Progress
from .store import Store, connect

PORT = 12345
"""The default port of a segment store; that of Pravega's standalone is 6000."""


def main() -> int:
    arguments = _parser().parse_args()
    try:
        asyncio.run(_run(arguments))
    except KeyboardInterrupt:
        return Exit.INTERRUPTED
    except (Failure, pravega.SessionError, pravega.DecodeError, pravega.EncodeError, OSError) as error:
        failure = failure_of(error)
        print(f"pravega_probe: {shown(str(failure), secret=arguments.token)}", file=sys.stderr)
        return failure.exit_code
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="pravega_probe", description=__doc__)
    add = parser.add_argument
    add(
        "store", type=_address, metavar="HOST[:PORT]", help=f"port {PORT} unless given; [::1]:{PORT} for IPv6"
    )
    add("segment", nargs="?", help="scope/stream/0.#epoch.0; without one, Hello is all")
    add("--offset", type=_natural, help="first byte (default: where the segment begins)")
    add(
        "--length",
        type=_natural,
        help="at most so many bytes (default: up to the present end of the segment)",
    )
    add("--follow", action="store_true", help="wait for further bytes until the segment is sealed")
    add("-o", "--output", type=Path, help="file for the bytes (default: standard output)")
    add(
        "--token",
        type=_token,
        default=os.environ.get("PRAVEGA_TOKEN", ""),
        metavar="TOKEN|@FILE",
        help="delegation token; others on this machine see arguments, so better @FILE or $PRAVEGA_TOKEN",
    )
    add("--tls", action="store_true", help="TLS 1.2 or later")
    add(
        "--ca",
        type=regular_file,
        help="PEM file of whom to trust (default: whom the system does); implies --tls",
    )
    add("--server-name", help="name in the store's certificate, where it is not HOST")
    add(
        "--timeout",
        type=_seconds,
        default=10.0,
        help="seconds for the connection and for each reply (default: 10)",
    )
    return parser


def _address(text: str) -> tuple[str, int]:
    """Return host and port; an IPv6 address is in brackets."""
    found = re.fullmatch(r"(?:\[([^\[\]]+)\]|([^:\[\]]+))(?::([0-9]{1,5}))?", text)
    port = int(found[3] or PORT) if found else 0
    if found is None or not 0 < port < 65536:
        raise argparse.ArgumentTypeError(f"no HOST[:PORT]: {text!r}")
    return found[1] or found[2], port


def _natural(text: str) -> int:
    if not text.isdecimal() or int(text) >= 1 << 63:
        raise argparse.ArgumentTypeError(f"no number of bytes: {text!r}")
    return int(text)


def _seconds(text: str) -> float:
    try:
        seconds = float(text)
    except ValueError:
        seconds = 0.0
    if not 0 < seconds < float("inf"):
        raise argparse.ArgumentTypeError(f"no number of seconds: {text!r}")
    return seconds


def _token(text: str) -> str:
    if not text.startswith("@"):
        return text
    try:
        return Path(regular_file(text[1:])).read_text(encoding="utf-8").strip()
    except (OSError, UnicodeDecodeError) as error:
        raise argparse.ArgumentTypeError(f"no token in {text[1:]!r}: {type(error).__name__}") from None


def _tls(arguments: argparse.Namespace) -> SSLContext | None:
    if not arguments.tls and arguments.ca is None:
        return None
    try:
        return tls_client(arguments.ca)
    except OSError as error:
        raise Failure(Exit.ARGUMENTS, f"--ca {arguments.ca}: {error}") from None


async def _run(arguments: argparse.Namespace) -> None:
    host, port = arguments.store
    async with connect(
        host,
        port,
        token=arguments.token,
        ssl=_tls(arguments),
        server_hostname=arguments.server_name,
        timeout=arguments.timeout,
    ) as store:
        if arguments.segment is None:
            print(f"wire versions {store.hello.low_version} to {store.hello.high_version}")
        else:
            await _copy(store, arguments)


async def _copy(store: Store, arguments: argparse.Namespace) -> None:
    """Write the requested part of a segment."""
    info = await store.info(arguments.segment)
    start = info.start_offset if arguments.offset is None else arguments.offset
    if start > info.write_offset and (info.is_sealed or not arguments.follow):
        raise Failure(Exit.OFFSET, f"the segment ends at {info.write_offset}")
    end = _end(info, start, arguments.length, follows=arguments.follow)
    total = None if end is None else end - start
    with Output(arguments.output) as output, Progress(total, sys.stderr) as progress:
        async for data in store.read(arguments.segment, start, end, waits=arguments.follow):
            output.write(data)
            progress.add(len(data))


def _end(info: pravega.StreamSegmentInfo, start: int, length: int | None, *, follows: bool) -> int | None:
    """Return the offset at which to stop, or None for the end of the segment."""
    ends = [] if length is None else [start + length]
    if not follows:
        ends.append(info.write_offset)
    return min(ends, default=None)


if __name__ == "__main__":
    sys.exit(main())
