"""State and sequence diagrams of sessions as data, without a layout.

Invariant: a diagram follows from the model alone, and two runs return the same one.
"""

from __future__ import annotations

import dataclasses

from wiregen.site.diagrams.sequences import (
    Happening,
    SentMessage,
    SequenceDiagram,
    conversations,
    sequence_diagram,
)
from wiregen.site.diagrams.states import Arrow, DrawnState, Edge, StateDiagram, state_diagrams

__all__ = [
    "Arrow",
    "DrawnState",
    "Edge",
    "Happening",
    "SentMessage",
    "SequenceDiagram",
    "StateDiagram",
    "as_data",
    "conversations",
    "sequence_diagram",
    "state_diagrams",
]


def as_data(diagram: StateDiagram | SequenceDiagram) -> dict[str, object]:
    """Return a diagram as data for JSON; a state diagram includes its arrows."""
    data = dataclasses.asdict(diagram)
    if isinstance(diagram, StateDiagram):
        data["arrows"] = [dataclasses.asdict(arrow) for arrow in diagram.arrows]
    return data
