"""`wiregen docs`: the site of the project's protocols."""

import importlib

import click

from wiregen.tools.cli.failure import Failure

__all__ = ["verb"]

_VERBS = {
    "build": "Build the site, with one page for each message.",
    "serve": "Serve the site to a browser, and rebuild it at each change.",
}


class DocsGroup(click.Group):
    """A group whose verbs are modules of this package."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(_VERBS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in _VERBS:
            raise Failure(f"there is no command `docs {cmd_name}`", f"the commands are {', '.join(_VERBS)}")
        verb: click.Command = importlib.import_module(f"wiregen.tools.cli.docs_{cmd_name}").verb
        return verb

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Verbs"):
            formatter.write_dl(list(_VERBS.items()))


@click.group("docs", cls=DocsGroup, subcommand_metavar="VERB [ARGUMENTS]...")
def verb() -> None:
    """Build or serve the documentation site of protocols."""
