"""Traces: conversations that show every transition and every violation of a protocol's sessions, made from its model alone."""

from __future__ import annotations

from wiregen.conformance.traces.building import make_traces
from wiregen.conformance.traces.candidates import Drafts
from wiregen.conformance.traces.message_values import MessageDraft, written_by
from wiregen.language.examples.connection_state import ConnectionState, Outcome, Setup
from wiregen.language.examples.trace import Goal, GoalKind, Missing, Move, Step, Trace, Traces

__all__ = [
    "ConnectionState",
    "Drafts",
    "Goal",
    "GoalKind",
    "MessageDraft",
    "Missing",
    "Move",
    "Outcome",
    "Setup",
    "Step",
    "Trace",
    "Traces",
    "make_traces",
    "written_by",
]
