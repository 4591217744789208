"""Shared parts of `vectors run` and `fuzz`: a command after `--`, started without a shell."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

import click

from wiregen.tools.cli.failure import Failure

if TYPE_CHECKING:
    from wiregen.conformance.vectors.adapters import AdapterProgram

__all__ = ["AdapterCommand", "command_of", "opened"]

_KEY = "wiregen.testee"


class AdapterCommand(click.Command):
    """A verb whose arguments end at the first `--`, which is followed by a command."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        at = args.index("--") if "--" in args else len(args)
        ctx.meta[_KEY] = tuple(args[at + 1 :])
        return super().parse_args(ctx, args[:at])


def command_of() -> tuple[str, ...]:
    """Return the command after `--`, or () without one."""
    command: tuple[str, ...] = click.get_current_context().meta[_KEY]
    return command


@contextmanager
def opened(command: tuple[str, ...], protocol: str, seconds: float) -> "Iterator[AdapterProgram]":
    """Start an implementation, and end it with the block."""
    from wiregen.conformance.vectors.adapters import AdapterBounds, AdapterProgram, StartError

    try:
        implementation = AdapterProgram(command, protocol, AdapterBounds(seconds=seconds))
    except StartError as error:
        raise Failure(
            str(error),
            "the command must answer each JSON line on stdin with a line on stdout: docs/vectors.md",
        ) from None
    with implementation:
        yield implementation
