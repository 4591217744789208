"""Vectors held against an implementation of a codec, whoever wrote either: one judge, many doors.

A door is what an implementation is asked through: the careful codec, generated code, a process that speaks on stdin and
stdout, or the Python object of a test. The judge knows none of them.
"""

from wiregen.vectors.verifying.careful_door import CarefulDoor
from wiregen.vectors.verifying.doors import (
    Decoded,
    Door,
    DoorError,
    Fault,
    Setting,
    SkippedError,
    Traced,
    Written,
)
from wiregen.vectors.verifying.judge import judge
from wiregen.vectors.verifying.verdicts import Finding, Outcome, Verdict

__all__ = [
    "CarefulDoor",
    "Decoded",
    "Door",
    "DoorError",
    "Fault",
    "Finding",
    "Outcome",
    "Setting",
    "SkippedError",
    "Traced",
    "Verdict",
    "Written",
    "judge",
]
