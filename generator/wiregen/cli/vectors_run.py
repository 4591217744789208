"""`wiregen vectors run`: another implementation, in any language, held to vectors over its stdin and stdout."""

import click

from wiregen.cli.failure import Failure
from wiregen.cli.testee import TesteeCommand

__all__ = ["verb"]


@click.command("run", cls=TesteeCommand)
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
    "--timeout", type=click.FloatRange(0.05), default=10.0, show_default=True, help="Seconds for an answer."
)
@click.option(
    "--format", "format_", type=click.Choice(["text", "json", "junit"]), default="text", show_default=True
)
@click.option("--large", is_flag=True, help="With vectors of more than 1 MiB, which take their time.")
def verb(
    protocol: str,
    files: tuple[str, ...],
    only: tuple[str, ...],
    expected: str | None,
    timeout: float,
    format_: str,
    large: bool,
) -> int:
    """Hold an implementation of PROTOCOL (a name, or a path to a .wire file) to vectors.

    COMMAND is started without a shell and answers requests, a JSON object in a line each way (docs/vectors.md). Without FILE,
    the vectors are those that `wiregen vectors build` wrote. Exits with 1 if a vector fails that was not expected to, or
    passes that was.
    """
    from wiregen.cli.judging import expected_of, judged, report, vectors_of
    from wiregen.cli.protocols import spoken
    from wiregen.cli.testee import command_of, opened
    from wiregen.plan import lower

    command = command_of()
    if not command:
        raise Failure("no implementation is named", f"as in: wiregen vectors run {protocol} -- COMMAND")
    plan = lower(spoken(protocol).protocol)
    vectors = vectors_of(files, plan, only)
    known = expected_of(expected)
    if only:
        known = {id_: reason for id_, reason in known.items() if id_ in only}
    with opened(command, plan["name"], timeout) as door:
        return report(judged(vectors, (door,), with_large=large or bool(only)), known, door.name, format_)
