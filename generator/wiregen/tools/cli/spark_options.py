"""The options that the commands of `wiregen spark` share."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, TypeVar

import click

from wiregen.tools.cli import shared_options

__all__ = ["of_reading", "of_spark"]

Command = TypeVar("Command", bound=Callable[..., object])

_READING: Final = (
    shared_options.spark_protocol,
    shared_options.spark_role,
    shared_options.variant,
    click.option(
        "--backend", metavar="NAME", help="Serialization of the bytes. Default: native, the protocol's own."
    ),
    shared_options.capture_port,
    shared_options.strict,
    click.option(
        "--kernel",
        type=click.Choice(["auto", "on", "off"]),
        default="auto",
        show_default=True,
        help="Decode with compiled kernels: where numba is installed, always, or never.",
    ),
    click.option(
        "--split",
        metavar="SIZE",
        default="64MiB",
        show_default=True,
        help="Size of the part of a file that one task reads, in bytes.",
    ),
    click.option(
        "--batch",
        metavar="SIZE",
        default="1MiB",
        show_default=True,
        help="Number of bytes that are decoded into one batch of rows.",
    ),
)
_SPARK: Final = (shared_options.spark_master, shared_options.spark_remote)


def of_reading(command: Command) -> Command:
    """Add the options of a read to a command; their values are those of `format("wire")`, and `role`."""
    return _with(command, _READING)


def of_spark(command: Command) -> Command:
    """Add the options that choose a Spark to a command."""
    return _with(command, _SPARK)


def _with(command: Command, options: tuple[Callable[[Command], Command], ...]) -> Command:
    for option in reversed(options):
        command = option(command)
    return command
