"""The group of verbs: each is found by name and imported when called; and the end of every run."""

import gc
import importlib
import os
import sys
from collections.abc import Sequence
from contextlib import suppress
from io import TextIOWrapper
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NoReturn

import click

from wiregen import __version__
from wiregen.tools.cli.failure import BUG, DONE, INTERRUPTED, PIPE_CLOSED, USAGE, Failure
from wiregen.tools.cli.messages import tell, tell_error

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

__all__ = ["COMPLETION", "main", "wiregen"]

COMPLETION: Final = "_WIREGEN_COMPLETE"
"""The environment variable by which a shell's script asks for completions."""
_ALLOCATIONS: Final = 2_000
"""New objects between two collections of cycles. Trees of many objects are hardly ever cycles: with Python's 700, `vectors verify`
takes a third longer."""
_VERBS = {
    "breaking": "Find changes since an older state that peers or programs notice.",
    "build": "Write the generated packages of the project's protocols.",
    "check": "Check .wire files.",
    "completion": "Print the script with which a shell completes commands.",
    "decode": "Decode bytes, or a capture, into messages.",
    "diff": "Compare two recordings by the meaning of their messages.",
    "docs": "Build or serve the documentation site of protocols.",
    "encode": "Encode the lines that `decode` prints into bytes.",
    "explain": "Explain a diagnostic, an error code, a rule or a lint rule.",
    "fmt": "Format .wire files.",
    "fuzz": "Search for bytes that an implementation and the reference codec decode differently.",
    "ir": "Print the schema of a protocol as JSON.",
    "lint": "List assumptions of .wire files, and find missing sources and documentation.",
    "lsp": "Serve an editor: findings, names and changes of .wire files.",
    "new": "Create a project.",
    "play": "Serve a playground: see and edit the fields of bytes in a browser.",
    "proxy": "Relay connections between two peers, and show their messages.",
    "replay": "Check a recorded connection against the sessions of its protocol.",
    "shrink": "Find the smallest bytes that still have the same error.",
    "simulate": "Be a peer that keeps the sessions of its protocol, to test the other side.",
    "spark": "Convert captured traffic to tables, with Spark.",
    "transcode": "Convert a stream from one serialization to another.",
    "vectors": "Build conformance vectors, and check implementations against them.",
}


class VerbGroup(click.Group):
    """A group whose verbs are modules of this package."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(_VERBS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in _VERBS:
            return None
        verb: click.Command = importlib.import_module(f"wiregen.tools.cli.{cmd_name}").verb
        return verb

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        if args and args[0] not in _VERBS:
            from wiregen.language.diagnostics import did_you_mean

            way_out = did_you_mean(args[0], _VERBS) or f"the commands are {', '.join(_VERBS)}"
            raise Failure(f"there is no command `{args[0]}`", way_out)
        return super().resolve_command(ctx, args)

    def shell_complete(self, ctx: click.Context, incomplete: str) -> "list[CompletionItem]":
        from click.shell_completion import CompletionItem

        verbs = [
            CompletionItem(name, help=text) for name, text in _VERBS.items() if name.startswith(incomplete)
        ]
        return verbs or super().shell_complete(ctx, incomplete)

    def invoke(self, ctx: click.Context) -> object:
        try:
            return super().invoke(ctx)
        except BrokenPipeError:  # click would exit with 1, which means findings
            _forget_stdout()
            return PIPE_CLOSED
        except KeyboardInterrupt:
            return INTERRUPTED

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Verbs"):
            formatter.write_dl(list(_VERBS.items()))

    def main(
        self,
        args: Sequence[str] | None = None,
        prog_name: str | None = None,
        complete_var: str | None = None,
        standalone_mode: bool = True,
        windows_expand_args: bool = True,
        **extra: object,
    ) -> NoReturn:
        """Run and exit; `standalone_mode` belongs to click, and has no effect here."""
        sys.exit(
            _run(
                lambda: super(VerbGroup, self).main(
                    args, prog_name, complete_var or COMPLETION, False, **extra
                )
            )
        )


@click.group(
    cls=VerbGroup,
    subcommand_metavar="VERB [ARGUMENTS]...",
    context_settings={"max_content_width": 100, "help_option_names": ["-h", "--help"]},
)
@click.version_option(__version__, "-V", "--version", prog_name="wiregen", message="%(prog)s %(version)s")
def wiregen() -> None:
    """Compile .wire files of binary protocols: codecs, sessions, documentation and conformance vectors.

    Exit codes: 0: success. 1: findings (errors in a .wire file, stale output, invalid bytes).
    2: wrong usage or configuration. 3: a bug in wiregen.
    """


def main() -> NoReturn:
    """Run the command on the process's arguments."""
    gc.set_threshold(_ALLOCATIONS)
    wiregen.main(prog_name="wiregen")


def _run(command: Any) -> int:
    """Return the exit code of a command, for any exception in it."""
    _prepare_streams()
    try:
        result = command()
        sys.stdout.flush()
    except BrokenPipeError:
        _forget_stdout()
        return PIPE_CLOSED
    except (KeyboardInterrupt, click.Abort):
        return INTERRUPTED
    except click.ClickException as error:
        return _refuse(error)
    except OSError as error:
        return _refuse_by_system(error)
    except Exception as error:  # noqa: BLE001 - the outermost frame: a traceback is no message
        return _confess(error)
    return result if isinstance(result, int) else DONE


def _prepare_streams() -> None:
    """Provide all three streams, even if the caller closed them, and escape characters that stdout cannot print."""
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            stream = open(os.devnull, mode, encoding="utf-8")  # noqa: SIM115 - for good
            setattr(sys, name, stream)
    if isinstance(sys.stdout, TextIOWrapper):
        sys.stdout.reconfigure(errors="backslashreplace")


def _forget_stdout() -> None:
    """Discard the output that is flushed at the interpreter's end: the reader has closed the pipe."""
    with suppress(OSError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _refuse(error: click.ClickException) -> int:
    if isinstance(error, Failure):
        error.show()
        return error.code
    context = error.ctx if isinstance(error, click.UsageError) else None
    if isinstance(error, click.exceptions.NoArgsIsHelpError):
        print(error.message, file=sys.stderr)
        return USAGE
    path = context.command_path if context is not None else "wiregen"
    tell_error(_as_message(error.format_message()), f"`{path} --help` lists the options")
    return USAGE


def _as_message(text: str) -> str:
    """Return a message of click in the style of ours; choices are on lines of their own there."""
    line = " ".join(text.split()).replace(". Choose from:", ", choose from")
    return line[:1].lower() + line[1:].rstrip(".")


def _refuse_by_system(error: OSError) -> int:
    name = f"`{error.filename}`: " if error.filename is not None else ""
    tell_error(
        f"{name}{(error.strerror or str(error)).lower()}",
        "check the path, its permissions and the free space of the disk",
    )
    return USAGE


def _confess(error: Exception) -> int:
    """Report a bug of wiregen; the traceback is printed only on request, because it may show payload."""
    import traceback

    from wiregen.tools.cli.declared_at import declared_at

    if os.environ.get("WIREGEN_DEBUG") == "1":
        tell("".join(traceback.format_exception(error)).rstrip())
        return BUG
    frames = traceback.extract_tb(error.__traceback__)
    place = f" in {Path(frames[-1].filename).name}:{frames[-1].lineno}" if frames else ""
    declared = declared_at(error)
    place += f", at {declared}" if declared else ""
    tell_error(
        f"a bug in wiregen {__version__}: {type(error).__name__}{place}",
        "please report it with the command and its input; WIREGEN_DEBUG=1 shows the traceback",
    )
    return BUG
