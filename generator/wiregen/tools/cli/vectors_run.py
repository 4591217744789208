"""`wiregen vectors run`: checks another implementation, in any language, with vectors: a program, or a live peer."""

from typing import Any

import click

from wiregen.tools.cli.adapter import AdapterCommand
from wiregen.tools.cli.endpoints import Endpoint
from wiregen.tools.cli.failure import Failure

__all__ = ["verb"]

_PEM = click.Path(exists=True, dir_okay=False)


@click.command("run", cls=AdapterCommand)
@click.argument("protocol")
@click.argument("files", nargs=-1, metavar="[FILE]... -- COMMAND [ARGUMENT]...")
@click.option("--only", multiple=True, metavar="ID", help="Only this vector. May be given again.")
@click.option(
    "--expected-failures",
    "expected",
    metavar="FILE",
    help="Vectors known to fail: one id a line, `# reason` behind it.",
)
@click.option(
    "--timeout",
    type=click.FloatRange(0.05),
    default=10.0,
    show_default=True,
    help="Seconds for an answer; of a live peer, until it refuses a violation.",
)
@click.option(
    "--format", "format_", type=click.Choice(["text", "json", "junit"]), default="text", show_default=True
)
@click.option("--large", is_flag=True, help="With vectors of more than 1 MiB, which take their time.")
@click.option("--connect", metavar="HOST:PORT", help="Hold a live peer that listens there to the traces.")
@click.option(
    "--listen", metavar="[HOST:]PORT", help="Hold a live peer that connects to it; 0: any free port."
)
@click.option("--role", metavar="ROLE", help="The peer's role; by custom the protocol's first role connects.")
@click.option("--tls", is_flag=True, help="Over TLS 1.2 or later.")
@click.option("--ca", type=_PEM, help="PEM file of the authority that signed the peer's certificate.")
@click.option("--cert", type=_PEM, help="PEM file of the runner's own certificate.")
@click.option("--key", type=_PEM, help="PEM file of its key.")
@click.option(
    "--server-name", metavar="NAME", help="The name in the peer's certificate, where it is not HOST."
)
@click.option("--strict", is_flag=True, help="The peer refuses what the protocol calls lenient.")
@click.option("--option", "options", multiple=True, metavar="NAME=VALUE", help="An option of the sessions.")
@click.option(
    "--limit", "limits", multiple=True, metavar="NAME=VALUE", help="A limit of the peer: frame=1MiB."
)
@click.option("--without", multiple=True, metavar="MESSAGE", help="Send others in place of this message.")
@click.option(
    "--refusal", "refusals", multiple=True, metavar="MESSAGE", help="The peer refuses by this, too."
)
@click.option(
    "--quiet",
    type=click.FloatRange(0.01),
    default=0.5,
    show_default=True,
    help="Seconds of an open connection after which the peer has accepted.",
)
@click.option(
    "--pause", type=click.FloatRange(0), default=5.0, show_default=True, help="The longest pause of a trace."
)
@click.option(
    "--at-once", type=click.IntRange(1, 256), default=8, show_default=True, help="Connections at a time."
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
    """Hold an implementation of PROTOCOL (a name, or a path to a .wire file) to vectors.

    COMMAND is started without a shell and answers requests, a JSON object in a line each way. With --connect or --listen the
    implementation is a live peer, and the conversation traces are held with it over TCP or TLS (docs/vectors.md). Without FILE,
    the vectors are those that `wiregen vectors build` wrote. Exits with 1 if a vector fails that was not expected to, or
    passes that was.
    """
    from wiregen.conformance.vectors.endpoints import Answers
    from wiregen.schema.lowering import lower
    from wiregen.tools.cli.adapter import command_of, opened
    from wiregen.tools.cli.endpoints import verdicts_of
    from wiregen.tools.cli.protocols import spoken
    from wiregen.tools.cli.verification import expected_of, judged, report, vectors_of

    command, endpoint = command_of(), Endpoint(timeout=timeout, **live)
    _check_one(protocol, bool(command), endpoint)
    if command:
        _check_not_live(live)
    else:
        endpoint.network()  # errors in its options are reported before files are read
    plan = lower(spoken(protocol).protocol)
    vectors = vectors_of(files, plan, only)
    known = expected_of(expected)
    if only:
        known = {id_: reason for id_, reason in known.items() if id_ in only}
    if not command:
        side = endpoint.side(plan, vectors_of(files, plan))
        answers = Answers()
        verdicts = verdicts_of(endpoint, plan, vectors, side, answers)
        return report(verdicts, known, endpoint.name(side), format_, lambda: endpoint.notes(answers))
    with opened(command, plan.name, timeout) as door:
        return report(judged(vectors, (door,), with_large=large or bool(only)), known, door.name, format_)


def _check_not_live(live: dict[str, object]) -> None:
    """Refuse options of a live peer that are given together with a command."""
    context = click.get_current_context()
    for name in live:
        if context.get_parameter_source(name) == click.core.ParameterSource.COMMANDLINE:
            option = next(each.opts[0] for each in context.command.params if each.name == name)
            raise Failure(
                f"{option} is about a live peer",
                "leave it out with -- COMMAND: each vector says how it is set",
            )


def _check_one(protocol: str, is_program: bool, endpoint: Endpoint) -> None:
    """Check that exactly one implementation is named."""
    n_named = is_program + (endpoint.connect is not None) + (endpoint.listen is not None)
    if n_named == 0:
        raise Failure(
            "no implementation is named",
            f"as in: wiregen vectors run {protocol} -- COMMAND, or with --connect HOST:PORT or --listen PORT",
        )
    if n_named > 1:
        raise Failure("more than one implementation is named", "give one of COMMAND, --connect and --listen")
