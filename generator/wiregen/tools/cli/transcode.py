"""`wiregen transcode`: a stream from one serialization to another, of any size in constant memory."""

import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import click

from wiregen.tools.cli import shared_options
from wiregen.tools.cli.failure import DONE, FINDINGS, Failure
from wiregen.tools.cli.messages import tell, tell_error

if TYPE_CHECKING:
    from wiregen.generate.packages import Package
    from wiregen.runtime.schema.protocol import Schema
    from wiregen.tools.cli.input import Input
    from wiregen.tools.transcoding import LeftOut, LostBytes, Transcoder

__all__ = ["verb"]

_LEAVE_OUT = "correct the source, or add --skip to leave out frames that cannot be converted"
_SAY_BEFORE = "; if a layout depends on earlier messages of the other role, give them with --before"


@dataclass(frozen=True, slots=True, kw_only=True)
class _Conversion:
    """The two serializations, and the treatment of frames that cannot be carried: skip them, or fail with `way_out`."""

    source: str
    target: str
    skips: bool
    way_out: str


@click.command("transcode")
@shared_options.protocol
@click.argument("file", required=False)
@click.option(
    "--from",
    "source",
    metavar="NAME",
    required=True,
    help=f"Serialization of the stream: {shared_options.BACKENDS}.",
)
@click.option(
    "--to",
    "target",
    metavar="NAME",
    required=True,
    help=f"Serialization to write: {shared_options.BACKENDS}.",
)
@shared_options.output_file
@click.option("--role", metavar="ROLE", help="Role that sent the bytes.")
@shared_options.preceding
@click.option(
    "--preamble", metavar="HEX", help="Preamble of the native bytes; other serializations do not have one."
)
@shared_options.variant
@shared_options.strict
@shared_options.limits
@click.option(
    "--skip",
    is_flag=True,
    help="Leave out frames that cannot be converted, and go on. The exit code is still 1.",
)
def verb(
    protocol: str,
    file: str | None,
    source: str,
    target: str,
    output: str | None,
    role: str | None,
    before: tuple[str, ...],
    preamble: str | None,
    variant: str | None,
    strict: bool,
    limits: tuple[str, ...],
    skip: bool,
) -> int:
    """Convert a stream of PROTOCOL (a name, or a path to a .wire file) from one serialization to another.

    FILE is one direction of a connection. `-`, or no FILE, is stdin. A build is not necessary. It stops at the first frame
    that is invalid or cannot be converted, reports its place, and exits with 1.
    """
    from wiregen.tools.cli.input import open_bytes
    from wiregen.tools.cli.output import destination, refuse_terminal
    from wiregen.tools.cli.progress import progress
    from wiregen.tools.cli.protocol_options import limits_of, role_of, variant_of
    from wiregen.tools.cli.protocols import package_of
    from wiregen.tools.transcoding import StreamWishes, Transcoder

    refuse_terminal(output)
    package = package_of(protocol, (source, target))
    schema = package.schema
    wishes = StreamWishes(
        role=_sender(schema, role_of(schema, role)),
        variant=variant_of(schema, variant),
        limits=limits_of(schema, limits),
        is_strict=strict,
    )
    conversion = _Conversion(
        source=source,
        target=target,
        skips=skip,
        way_out=_LEAVE_OUT + (_SAY_BEFORE if schema.contexts else ""),
    )
    opening = _opening(package, wishes.role, conversion, preamble)
    transcoder = Transcoder(package, source, target, wishes)
    _receive_earlier(transcoder, before, schema)
    with open_bytes(file, is_capture=False) as opened, destination(output) as out:
        out.write(opening)
        with progress(opened.size, "transcoding", is_printed=output is None) as advance:
            return _carry(opened, transcoder, conversion, out.write, advance)


def _carry(
    opened: "Input",
    transcoder: "Transcoder",
    conversion: _Conversion,
    write: Callable[[bytes], object],
    advance: Callable[[int], None],
) -> int:
    """Write the transcoded input; return the exit code."""
    from wiregen.tools.transcoding import LeftOut, LostBytes

    code = DONE
    for piece in _pieces(opened, transcoder, advance):
        if isinstance(piece, LostBytes):
            _refuse(piece, conversion)
            code = FINDINGS
        elif isinstance(piece, LeftOut):
            tell(
                f"note: {conversion.target} has no preambles; use `--preamble {piece.data.hex()}` to restore {piece.name}"
            )
        else:
            write(piece)
    return code


def _pieces(
    opened: "Input", transcoder: "Transcoder", advance: Callable[[int], None]
) -> "Iterator[bytes | LostBytes | LeftOut]":
    for chunk in opened.chunks:
        yield from transcoder.feed(chunk)
        advance(len(chunk))
        if opened.is_live:
            sys.stdout.flush()
    yield from transcoder.finish()


def _refuse(fault: "LostBytes", conversion: _Conversion) -> None:
    """Report the bytes that are not carried, and the reason; stop unless such bytes are skipped."""
    from wiregen.runtime.codec.errors import DecodeError

    if isinstance(fault.error, DecodeError):
        message = f"the frame at {fault.offset} ({conversion.source}): {fault.error}"
    else:
        message = f"the frame at {fault.offset} cannot be converted to {conversion.target}: {fault.error}"
    if not conversion.skips:
        raise Failure(message, conversion.way_out, code=FINDINGS)
    tell_error(message)


def _sender(schema: "Schema", role: str | None) -> str | None:
    """Return the role of the sender, or None if one layout serves all roles, so that it makes no difference."""
    if role is not None or (len(set(schema.sends.values())) == 1 and not schema.opens):
        return role
    first: str = schema.roles[0]
    tell(f"decoded as sent by {first}; use --role for the other role")
    return first


def _opening(package: "Package", role: str | None, conversion: _Conversion, digits: str | None) -> bytes:
    """Return the bytes at the beginning of the target, before any frame."""
    from wiregen.generate.serialization import NATIVE

    name = package.schema.opens.get(role or "") if NATIVE == conversion.target != conversion.source else None
    if digits is None and name is None:
        return b""
    if name is None:
        raise Failure("--preamble is only for native output from another serialization", "remove --preamble")
    if digits is None:
        raise Failure(
            f"native bytes of the {role} begin with {name}, which {conversion.source} does not contain",
            "give its bytes with --preamble HEX",
        )
    return _preamble(package, role, name, digits)


def _preamble(package: "Package", role: str | None, name: str, digits: str) -> bytes:
    from wiregen.generate.serialization import NATIVE
    from wiregen.runtime.codec.errors import DecodeError
    from wiregen.runtime.codec.options import Options
    from wiregen.tools.cli.input import from_hex

    data = b"".join(from_hex(digits, "--preamble").chunks)
    decoder = package.serialization(NATIVE).decoder(Options(role))
    found = [*decoder.items(data), *decoder.finish_items()]
    if len(found) != 1 or isinstance(found[0][2], DecodeError):
        why = f": {found[0][2]}" if found and isinstance(found[0][2], DecodeError) else ""
        raise Failure(f"--preamble is not {name}{why}", "give the bytes with which the stream begins")
    return data


def _receive_earlier(transcoder: "Transcoder", before: tuple[str, ...], schema: "Schema") -> None:
    from wiregen.runtime.codec.errors import DecodeError
    from wiregen.tools.cli.preceding_bytes import refusal, said

    for role, data in said(before, schema):
        try:
            transcoder.receive_earlier(role, data)
        except DecodeError as error:
            raise refusal(role, error) from None
