"""`wiregen decode`: bytes, or a capture, to messages; any .wire file will do, nothing has to be built."""

import sys
from collections.abc import Callable, Iterator
from contextlib import nullcontext
from typing import TYPE_CHECKING

import click

from wiregen.schema.copies import replace
from wiregen.tools.cli import shared_options
from wiregen.tools.cli.failure import DONE, FINDINGS, Failure
from wiregen.tools.cli.messages import is_terminal, tell

if TYPE_CHECKING:
    from wiregen.runtime.schema.protocol import Schema
    from wiregen.tools.cli.decoding_options import Decoded, Settings
    from wiregen.tools.cli.input import Input

__all__ = ["verb"]


@click.command("decode")
@shared_options.protocol
@click.argument("file", required=False)
@click.option(
    "--hex",
    "digits",
    metavar="HEX",
    help="Decode these bytes instead of a file, for example `--hex '32 41 00000001'`.",
)
@click.option(
    "--backend",
    metavar="NAME",
    default="native",
    show_default=True,
    help=f"Serialization of the bytes: {shared_options.BACKENDS}.",
)
@click.option(
    "--from",
    "role",
    metavar="ROLE",
    help="Role that sent the bytes. In a capture, decode only the bytes of that role.",
)
@shared_options.preceding
@shared_options.variant
@shared_options.capture
@shared_options.capture_port
@click.option(
    "--format",
    "format_",
    type=click.Choice(["jsonl", "json", "tree", "hex"]),
    help="Output format. Default: tree on a terminal, otherwise jsonl.",
)
@shared_options.strict
@shared_options.limits
def verb(
    protocol: str,
    file: str | None,
    digits: str | None,
    backend: str,
    role: str | None,
    before: tuple[str, ...],
    variant: str | None,
    pcap: bool | None,
    port: int | None,
    format_: str | None,
    strict: bool,
    limits: tuple[str, ...],
) -> int:
    """Decode bytes of PROTOCOL (a name, or a path to a .wire file) into messages.

    FILE is one direction of a connection, or a capture (pcap or pcapng, also .gz, .xz, .zst). `-` is stdin. Exits with 1 if
    any bytes could not be decoded.

    If a layout depends on earlier messages of the other role, give them: decode PROTOCOL --from server --before client:HEX
    """
    from wiregen.schema.lowering import lower
    from wiregen.tools.cli.decoding_options import Settings
    from wiregen.tools.cli.input import from_hex, open_bytes
    from wiregen.tools.cli.protocol_options import limits_of, role_of, variant_of
    from wiregen.tools.cli.protocols import carrier_of

    if digits is not None and (file is not None or pcap):
        raise Failure("--hex and a file are both given", "give only one of them")
    subject, carrier = carrier_of(protocol, backend)
    if carrier is not None:
        pcap, format_ = _of_carrier(backend, pcap, format_)
    schema = lower(subject.protocol)
    settings = Settings(
        schema=schema,
        variant=variant_of(schema, variant),
        limits=limits_of(schema, limits),
        is_strict=strict,
        carrier=carrier,
    )
    sender = role_of(schema, role)
    ports = tuple(port.number for port in subject.protocol.ports)
    opened = open_bytes(file, is_capture=pcap) if digits is None else nullcontext(from_hex(digits))
    with opened as source:
        if source.path is not None and not pcap:
            tell("the input is a capture")
        return _decode(source, settings, sender, before, port, ports, format_)


def _of_carrier(backend: str, pcap: bool | None, format_: str | None) -> tuple[bool, str]:
    """Return the input kind and output format for bytes of another serialization.

    They are never a capture, and have no native offsets.
    """
    if pcap:
        raise Failure(f"a capture contains native bytes, not {backend}", "remove --pcap or --backend")
    if format_ in ("tree", "hex"):
        raise Failure(
            f"--format {format_} shows the places of native bytes, which {backend} does not have",
            "choose --format jsonl or json",
        )
    return False, format_ or "jsonl"


def _decode(
    source: "Input",
    settings: "Settings",
    role: str | None,
    before: tuple[str, ...],
    port: int | None,
    ports: tuple[int, ...],
    format_: str | None,
) -> int:
    """Print the frames and errors in the input; return the exit code."""
    from wiregen.tools.cli.progress import progress
    from wiregen.tools.cli.sinks import sink

    out = sink(format_ or ("tree" if is_terminal(sys.stdout) else "jsonl"), settings)
    has_fault = False
    with progress(source.size) as advance:
        for decoded in _items(source, settings, role, before, port, ports, advance):
            out.write(decoded)
            has_fault |= isinstance(decoded.outcome, Exception)
        out.close()
    return FINDINGS if has_fault else DONE


def _items(
    source: "Input",
    settings: "Settings",
    role: str | None,
    before: tuple[str, ...],
    port: int | None,
    ports: tuple[int, ...],
    advance: Callable[[int], None],
) -> "Iterator[Decoded]":
    if source.path is not None and before:
        raise Failure("--before is for one direction, but a capture has both", "remove --before")
    if source.path is not None:
        from wiregen.tools.cli.conversations import decode_capture

        return decode_capture(source.path, settings, port, ports, advance, role)
    if port is not None:
        raise Failure(
            "--port is for captures, but the input is not a capture",
            "remove --port, or add --pcap if the input is a capture",
        )
    return _stream(source, settings, _sender(settings.schema, role), before, advance)


def _sender(schema: "Schema", role: str | None) -> str | None:
    """Return the role of the sender, or None if one layout serves all roles, so that it makes no difference."""
    if role is not None or (len(set(schema.sends.values())) == 1 and not schema.opens):
        return role
    first: str = schema.roles[0]
    tell(f"decoded as sent by {first}; use --from for the other role")
    return first


def _stream(
    source: "Input",
    settings: "Settings",
    role: str | None,
    before: tuple[str, ...],
    advance: Callable[[int], None],
) -> "Iterator[Decoded]":
    """Yield the frames and errors of one direction's stream; without a role, each frame's message tells the sender."""
    from wiregen.runtime.codec.errors import DecodeError
    from wiregen.tools.cli.decoding_options import message_of
    from wiregen.tools.cli.preceding_bytes import direction, heard

    def named(decoded: "Decoded") -> "Decoded":
        if role is not None:
            return decoded
        outcome = decoded.outcome
        partial = (outcome.partial or {}) if isinstance(outcome, DecodeError) else None
        name = message_of(decoded) if partial is None else partial.get("message")
        message = settings.schema.messages.get(name or "")
        return decoded if message is None else replace(decoded, role=message.role)

    context, directions = heard(before, settings)
    way = directions.get(role or "") or direction(settings, role, context)
    for chunk in source.chunks:
        yield from map(named, way.feed(chunk))
        advance(len(chunk))
        if source.is_live:
            sys.stdout.flush()
    yield from map(named, way.finish())
