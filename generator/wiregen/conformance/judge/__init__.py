"""Check implementations of a codec against vectors, independent of who wrote either.

An adapter gives access to one implementation: the reference codec, generated code, a process that speaks on
stdin and stdout, or the Python object of a test. The checks know only the interface `Implementation`.
"""

from wiregen.conformance.judge.checks import judge
from wiregen.conformance.judge.implementation import (
    CodecSetting,
    DecodedFrames,
    Implementation,
    ImplementationError,
    Refused,
    SkippedError,
    Traced,
    WrittenFrames,
)
from wiregen.conformance.judge.reference_implementation import ReferenceImplementation
from wiregen.conformance.judge.verdict import Finding, Outcome, Verdict

__all__ = [
    "CodecSetting",
    "DecodedFrames",
    "Finding",
    "Implementation",
    "ImplementationError",
    "Outcome",
    "ReferenceImplementation",
    "Refused",
    "SkippedError",
    "Traced",
    "Verdict",
    "WrittenFrames",
    "judge",
]
