"""The connections of a capture, or of its first part, for the choice on the page."""

from __future__ import annotations

import io
from dataclasses import dataclass, field
from typing import Final, TypeGuard

from wiregen.formats.capture import Closed, Event, Flow, FlowBytes, Gap, read_streams
from wiregen.formats.jsonl import Line

__all__ = ["MOST_TURNS", "connections_of"]

MOST_TURNS: Final = 4096
"""The most changes of the speaker in one connection."""
_MOST_CONNECTIONS: Final = 32
_MOST_BYTES: Final = 1 << 17
"""The most bytes of each direction: a question holds both as digits."""


@dataclass(slots=True, kw_only=True)
class _Connection:
    """`turns`: whether the opener sent, and how many bytes. `ends`: why a direction has no more."""

    flow: Flow
    said: dict[bool, bytearray] = field(default_factory=lambda: {True: bytearray(), False: bytearray()})
    turns: list[tuple[bool, int]] = field(default_factory=list)
    ends: dict[bool, str] = field(default_factory=dict)

    def take(self, event: FlowBytes | Gap) -> None:
        side = event.from_opener
        if side in self.ends:
            return
        if isinstance(event, Gap):
            self.ends[side] = "gap"
            return
        data = event.data[: _MOST_BYTES - len(self.said[side])]
        is_same = bool(self.turns) and self.turns[-1][0] == side
        if len(data) < len(event.data) or not is_same and len(self.turns) >= MOST_TURNS:
            self.ends[side] = "bound"
            data = data if is_same or len(self.turns) < MOST_TURNS else b""
        if data:
            before = self.turns.pop()[1] if is_same else 0
            self.turns.append((side, before + len(data)))
            self.said[side] += data


def connections_of(capture: bytes) -> dict[str, object]:
    """Return the connections of a capture: both directions up to the first gap, and the order of their bytes.

    Raises:
        CaptureError: The bytes are not a capture.
    """
    found: dict[str, _Connection] = {}
    is_cut = False
    events = read_streams(io.BytesIO(capture))
    for event in events:
        if not _has_bytes(event):
            continue
        name = event.flow.name
        if name not in found and len(found) >= _MOST_CONNECTIONS:
            is_cut = True
            continue
        found.setdefault(name, _Connection(flow=event.flow)).take(event)
    return {"connections": [_shown(name, each) for name, each in found.items()], "is_cut": is_cut}


def _has_bytes(event: Event) -> TypeGuard[FlowBytes | Gap]:
    return not isinstance(event, Closed)


def _shown(name: str, connection: _Connection) -> Line:
    sides = [
        {"hex": bytes(connection.said[side]).hex(), "end": connection.ends.get(side, "")}
        for side in (True, False)
    ]
    return {
        "flow": name,
        "sides": sides,
        "turns": [[0 if from_opener else 1, size] for from_opener, size in connection.turns],
    }
