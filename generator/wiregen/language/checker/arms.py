"""Arms that conditions rule out: the facts that hold where a choice is made exclude every number of the arm."""

from __future__ import annotations

from wiregen.language.checker.absences import Uses
from wiregen.language.checker.choices import origin_of
from wiregen.language.checker.conditions import never
from wiregen.language.checker.inspection import Inspection, Record
from wiregen.language.checker.presence import Facts, is_one_of, taken
from wiregen.schema.model import Arm, Match
from wiregen.schema.walk import arm_path, placed_matches

__all__ = ["RULES"]


def _arm_ruled_out(inspection: Inspection) -> None:
    for record in inspection.records:
        if not any(isinstance(type_, Match) for _, type_ in record.shapes):
            continue
        uses = Uses(inspection, record)
        for position, field, facts, match in uses.choices():
            values = _values(inspection, record, match)
            known = [*uses.known_before(position, facts), *values]
            if not known or never(known, uses):  # where the choice is never made, its arms are not at fault
                continue
            path = next(path for path, each in placed_matches(field) if each is match)
            for index, arm in enumerate(match.arms):
                fact = taken(match.subject, arm, match.arms)
                if never([*known, fact], uses) and not _is_refused(
                    inspection, record, match, arm, never([*values, fact], uses)
                ):
                    _report(inspection, record, match, arm_path(path, index))


def _values(inspection: Inspection, record: Record, match: Match) -> Facts:
    """Return the fact that the subject of a choice is a value of its type, as `only` narrows it."""
    type_ = inspection.declared.type_of(match.subject, record.by_name)
    choices = None if type_ is None else inspection.declared.choices_in(type_)
    return () if not choices else ((is_one_of(match.subject, choices), True),)


def _is_refused(inspection: Inspection, record: Record, match: Match, arm: Arm, by_type: bool) -> bool:
    """Return whether WG3002 reports the arm already: its type lacks the arm's numbers, or other arms take them all."""
    if not arm.spans:
        return by_type
    type_ = inspection.declared.type_of(match.subject, record.by_name)
    possible = None if type_ is None else inspection.declared.numbers_in(type_)
    return possible is not None and any(
        each.high < possible.low or each.low > possible.high for each in arm.spans
    )


def _report(inspection: Inspection, record: Record, match: Match, path: str) -> None:
    inspection.warning(
        "WG3072",
        "this arm is never taken: the conditions here exclude its numbers",
        inspection.place(path),
        "never taken",
        origin_of(inspection, record, match),
        help_="remove the arm, or change the `only`, `where`, `if` or outer arm that excludes its numbers",
    )


RULES = (_arm_ruled_out,)
