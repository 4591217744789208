"""What the command says beside its result: on stderr, with what came from outside made visible."""

import os
import sys
from typing import TextIO

__all__ = ["has_colour", "is_terminal", "tell", "tell_error"]


def tell(text: str) -> None:
    """Print a line on stderr; control, bidi and escape characters become escapes."""
    from wiregen.language.diagnostics import visible

    print(visible(text, keep="\n"), file=sys.stderr)


def tell_error(message: str, way_out: str | None = None) -> None:
    """Print an error as the diagnostics look, the way out below it."""
    tell(f"error: {message}")
    if way_out:
        tell(f"  = help: {way_out}")


def is_terminal(stream: TextIO) -> bool:
    """Tell whether somebody looks at the stream; a closed one has nobody."""
    try:
        return stream.isatty()
    except ValueError:
        return False


def has_colour(stream: TextIO) -> bool:
    """Tell whether to colour what goes to the stream: a terminal that can, and no wish against it.

    Source: no-color.org, NO_COLOR counts when it is not empty.
    """
    return is_terminal(stream) and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"
