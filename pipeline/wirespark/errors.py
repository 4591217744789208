"""The one error of this package: what a user can mend, and how."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager

__all__ = ["WireSparkError", "as_it_was_said"]

_SAID = re.compile(r"\bWireSparkError: (.+)$", re.MULTILINE)


class WireSparkError(ValueError):
    """Something that was asked for cannot be done; the text names the way out."""


@contextmanager
def as_it_was_said() -> Iterator[None]:
    """Have what a worker says in the block be raised as it was there, without the stacks of two languages around it."""
    from pyspark.errors import PySparkException

    try:
        yield
    except PySparkException as error:
        said = _SAID.findall(str(error))
        if not said:
            raise
        raise WireSparkError(said[-1]) from None
