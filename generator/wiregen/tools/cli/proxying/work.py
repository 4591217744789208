"""The work of a proxy's second thread on one connection: bytes are decoded, judged, counted and shown."""

from collections.abc import Iterable
from dataclasses import dataclass

from wiregen.tools.cli.proxying.faults import ConnectionFaults, MessageFaults, Passage
from wiregen.tools.cli.proxying.observing import Observation, ObservedConnection
from wiregen.tools.cli.proxying.screen import Screen
from wiregen.tools.cli.proxying.totals import Totals
from wiregen.tools.cli.replayed import Replayed

__all__ = ["ConnectionWork", "Forwarded", "SharedWork"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Forwarded:
    """Bytes to forward. `is_cut`: the connection ends after them. `is_wrong`: there was an error or a violation."""

    data: bytes
    is_cut: bool
    is_wrong: bool


class SharedWork:
    """The common part of the work on all connections; only one thread at a time may use it.

    Attributes:
        is_over: The rest of the work is dropped.
    """

    def __init__(
        self, observation: Observation, screen: Screen, totals: Totals, faults: MessageFaults
    ) -> None:
        self.observation = observation
        self.faults = faults
        self.screen = screen
        self.totals = totals
        self.is_over = False


class ConnectionWork:
    """The work on one connection.

    `take`, `finish` and `expire` return whether they found an error or a violation; the bytes are forwarded already.
    """

    def __init__(self, shared: SharedWork, flow: str, now: float) -> None:
        self._shared = shared
        self._observed = ObservedConnection(shared.observation, flow, now)
        self._faults = ConnectionFaults(shared.faults)

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

    def filter(self, role: str, data: bytes, time: float) -> Forwarded:
        """Process bytes of a role, and return those to forward in their place; a cut frame waits for its end."""
        return self._filtered(self._observed.take(role, data, time))

    def filter_end(self, role: str, time: float) -> Forwarded:
        """Process the end of a role's direction, and return the bytes that have waited."""
        return self._filtered(self._observed.finish(role, time))

    def _filtered(self, found: Iterable[Replayed]) -> Forwarded:
        parts, is_wrong, passage = [], False, Passage(data=b"")
        for replayed in found:
            if self._shared.is_over or passage.is_cut:
                break
            passage = Passage(data=b"")
            if replayed.decoded is not None:
                passage = self._faults.passage(replayed.decoded)
            parts.append(passage.data)
            is_wrong |= self._show(replayed, passage.actions)
        self._shared.screen.flush()
        return Forwarded(data=b"".join(parts), is_cut=passage.is_cut, is_wrong=is_wrong)

    def _show(self, replayed: Replayed, actions: tuple[str, ...] = ()) -> bool:
        """Count and show a frame, an error or a timer; return whether it is an error or has a violation."""
        if replayed.decoded is not None and self._observed.is_repeated(replayed.decoded):
            return False
        self._shared.totals.add(replayed, actions)
        self._shared.screen.show(replayed, actions)
        return replayed.is_fault or any(not each.lenient for each in replayed.violations)

    def _report(self, found: Iterable[Replayed]) -> bool:
        is_wrong = False
        for replayed in found:
            if self._shared.is_over:
                break
            is_wrong |= self._show(replayed)
        self._shared.screen.flush()
        return is_wrong
