"""The only error of this package: a problem that the user can fix, and how."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager

__all__ = ["WireSparkError", "as_it_was_said"]

_SAID = re.compile(r"\bWireSparkError: (.+)$", re.MULTILINE)


class WireSparkError(ValueError):
    """A request that cannot be fulfilled; the text says how to fix it."""


@contextmanager
def as_it_was_said() -> Iterator[None]:
    """Raise the error of a worker in this block as it was raised there, without the stacks of two languages."""
    from pyspark.errors import PySparkException

    try:
        yield
    except PySparkException as error:
        said = _SAID.findall(str(error))
        if not said:
            raise
        raise WireSparkError(said[-1]) from None
