"""Vectors held against an implementation of a codec, whoever wrote either: one judge, many doors.

A door is what an implementation is asked through: the careful codec, generated code, a process that speaks on stdin and
stdout, or the Python object of a test. The judge knows none of them.
"""

from wiregen.conformance.judge.checks import judge
from wiregen.conformance.judge.implementation import (
    Decoded,
    Fault,
    Implementation,
    ImplementationError,
    Setting,
    SkippedError,
    Traced,
    Written,
)
from wiregen.conformance.judge.reference_implementation import ReferenceImplementation
from wiregen.conformance.judge.verdict import Finding, Outcome, Verdict

__all__ = [
    "Decoded",
    "Fault",
    "Finding",
    "Implementation",
    "ImplementationError",
    "Outcome",
    "ReferenceImplementation",
    "Setting",
    "SkippedError",
    "Traced",
    "Verdict",
    "Written",
    "judge",
]
