"""State and sequence diagrams of sessions as data, for whoever draws them.

Invariant: what is here follows from the model, and two runs give the same; nothing is laid out.
"""

from __future__ import annotations

import dataclasses

from wiregen.site.diagrams.sequences import Happening, Said, SequenceDiagram, conversations, sequence_diagram
from wiregen.site.diagrams.states import Arrow, Edge, Node, StateDiagram, state_diagrams

__all__ = [
    "Arrow",
    "Edge",
    "Happening",
    "Node",
    "Said",
    "SequenceDiagram",
    "StateDiagram",
    "as_data",
    "conversations",
    "sequence_diagram",
    "state_diagrams",
]


def as_data(diagram: StateDiagram | SequenceDiagram) -> dict[str, object]:
    """Return a diagram as what JSON holds; a state diagram with its arrows."""
    data = dataclasses.asdict(diagram)
    if isinstance(diagram, StateDiagram):
        data["arrows"] = [dataclasses.asdict(arrow) for arrow in diagram.arrows]
    return data
