"""Work that is counted, and not timed: no machine's speed changes it."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any, Self

__all__ = ["Lines", "work"]


class Lines:
    """Counts the lines of Python that run within it."""

    def __init__(self) -> None:
        self.count = 0
        self._before: Any = None

    def __enter__(self) -> Self:
        self._before = sys.gettrace()
        sys.settrace(self._take)
        return self

    def __exit__(self, *_: object) -> None:
        sys.settrace(self._before)

    def _take(self, frame: Any, event: str, argument: Any) -> Any:
        self.count += event == "line"
        return self._take


def work(run: Callable[[], object]) -> int:
    """Return how many lines of Python a call runs."""
    with Lines() as lines:
        run()
    return lines.count
