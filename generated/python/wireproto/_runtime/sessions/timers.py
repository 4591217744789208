"""Which instance's timer runs out next.

Each instance that waits stands in the heap at a time no later than its own: a timer that is begun anew is moved there only
when its old time comes.
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
        """Take note of the time that an instance waits for."""
        due = instance.due
        if due is not None and (instance.queued is None or due < instance.queued):
            self.push(instance, due)

    def push(self, instance: Instance, due: float) -> None:
        """Have an instance stand at a time that is earlier than all where it does."""
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
