"""Traces: conversations that show every transition and every violation of a protocol's sessions, made from its model alone."""

from __future__ import annotations

from wiregen.traces.drafts import Drafts
from wiregen.traces.making import make_traces
from wiregen.traces.spread import Draft, written_by
from wiregen.traces.trace import Goal, GoalKind, Missing, Move, Step, Trace, Traces
from wiregen.traces.world import Outcome, Setup, World

__all__ = [
    "Draft",
    "Drafts",
    "Goal",
    "GoalKind",
    "Missing",
    "Move",
    "Outcome",
    "Setup",
    "Step",
    "Trace",
    "Traces",
    "World",
    "make_traces",
    "written_by",
]
