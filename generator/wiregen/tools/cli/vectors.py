"""`wiregen vectors`: writes and checks conformance vectors, and checks other implementations with them."""

import importlib

import click

from wiregen.tools.cli.failure import Failure

__all__ = ["verb"]

_VERBS = {
    "build": "Write the vectors of the project's protocols.",
    "run": "Hold another implementation, in any language, to vectors.",
    "testee": "Answer `vectors run` with generated code.",
    "verify": "Check files of vectors, whoever wrote them.",
}


class VectorsGroup(click.Group):
    """A group whose verbs are modules of this package."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(_VERBS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in _VERBS:
            way_out = f"the verbs are {', '.join(_VERBS)}"
            raise Failure(f"there is no verb `vectors {cmd_name}`", way_out)
        verb: click.Command = importlib.import_module(f"wiregen.tools.cli.vectors_{cmd_name}").verb
        return verb

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Verbs"):
            formatter.write_dl(list(_VERBS.items()))


@click.group("vectors", cls=VectorsGroup, subcommand_metavar="VERB [ARGUMENTS]...")
def verb() -> None:
    """Vectors by which any implementation of a protocol can be judged."""
