"""The roles of the ends of a connection: by its SYN, by the port, or by what decodes better, found in one pass."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from wiregen.formats.capture import Closed, Event, Flow, FlowBytes, Gap
from wirespark.decoders import context_of
from wirespark.options import Wishes
from wirespark.stream_rows import Walk

__all__ = ["FlowRoles"]

_TRIED = 1 << 20
"""Bytes of a connection that are tried at most."""


class FlowRoles:
    """The roles in the flows of a capture.

    If neither a SYN nor a port tells the roles of a flow, `events` is called once, for all such flows together.
    """

    def __init__(self, wishes: Wishes, events: Callable[[], Iterator[Event]]) -> None:
        self._wishes = wishes
        self._events = events
        roles = wishes.package.schema.roles
        self._first, self._last = roles[0], roles[-1]
        self._guesses: dict[Flow, bool] | None = None

    def of(self, flow: Flow) -> tuple[str, str]:
        """Return the roles of the opener and of the other end."""
        is_opener = self._known(flow)
        if is_opener is None:
            if self._guesses is None:
                self._guesses = self._guessed()
            is_opener = self._guesses.get(flow, True)
        return (self._first, self._last) if is_opener else (self._last, self._first)

    def of_sender(self, event: FlowBytes | Gap) -> str:
        """Return the role of the end that sent something."""
        first, last = self.of(event.flow)
        return first if event.from_opener else last

    def _known(self, flow: Flow) -> bool | None:
        """Return whether the opener has the first role, or None if only the bytes can show it."""
        if flow.saw_syn or flow.by_port:
            return True
        ports = self._wishes.package.columns.PORTS
        opener_has, other_has = flow.opener.port in ports, flow.other.port in ports
        return other_has if opener_has != other_has else None

    def _guessed(self) -> dict[Flow, bool]:
        """Return for each flow whether more of it decodes if its opener has the first role: both ways are tried."""
        found: dict[Flow, bool] = {}
        tried: dict[Flow, _Trial] = {}
        for event in self._events():
            flow = event.flow
            if flow in found or self._known(flow) is not None:
                continue
            if isinstance(event, FlowBytes):
                trial = tried.get(flow)
                if trial is None:
                    trial = tried[flow] = _Trial(self._wishes, self._first, self._last)
                trial.feed(event)
            is_over = isinstance(event, Closed) and event.reason != "fin"
            if flow in tried and (is_over or tried[flow].n_bytes >= _TRIED):
                found[flow] = tried.pop(flow).is_opener_first
        return found | {flow: trial.is_opener_first for flow, trial in tried.items()}


class _Trial:
    """A connection decoded in both ways, from its first bytes on."""

    def __init__(self, wishes: Wishes, first: str, last: str) -> None:
        self.n_bytes = 0
        self._ways = (_Way(wishes, first, last), _Way(wishes, last, first))

    @property
    def is_opener_first(self) -> bool:
        return self._ways[0].score >= self._ways[1].score

    def feed(self, piece: FlowBytes) -> None:
        self.n_bytes += len(piece.data)
        for way in self._ways:
            way.feed(piece)


class _Way:
    """A connection decoded with its ends in the given roles, to count the frames that fit."""

    def __init__(self, wishes: Wishes, opener: str, other: str) -> None:
        context = context_of(wishes)
        self._package = wishes.package
        self._roles = {True: opener, False: other}
        self._walks = {side: Walk(wishes, role, context=context) for side, role in self._roles.items()}
        self._n_whole = 0
        self._n_fitting = 0

    @property
    def score(self) -> tuple[int, int]:
        return self._n_fitting, self._n_whole

    def feed(self, piece: FlowBytes) -> None:
        role = self._roles[piece.from_opener]
        for row in self._walks[piece.from_opener].feed(piece.data):
            if not isinstance(row.item, self._package.native.DecodeError):
                self._n_whole += 1
                self._n_fitting += self._package.may_send(role, getattr(row.item, "message", row.item))
