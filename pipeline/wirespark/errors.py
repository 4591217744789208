"""The only error of this package: a problem that the user can fix, and how."""

from __future__ import annotations

import builtins
import re
from collections.abc import Iterator
from contextlib import contextmanager

__all__ = ["WireSparkError", "as_it_was_said", "first_line"]

_SAID = re.compile(r"\bWireSparkError: (.+)$", re.MULTILINE)
_RAISED = re.compile(
    r"^(?!org\.|java\.)([A-Za-z_][\w.]*(?:Error|Exception|Interrupt|Exit)): (.+)$", re.MULTILINE
)
_OF_THE_SYSTEM = {
    name for name, each in vars(builtins).items() if isinstance(each, type) and issubclass(each, OSError)
}
_NUMBER = re.compile(r"^(.*Detail: )?\[errno \d+\] ", re.IGNORECASE)


class WireSparkError(ValueError):
    """A request that cannot be fulfilled; the text says how to fix it."""


def first_line(error: Exception) -> str:
    """Return the first line of an error's text: those of libraries in C++ have the whole request."""
    return (str(error).splitlines() or [type(error).__name__])[0]


@contextmanager
def as_it_was_said() -> Iterator[None]:
    """Raise the error of a worker in this block as it was raised there, without the stacks of two languages.

    Raises:
        WireSparkError: The worker raised one, or an error of the system, such as that of a full disk.
    """
    from pyspark.errors import PySparkException

    try:
        yield
    except PySparkException as error:
        said = _said(str(error))
        if said is None:
            raise
        raise WireSparkError(said) from None


def _said(text: str) -> str | None:
    """Return the sentence of the error in the text of one of Spark, or None if it is a bug."""
    own = _SAID.findall(text)
    if own:
        return str(own[-1])
    name, why = (_RAISED.findall(text) or [("", "")])[-1]
    if name not in _OF_THE_SYSTEM:
        return None
    words, quote, path = _NUMBER.sub("", why).rstrip(".").partition("'")
    why = words.replace(": ", ", ") + quote + path
    return f"a task failed ({why}): repair the cause, and run it again"
