"""Traces: conversations that show every transition and every violation of a protocol's sessions, made from its model alone."""

from __future__ import annotations

from wiregen.traces.making import make_traces
from wiregen.traces.trace import Goal, GoalKind, Missing, Move, Step, Trace, Traces

__all__ = ["Goal", "GoalKind", "Missing", "Move", "Step", "Trace", "Traces", "make_traces"]
