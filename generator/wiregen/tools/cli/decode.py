"""`wiregen decode`: bytes, or a capture, to messages; any .wire file will do, nothing has to be built."""

import sys
from contextlib import AbstractContextManager, nullcontext, suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import click

from wiregen.tools.cli import shared_options
from wiregen.tools.cli.clock import TIME_FORMS, Clock, TimeForm
from wiregen.tools.cli.failure import DONE, FINDINGS, Failure
from wiregen.tools.cli.messages import is_terminal, tell

if TYPE_CHECKING:
    from wiregen.generate.backends import Subject
    from wiregen.generate.serialization import Serialization
    from wiregen.tools.cli.decoding_options import DecodingSettings
    from wiregen.tools.cli.frame_query import Answers
    from wiregen.tools.cli.input import Input
    from wiregen.tools.cli.protocols import Decodable
    from wiregen.tools.cli.sinks import Sink

__all__ = ["verb"]

_NATIVE: Final = "native"


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
    default=_NATIVE,
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
    type=click.Choice(["jsonl", "json", "csv", "tree", "hex"]),
    help="Output format; csv needs --select or --group-by. Default: tree on a terminal, otherwise jsonl.",
)
@click.option(
    "--where",
    metavar="EXPR",
    help='Show only frames for which EXPR, an expression of the language, is true: `message == "Ack" and sequence > 10`.',
)
@click.option(
    "--select",
    metavar="EXPR,...",
    help="Show only these values of each frame: fields, or @message, @from, @offset, @size, @time, @flow, @error.",
)
@click.option("--count", "is_counted", is_flag=True, help="Show only the number of frames.")
@click.option(
    "--group-by", metavar="EXPR,...", help="Show the number of frames for each combination of values."
)
@click.option(
    "--time",
    "time_form",
    type=click.Choice(TIME_FORMS),
    default="epoch",
    show_default=True,
    help="Show times in seconds since 1970, as ISO 8601 in UTC, or in seconds since the first frame.",
)
@click.option(
    "--follow",
    "is_followed",
    is_flag=True,
    help="Go on when FILE grows, until Ctrl-C or until FILE is deleted.",
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
    where: str | None,
    select: str | None,
    is_counted: bool,
    group_by: str | None,
    time_form: TimeForm,
    is_followed: bool,
    strict: bool,
    limits: tuple[str, ...],
) -> int:
    """Decode bytes of PROTOCOL (a name, or a path to a .wire file) into messages.

    FILE is one direction of a connection, or a capture (pcap or pcapng, also .gz, .xz, .zst). `-` is stdin. Exits with 1 if
    any bytes could not be decoded.

    Conditions and values name the fields of messages and of their headers: decode PROTOCOL capture.pcap --where 'size > 100'
    --select message,size,@offset

    If a layout depends on earlier messages of the other role, give them: decode PROTOCOL --from server --before client:HEX
    """
    from wiregen.tools.cli.decoding_options import DecodingSettings
    from wiregen.tools.cli.input import from_hex, open_bytes, open_growing, refuse_stdin_twice
    from wiregen.tools.cli.protocol_options import limits_of, role_of, variant_of

    if digits is not None:
        _refuse_beside_hex(file, pcap=pcap, is_followed=is_followed)
    else:
        refuse_stdin_twice(protocol, file or "-")
    if backend != _NATIVE:
        pcap, format_ = _of_carrier(backend, pcap, format_)
    questions = _Questions(where=where, select=select, group_by=group_by, is_counted=is_counted)
    spoken = _spoken(protocol, backend, file, _shape(format_), questions)
    schema = spoken.found.schema
    settings = DecodingSettings(
        schema=schema,
        variant=variant_of(schema, variant),
        limits=limits_of(schema, limits),
        is_strict=strict,
        carrier=spoken.carrier,
        compiled=spoken.found.compiled,
    )
    sender = role_of(schema, role)
    output = _output(spoken.subject, settings, format_, questions, Clock(time_form))
    if digits is not None:
        opened: AbstractContextManager[Input] = nullcontext(from_hex(digits))
    else:
        opened = (open_growing if is_followed else open_bytes)(file, is_capture=pcap)
    with opened as source:
        if source.path is not None and not pcap:
            tell("the input is a capture")
        return _decode(source, settings, sender, before, port, spoken.found.ports, output)


