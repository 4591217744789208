"""The next timer of all instances to run out.

Each waiting instance is in the heap at a time no later than its own: after a restart of its timers, it is
moved only when its old time is reached.
"""

from __future__ import annotations

from heapq import heappop, heappush

from .instances import Instance

__all__ = ["Timers"]


class Timers:
    """A heap of (time, number, instance); the number keeps instances from being compared."""

    def __init__(self) -> None:
        self._heap: list[tuple[float, int, Instance]] = []
        self._n_pushed = 0

    def wait(self, instance: Instance) -> None:
        """Record the time for which an instance waits."""
        due = instance.due
        if due is not None and (instance.queued is None or due < instance.queued):
            self.push(instance, due)

    def push(self, instance: Instance, due: float) -> None:
        """Add an instance at a time that is earlier than all its times in the heap."""
        self._n_pushed += 1
        heappush(self._heap, (due, self._n_pushed, instance))
        instance.queued = due

    def next(self) -> float | None:
        """Return the time of the next timer."""
        while self._heap:
            time, _, instance = self._heap[0]
            if instance.due == time:
                return time
            heappop(self._heap)
            if instance.queued == time:
                instance.queued = None
                self.wait(instance)
        return None

    def pop(self, now: float) -> Instance | None:
        """Return the instance whose timer ran out first, up to now."""
        time = self.next()
        if time is None or time > now:
            return None
        instance = heappop(self._heap)[2]
        instance.queued = None
        return instance
