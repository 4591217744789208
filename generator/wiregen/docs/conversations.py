"""Conversations that pages tell: one for each session, and the shortest one that breaks each rule, found by search.

The search takes seconds; what it found is a text that can be kept, under a key of all that it depends on.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import Any, Final

from wiregen import model as m
from wiregen.diagrams import Happening, Said, SequenceDiagram, as_data, conversations, sequence_diagram
from wiregen.plan import lower
from wiregen.traces import make_traces

__all__ = ["Conversations", "find_conversations", "key_of", "read_conversations", "written"]

_ROOMS: Final = ("diagrams", "plan", "runtime", "traces")
"""Whose code decides what is found."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Conversations:
    """`legal`: by session or join; `breaking`: by the rule that the last line breaks."""

    legal: Mapping[str, SequenceDiagram] = field(default_factory=dict)
    breaking: Mapping[str, SequenceDiagram] = field(default_factory=dict)


def find_conversations(protocol: m.Protocol) -> Conversations:
    """Search for the conversations of a protocol; the same whenever they are searched."""
    plan, traces = lower(protocol), make_traces(protocol)
    shortest: dict[str, SequenceDiagram] = {}
    for trace in sorted(traces.traces, key=lambda each: len(each.steps)):
        if trace.violation is not None and not trace.is_fault and trace.violation not in shortest:
            shortest[trace.violation] = sequence_diagram(plan, trace)
    return Conversations(legal=conversations(plan, traces), breaking=shortest)


def key_of(protocol: m.Protocol) -> str:
    """Return the hash of all that the conversations of a protocol depend on."""
    return sha256(f"{_code()} {protocol!r}".encode("utf-8", "backslashreplace")).hexdigest()


@cache
def _code() -> str:
    house = Path(__file__).resolve().parents[1]
    digest = sha256()
    for path in sorted(path for room in _ROOMS for path in (house / room).rglob("*.py")):
        digest.update(sha256(path.read_bytes()).digest())
    return digest.hexdigest()


# ---- as a text


def written(found: Conversations) -> str:
    """Return conversations as JSON."""
    data = {
        name: {key: as_data(diagram) for key, diagram in diagrams.items()}
        for name, diagrams in (("legal", found.legal), ("breaking", found.breaking))
    }
    return json.dumps(data, ensure_ascii=True) + "\n"


def read_conversations(text: str) -> Conversations | None:
    """Return what `written` wrote; None where it is something else."""
    try:
        data = json.loads(text)
        legal, breaking = (
            {str(key): _diagram(each) for key, each in data[name].items()} for name in ("legal", "breaking")
        )
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return None
    return Conversations(legal=legal, breaking=breaking)


def _diagram(data: Mapping[str, Any]) -> SequenceDiagram:
    return SequenceDiagram(
        id=str(data["id"]),
        participants=tuple(map(str, data["participants"])),
        lines=tuple(_line(each) for each in data["lines"]),
        violation=data["violation"],
        by=data["by"],
    )


def _line(data: Mapping[str, Any]) -> Said | Happening:
    if "message" not in data:
        return Happening(at=float(data["at"]), role=data["role"], text=str(data["text"]))
    return Said(
        at=float(data["at"]),
        sender=str(data["sender"]),
        receiver=str(data["receiver"]),
        message=str(data["message"]),
        fields=tuple((str(name), str(value)) for name, value in data["fields"]),
    )
