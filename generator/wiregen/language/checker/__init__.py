"""The checker: rules on the model, one function and one code per rule; places through origins.

A rule reads and reports, and never changes anything; all rules run, whatever the others found.
"""

from __future__ import annotations

from collections.abc import Mapping

from wiregen.language.checker import (
    absences,
    arms,
    choices,
    codes,
    contexts,
    contradictions,
    derived_cycles,
    empty_items,
    fields,
    frames,
    instances,
    lengths,
    limits,
    names,
    recursion,
    region_ends,
    rows,
    sessions,
    variants,
)
from wiregen.language.checker import trailing_bytes as tails
from wiregen.language.checker import unused_messages as mentions
from wiregen.language.checker.inspection import Inspection
from wiregen.language.checker.memory import largest_memory
from wiregen.language.checker.nesting import check_nesting
from wiregen.language.checker.tags import check_tags
from wiregen.language.diagnostics import Report, Span
from wiregen.schema.model import Protocol

__all__ = ["check", "largest_memory"]

_RULES = (
    choices,
    fields,
    codes,
    absences,
    arms,
    lengths,
    recursion,
    derived_cycles,
    empty_items,
    region_ends,
    tails,
    frames,
    variants,
    limits,
    names,
    contexts,
    contradictions,
    sessions,
    rows,
    instances,
    mentions,
)


def check(protocol: Protocol, origins: Mapping[str, Span], report: Report) -> None:
    """Check a resolved protocol against every rule; findings go to `report`."""
    inspection = Inspection(protocol=protocol, origins=origins, report=report)
    if not check_nesting(inspection):  # the other rules, as all later stages, walk types by recursion
        return
    for part in _RULES:
        for rule in part.RULES:
            rule(inspection)
    if not report.has_errors:
        check_tags(protocol, origins, report)
