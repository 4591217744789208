"""`wiregen vectors run`: checks another implementation, in any language, with vectors: a program, or a live peer."""

from typing import Any

import click

from wiregen.tools.cli import shared_options
from wiregen.tools.cli.adapter import AdapterCommand
from wiregen.tools.cli.endpoints import EndpointOptions
from wiregen.tools.cli.failure import Failure

__all__ = ["verb"]


@click.command("run", cls=AdapterCommand)
@shared_options.protocol
@click.argument("files", nargs=-1, metavar="[FILE]... -- COMMAND [ARGUMENT]...")
@click.option("--only", multiple=True, metavar="ID", help="Run only this vector. May be repeated.")
@click.option(
    "--expected-failures",
    "expected",
    metavar="FILE",
    help="File of vectors that are expected to fail: one id per line, then `# reason`.",
)
@click.option(
    "--timeout",
    type=click.FloatRange(0.05),
    default=10.0,
    show_default=True,
    help="Time for an answer, in seconds. For a live peer, the time until it refuses a violation.",
)
@shared_options.report_format
@shared_options.large
@click.option(
    "--connect",
    metavar="HOST:PORT",
    help="Check a live peer that listens at this address, with conversation traces.",
)
@click.option(
    "--listen",
    metavar="[HOST:]PORT",
    help="Check a live peer that connects to this port, with conversation traces. 0 is any free port.",
)
@click.option(
    "--role", metavar="ROLE", help="Role of the peer. Default: the first role of the protocol connects."
)
@click.option("--tls", is_flag=True, help="Use TLS 1.2 or later.")
@click.option(
    "--ca", type=shared_options.PEM, help="PEM file of the authority that signed the peer's certificate."
)
@click.option("--cert", type=shared_options.PEM, help="PEM file of the runner's own certificate.")
@click.option("--key", type=shared_options.PEM, help="PEM file of the key of --cert.")
@shared_options.tls_name
@click.option(
    "--strict",
    is_flag=True,
    help="Expect the peer to refuse deviations that the protocol declares as lenient.",
)
@shared_options.session_options
@click.option(
    "--limit",
    "limits",
    multiple=True,
    metavar="NAME=VALUE",
    help="Set a limit of the peer, for example `frame=1MiB`. May be repeated.",
)
@click.option(
    "--without",
    multiple=True,
    metavar="MESSAGE",
    help="Send other messages instead of this one. May be repeated.",
)
@click.option(
    "--refusal",
    "refusals",
    multiple=True,
    metavar="MESSAGE",
    help="Accept this message of the peer as a refusal too. May be repeated.",
)
@click.option(
    "--quiet",
    type=click.FloatRange(0.01),
    default=0.5,
    show_default=True,
    help="Time after which an open connection counts as accepted, in seconds.",
)
@click.option(
    "--pause",
    type=click.FloatRange(0),
    default=5.0,
    show_default=True,
    help="Longest pause of a trace, in seconds.",
)
@click.option(
    "--at-once",
    type=click.IntRange(1, 256),
    default=8,
    show_default=True,
    help="Number of connections at the same time.",
)
def verb(
    protocol: str,
    files: tuple[str, ...],
    only: tuple[str, ...],
    expected: str | None,
    timeout: float,
    format_: str,
    large: bool,
    **live: Any,
) -> int:
    """Check an implementation of PROTOCOL (a name, or a path to a .wire file) against vectors.

    COMMAND is started without a shell. It answers each request, a line of JSON, with a line of JSON. With --connect or --listen the
    implementation is a live peer, and the conversation traces are played over TCP or TLS (docs/vectors.md). Without FILE,
    the vectors of `wiregen vectors build` are used. Exits with 1 if a vector fails unexpectedly, or
    passes although it was expected to fail.
    """
    from wiregen.conformance.vectors.endpoints import AnswerCounts
    from wiregen.schema.lowering import lower
    from wiregen.tools.cli.adapter import command_of, opened
    from wiregen.tools.cli.endpoints import verdicts_of
    from wiregen.tools.cli.protocols import spoken
    from wiregen.tools.cli.verification import expected_of, judged, report, vectors_of

    command, endpoint = command_of(), EndpointOptions(timeout=timeout, **live)
    _check_one(protocol, bool(command), endpoint)
    if command:
        _check_not_live(live)
    else:
        endpoint.network()  # errors in its options are reported before files are read
    schema = lower(spoken(protocol).protocol)
    vectors = vectors_of(files, schema, only)
    known = expected_of(expected)
    if only:
        known = {id_: reason for id_, reason in known.items() if id_ in only}
    if not command:
        side = endpoint.side(schema, vectors_of(files, schema))
        answers = AnswerCounts()
        verdicts = verdicts_of(endpoint, schema, vectors, side, answers)
        return report(verdicts, known, endpoint.name(side), format_, lambda: endpoint.notes(answers))
    with opened(command, schema.name, timeout) as implementation:
        return report(
            judged(vectors, (implementation,), with_large=large or bool(only)),
            known,
            implementation.name,
            format_,
        )


def _check_not_live(live: dict[str, object]) -> None:
    """Refuse options of a live peer that are given together with a command."""
    context = click.get_current_context()
    for name in live:
        if context.get_parameter_source(name) == click.core.ParameterSource.COMMANDLINE:
            option = next(each.opts[0] for each in context.command.params if each.name == name)
            raise Failure(
                f"{option} is only for a live peer",
                "remove it if -- COMMAND is given: each vector contains its own settings",
            )


def _check_one(protocol: str, is_program: bool, endpoint: EndpointOptions) -> None:
    """Check that exactly one implementation is named."""
    n_named = is_program + (endpoint.connect is not None) + (endpoint.listen is not None)
    if n_named == 0:
        raise Failure(
            "the implementation is missing",
            f"write `wiregen vectors run {protocol} -- COMMAND`, or add --connect HOST:PORT or --listen PORT",
        )
    if n_named > 1:
        raise Failure("several implementations are given", "give only one of COMMAND, --connect and --listen")
