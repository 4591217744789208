"""`wiregen encode`: decoded lines back to bytes."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

import click

from wiregen.tools.cli import shared_options
from wiregen.tools.cli.failure import DONE, FINDINGS, Failure

if TYPE_CHECKING:
    from wiregen.formats.jsonl import LineEncoder
    from wiregen.runtime.codec.errors import EncodeError
    from wiregen.runtime.schema.protocol import Schema

__all__ = ["verb"]

_ONE_DIRECTION = "the output is one direction of one connection: choose it with --flow and --from"


@click.command("encode")
@shared_options.protocol
@click.argument("file", required=False)
@click.option(
    "--backend",
    metavar="NAME",
    default="native",
    show_default=True,
    help=f"Serialization to write: {shared_options.BACKENDS}.",
)
@click.option(
    "--canonical",
    is_flag=True,
    help="Encode each message again, even if its line contains the original bytes.",
)
@shared_options.output_file
@shared_options.variant
@shared_options.limits
@click.option("--flow", metavar="NAME", help="Encode only the lines of this connection of a capture.")
@click.option("--from", "role", metavar="ROLE", help="Encode only the lines of this role.")
def verb(
    protocol: str,
    file: str | None,
    backend: str,
    canonical: bool,
    output: str | None,
    variant: str | None,
    limits: tuple[str, ...],
    flow: str | None,
    role: str | None,
) -> int:
    """Encode the lines that `decode` prints into bytes of PROTOCOL.

    FILE has one JSON object per line. `-`, or no FILE, is stdin. Lines of bytes that could not be decoded give these bytes back.
    """
    from wiregen.formats.jsonl import LineEncoder
    from wiregen.schema.lowering import lower
    from wiregen.tools.cli.input import open_lines
    from wiregen.tools.cli.output import destination, refuse_terminal
    from wiregen.tools.cli.protocol_options import limits_of, role_of, variant_of
    from wiregen.tools.cli.protocols import carrier_of

    refuse_terminal(output)
    subject, carrier = carrier_of(protocol, backend)
    schema = lower(subject.protocol)
    encoder = LineEncoder(
        schema,
        variant=variant_of(schema, variant),
        limits=limits_of(schema, limits),
        is_canonical=canonical,
        carrier=carrier,
    )
    chosen = _Choice(flow, role_of(schema, role))
    with open_lines(file) as lines, destination(output) as out:
        for data in _encoded(lines, encoder, chosen, schema):
            out.write(data)
    return DONE


class _Choice:
    """Selects the lines that are written: those of one direction of one connection."""

    def __init__(self, flow: str | None, role: str | None) -> None:
        self._flow = flow
        self._role = role
        self._only: tuple[object, object] | None = None
        self._flows: dict[str, None] = {}

    def takes(self, line: dict[str, object]) -> bool:
        """Return whether to write a line.

        Raises:
            LineError: The selected lines belong to more than one direction.
        """
        from wiregen.formats.jsonl import LineError

        flow, role = line.get("flow"), line.get("from")
        if flow is None:
            return True
        self._flows[str(flow)] = None
        if self._flow not in (None, flow) or self._role not in (None, role):
            return False
        self._only = self._only or (flow, role)
        if self._only != (flow, role):
            raise LineError(
                f"the line is of {flow} from {role}, but earlier lines are of {self._only[0]} from {self._only[1]}"
            )
        return True

    def check(self) -> None:
        """Refuse a selection that matched no line."""
        if self._flows and self._only is None:
            known = ", ".join(self._flows)
            raise Failure("no line has this connection and role", f"the connections are {known}")


def _encoded(
    lines: Iterator[bytes], encoder: "LineEncoder", choice: _Choice, schema: "Schema"
) -> Iterator[bytes]:
    """Yield the bytes of each line."""
    from wiregen.formats.jsonl import LineError, loads
    from wiregen.runtime.codec.errors import EncodeError

    for number, text in enumerate(lines, 1):
        if not text.strip():
            continue
        try:
            line = loads(text, number)
            if choice.takes(line):
                yield encoder.encode(line)
        except LineError as error:
            raise Failure(f"line {number}: {error.why}", _way_out(error.why), code=FINDINGS) from None
        except EncodeError as error:
            raise Failure(f"line {number}: {error}", _mend(error, schema), code=FINDINGS) from None
    choice.check()


def _mend(error: "EncodeError", schema: "Schema") -> str:
    """Return the way out, with the nearest name if the line has an unknown one."""
    from wiregen.formats.jsonl import NOTHING_LEFT
    from wiregen.language.diagnostics import did_you_mean

    if error.expected == NOTHING_LEFT:
        return "only native bytes can contain it; `--canonical` writes the frame without it"
    kind, _, name = error.found.partition(" ")
    known = {"message": schema.messages, "field": error.expected.split(", ")}.get(kind, ())
    return did_you_mean(name.strip("'\""), known) or "correct that field of the line, or remove the line"


def _way_out(why: str) -> str:
    if "but earlier lines are of" in why:
        return _ONE_DIRECTION
    return "correct or remove the line: each line is one JSON object, as `wiregen decode --format jsonl` prints it"
