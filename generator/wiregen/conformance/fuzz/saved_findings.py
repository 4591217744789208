"""Findings as vectors: the bytes, and the answer of the reference codec."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from wiregen.conformance.fuzz.comparison import asked
from wiregen.conformance.fuzz.search import FuzzFinding
from wiregen.conformance.judge import ReferenceImplementation, Refused
from wiregen.conformance.judge.vector_files import MOST_BYTES
from wiregen.conformance.vectors.format import (
    Fault,
    Invalid,
    Sent,
    Valid,
    VectorFile,
    compact,
    compacted,
    read_vectors,
    write_vectors,
)
from wiregen.language.regular_files import read_regular

__all__ = ["save", "vector_of"]


def vector_of(finding: FuzzFinding, reference: ReferenceImplementation) -> Valid | Invalid:
    """Return the vector that an implementation with this difference fails."""
    trial = finding.trial
    setting, data = trial.setting, trial.data
    decoded = asked(lambda: reference.decode(setting, [data]))
    common: dict[str, Any] = {
        "id": f"fuzz-{hashlib.sha256(repr((setting.role, setting.before, data)).encode()).hexdigest()[:12]}",
        "variant": setting.variant,
        "before": tuple(Sent(from_role=role, bytes=compact(said)) for role, said in setting.before),
        "from_role": setting.role,
        "limits": dict(setting.limits),
        "strict": setting.is_strict,
        "bytes": compact(data),
        "source": "fuzz",
        "note": " / ".join(finding.differing.key),
    }
    fault = decoded.fault
    if fault is None and (decoded.is_incomplete or decoded.is_unfinished):
        fault = Refused(code="truncated", at=len(data), recoverable=False)
    if fault is not None:
        return Invalid(error=_fault(fault), frames_before=len(decoded.frames), **common)
    written = reference.encode(setting, decoded.frames)
    encodes: Any = "no" if written.code else "exact" if written.data == data else "same_meaning"
    return Valid(frames=tuple(compacted(line) for line in decoded.frames), encodes=encodes, **common)


def save(path: Path, protocol: str, vectors: Sequence[Valid | Invalid]) -> int:
    """Add vectors to a file, which is created if it does not exist; return how many were new.

    Raises:
        VectorsError: The file exists and does not hold vectors.
    """
    file = VectorFile(protocol=protocol, vectors=())
    if path.exists():
        file = read_vectors(read_regular(path, MOST_BYTES))
    ids = {vector.id for vector in file.vectors}
    new = {vector.id: vector for vector in vectors if vector.id not in ids}
    text = write_vectors(replace(file, vectors=(*file.vectors, *new.values())))
    path.write_text(text, encoding="utf-8")
    return len(new)


def _fault(fault: Refused) -> Fault:
    return Fault(
        code=fault.code,
        rule=fault.rule,
        path=fault.path or "",
        at=fault.at,
        inner_at=fault.inner_at,
        recoverable=fault.recoverable,
    )
