"""Types of options for argparse: numbers within bounds, and files that must be readable. A bad value ends a command with exit code 2."""

from __future__ import annotations

import argparse
import errno
import math
from collections.abc import Callable
from pathlib import Path

__all__ = ["MAX_SECONDS", "integer", "regular_file", "seconds", "tls_options"]

MAX_SECONDS = 2_000_000.0
"""The longest time that an option takes: 23 days, whose milliseconds fit into 31 bits."""


def integer(minimum: int, maximum: int) -> Callable[[str], int]:
    """Return a type that takes decimal integers in `minimum .. maximum`."""

    def parse(text: str) -> int:
        digits = text.removeprefix("-")
        is_number = digits.isascii() and digits.isdecimal() and len(digits) <= 20
        if not is_number or not minimum <= int(text) <= maximum:
            raise argparse.ArgumentTypeError(f"{text!r} is not an integer in {minimum} .. {maximum}")
        return int(text)

    return parse


def seconds(minimum: float) -> Callable[[str], float]:
    """Return a type that takes finite numbers of seconds in `minimum .. MAX_SECONDS`."""

    def parse(text: str) -> float:
        try:
            value = float(text)
        except ValueError:
            value = math.nan
        if not minimum <= value <= MAX_SECONDS:
            raise argparse.ArgumentTypeError(
                f"{text!r} is not a number of seconds in {minimum:g} .. {MAX_SECONDS:.0f}"
            )
        return value

    return parse


def regular_file(path: str) -> str:
    """Return the path of a regular file that can be read.

    Raises:
        ArgumentTypeError: It cannot, or is a pipe, on which TLS would wait, a device or a folder; the message names the file.
    """
    try:
        if not Path(path).is_file() and Path(path).exists():
            raise OSError(errno.EINVAL, "not a regular file")
        with Path(path).open("rb"):
            return path
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else error
        raise argparse.ArgumentTypeError(f"cannot read {path!r}: {reason}") from None


def tls_options(arguments: argparse.Namespace, *names: str) -> str:
    """Return the given ones of these options with their files, for a message: `--cert a.pem, --key b.pem`."""
    values = {name: getattr(arguments, name.replace("-", "_")) for name in names}
    return ", ".join(f"--{name} {value}" for name, value in values.items() if value)
