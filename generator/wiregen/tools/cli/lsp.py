"""`wiregen lsp`: the language server on stdin and stdout."""

import os
import sys

import click

from wiregen.tools.cli.failure import DONE, Failure

__all__ = ["verb"]


@click.command("lsp")
def verb() -> int:
    """Serve an editor over stdin and stdout, by the Language Server Protocol.

    Editors start this command themselves; docs/guide/editors.md has their settings. It needs the extra `lsp`.
    """
    try:
        from wiregen.tools.editor.server import make_server
    except ModuleNotFoundError as error:
        if error.name is None or error.name.partition(".")[0] not in {"pygls", "lsprotocol"}:
            raise
        raise Failure("the language server needs pygls", "install it: `pip install 'wiregen[lsp]'`") from None
    # The server closes its end of the connection when the editor leaves.
    with os.fdopen(os.dup(sys.stdout.fileno()), "wb") as answers:
        make_server().start_io(stdout=answers)
    return DONE
