"""Objects that a process makes once, such as clients of storages: a child of a fork makes its own.

Invariant: a child never drops the objects of its parent, whose threads it does not have: hdfs-native would wait for them.
"""

from __future__ import annotations

import os
from collections import defaultdict
from collections.abc import Callable
from threading import Lock
from typing import Generic, TypeVar, TypeVarTuple

__all__ = ["OfProcess"]

Given = TypeVarTuple("Given")
Made = TypeVar("Made")


class OfProcess(Generic[*Given, Made]):
    """A function whose results are kept, for each process. It is used as a decorator; arguments are hashable."""

    def __init__(self, make: Callable[[*Given], Made]) -> None:
        self._make = make
        self._kept: dict[tuple[int, *Given], Made] = {}
        self._locks: defaultdict[int, Lock] = defaultdict(Lock)

    def __call__(self, *given: *Given) -> Made:
        process = os.getpid()
        key = (process, *given)
        with self._locks[process]:  # of its own, as a fork may happen while another thread has the parent's
            if key not in self._kept:
                self._kept[key] = self._make(*given)
            return self._kept[key]

    @property
    def was_used_by_parent(self) -> bool:
        """Return whether this is a fork of a process that has results."""
        return any(process != os.getpid() for process, *_ in self._kept)

    def cache_clear(self) -> None:
        self._kept.clear()
