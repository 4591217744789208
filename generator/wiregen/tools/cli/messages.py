"""Messages of the command apart from its result: on stderr, with text from outside made visible."""

import os
import sys
from typing import Final, TextIO

__all__ = ["UNFINISHED", "has_colour", "is_terminal", "tell", "tell_error"]

UNFINISHED: Final = "a build did not finish; the next one undoes its changes and writes all files"
"""What `--check` says of a tree that a build is writing, or was writing when it was killed."""


def tell(text: str) -> None:
    """Print a line on stderr; control, bidi and escape characters become escapes."""
    from wiregen.language.diagnostics import visible

    print(visible(text, keep="\n"), file=sys.stderr)


def tell_error(message: str, way_out: str | None = None) -> None:
    """Print an error in the style of diagnostics, with the way out below it."""
    tell(f"error: {message}")
    if way_out:
        tell(f"  = help: {way_out}")


def is_terminal(stream: TextIO) -> bool:
    """Return whether the stream is a terminal; a closed one is not."""
    try:
        return stream.isatty()
    except ValueError:
        return False


def has_colour(stream: TextIO) -> bool:
    """Return whether to use colours on the stream: it is a terminal that can show them, and NO_COLOR is not set.

    Source: no-color.org, NO_COLOR counts when it is not empty.
    """
    return is_terminal(stream) and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"
