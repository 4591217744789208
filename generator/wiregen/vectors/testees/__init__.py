"""Implementations in other processes: asked over stdin and stdout, one JSON object in a line each way (docs/vectors.md).

Invariant: whatever the other side does, crash, hang or print garbage, the answer is a `DoorError` and the next question
goes to a new process.
"""

from wiregen.vectors.testees.door import ProgramDoor
from wiregen.vectors.testees.process import Bounds, StartError

__all__ = ["Bounds", "ProgramDoor", "StartError"]