def _refuse_beside_hex(file: str | None, *, pcap: bool | None, is_followed: bool) -> None:
    """Refuse what is for files only."""
    if file is not None:
        raise Failure("--hex and a file are both given", "give only one of them")
    if pcap:
        raise Failure(
            "--pcap is for files, but --hex gives bytes", "remove --pcap, or give the capture as FILE"
        )
    if is_followed:
        raise Failure(
            "--follow needs a file that grows, but --hex gives bytes", "remove --follow, or give a FILE"
        )


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


@dataclass(frozen=True, slots=True, kw_only=True)
class _Questions:
    """The options that choose frames, and values of them."""

    where: str | None
    select: str | None
    group_by: str | None
    is_counted: bool

    @property
    def is_any(self) -> bool:
        return self.is_counted or (self.where, self.select, self.group_by) != (None, None, None)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Spoken:
    """The protocol of a run; `subject` is None if nothing asks for its names, `carrier` for native bytes."""

    found: "Decodable"
    subject: "Subject | None" = None
    carrier: "Serialization | None" = None


def _spoken(protocol: str, backend: str, file: str | None, shape: str, questions: _Questions) -> _Spoken:
    """Return the protocol that the user named; compiled code reads native bytes that become lines."""
    from wiregen.tools.cli.protocols import carrier_of, decodable, decodable_of

    if backend == _NATIVE and shape in ("jsonl", "json") and not questions.is_any:
        return _Spoken(found=decodable(protocol, file))
    subject, carrier = carrier_of(protocol, backend)
    return _Spoken(found=decodable_of(subject), subject=subject, carrier=carrier)


def _shape(format_: str | None) -> str:
    return format_ or ("tree" if is_terminal(sys.stdout) else "jsonl")


@dataclass(frozen=True, slots=True, kw_only=True)
class _Output:
    """The sink of a run, and the questions that frames must answer to reach it."""

    sink: "Sink"
    answers: "Answers | None"
    clock: Clock


def _output(
    subject: "Subject | None",
    settings: "DecodingSettings",
    format_: str | None,
    questions: _Questions,
    clock: Clock,
) -> _Output:
    """Return the output that the options ask for; exit if they do not fit together."""
    from wiregen.tools.cli.sinks import sink

    answers = None
    if questions.is_any:
        from wiregen.tools.cli.frame_query import Answers, frame_query_of

        assert subject is not None and subject.workspace is not None  # of a .wire file
        query = frame_query_of(
            subject.workspace,
            questions.where,
            questions.select,
            questions.group_by,
            is_counted=questions.is_counted,
        )
        answers = Answers(query, settings, clock)
    if answers is None or not (answers.names or questions.is_counted):
        if format_ == "csv":
            raise Failure("--format csv without columns", "name them with --select or --group-by")
        return _Output(sink=sink(_shape(format_), settings, clock), answers=answers, clock=clock)
    from wiregen.tools.cli.query_sinks import answer_sink

    return _Output(sink=answer_sink(answers, format_), answers=answers, clock=clock)


def _decode(
    source: "Input",
    settings: "DecodingSettings",
    role: str | None,
    before: tuple[str, ...],
    port: int | None,
    ports: tuple[int, ...],
    output: _Output,
) -> int:
    """Print the frames and errors in the input; return the exit code."""
    from wiregen.tools.cli.decoded_input import decoded_input
    from wiregen.tools.cli.progress import progress

    n_errors = n_hidden = 0
    ends = (KeyboardInterrupt,) if source.is_followed else ()
    with progress(source.size) as advance, suppress(*ends):
        for decoded in decoded_input(source, settings, role, before, port, ports, advance):
            output.clock.saw(decoded.time)
            is_error = isinstance(decoded.outcome, Exception)
            n_errors += is_error
            if output.answers is None or output.answers.is_asked(decoded):
                output.sink.write(decoded)
            else:
                n_hidden += is_error
    output.sink.close()
    if n_hidden:
        tell(f"errors that are not shown: {n_hidden}; to show them, use --where '@error != null'")
    return FINDINGS if n_errors else DONE
