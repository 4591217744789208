"""Implementations in other processes: asked over stdin and stdout, one JSON object in a line each way (docs/vectors.md).

Invariant: whatever the other side does, crash, hang or print garbage, the answer is a `ImplementationError` and the next question
goes to a new process.
"""

from wiregen.conformance.vectors.adapters.adapter import AdapterProgram
from wiregen.conformance.vectors.adapters.process import AdapterBounds, StartError

__all__ = ["AdapterBounds", "AdapterProgram", "StartError"]
