"""The work of a proxy's second thread on one connection: bytes are decoded, judged, counted and shown."""

from collections.abc import Iterable

from wiregen.tools.cli.proxying.observing import Observation, ObservedConnection
from wiregen.tools.cli.proxying.screen import Screen
from wiregen.tools.cli.proxying.totals import Totals
from wiregen.tools.cli.replayed import Replayed

__all__ = ["ConnectionWork", "SharedWork"]


class SharedWork:
    """The common part of the work on all connections; only one thread at a time may use it.

    Attributes:
        is_over: The rest of the work is dropped.
    """

    def __init__(self, observation: Observation, screen: Screen, totals: Totals) -> None:
        self.observation = observation
        self.screen = screen
        self.totals = totals
        self.is_over = False


class ConnectionWork:
    """The work on one connection. Each method returns whether it found an error or a violation."""

    def __init__(self, shared: SharedWork, flow: str, now: float) -> None:
        self._shared = shared
        self._observed = ObservedConnection(shared.observation, flow, now)

    def take(self, role: str, data: bytes, time: float, n_missing: int = 0) -> bool:
        """Process bytes of a role, before which `n_missing` were not decoded."""
        is_wrong = bool(n_missing) and self._report(self._observed.gap(role, n_missing, time))
        return self._report(self._observed.take(role, data, time)) or is_wrong

    def finish(self, role: str, time: float, n_missing: int = 0) -> bool:
        """Process the end of a role's direction."""
        is_wrong = bool(n_missing) and self._report(self._observed.gap(role, n_missing, time))
        return self._report(self._observed.finish(role, time)) or is_wrong

    def expire(self, now: float) -> bool:
        """Process the timers of the sessions."""
        return self._report(each for each in self._observed.expire(now) if each.violations)

    def _report(self, found: Iterable[Replayed]) -> bool:
        is_wrong = False
        for replayed in found:
            if self._shared.is_over:
                break
            self._shared.totals.add(replayed)
            self._shared.screen.show(replayed)
            is_wrong |= replayed.is_fault or any(not each.lenient for each in replayed.violations)
        self._shared.screen.flush()
        return is_wrong
