"""`wiregen vectors`: writes and checks conformance vectors, and checks other implementations with them."""

import importlib

import click

from wiregen.tools.cli.failure import Failure

__all__ = ["verb"]

_VERBS = {
    "build": "Build the vectors of the protocols of the project.",
    "run": "Check an implementation, in any language, against vectors.",
    "testee": "Answer the requests of `vectors run` with generated code.",
    "verify": "Check files of vectors.",
}


class VectorsGroup(click.Group):
    """A group whose verbs are modules of this package."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(_VERBS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in _VERBS:
            way_out = f"the commands are {', '.join(_VERBS)}"
            raise Failure(f"there is no command `vectors {cmd_name}`", way_out)
        verb: click.Command = importlib.import_module(f"wiregen.tools.cli.vectors_{cmd_name}").verb
        return verb

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Verbs"):
            formatter.write_dl(list(_VERBS.items()))


@click.group("vectors", cls=VectorsGroup, subcommand_metavar="VERB [ARGUMENTS]...")
def verb() -> None:
    """Build conformance vectors, and check implementations against them."""
