"""Choices by number: arms, alternatives, members, widths. Each number belongs to one of them, and each is reachable."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Iterator

from wiregen.language.checker.inspection import Inspection, Record, numbers_text, overlaps
from wiregen.language.diagnostics import Label
from wiregen.language.spelling import type_text
from wiregen.runtime.schema.shapes import has_blocks
from wiregen.schema.copies import mapped
from wiregen.schema.model import (
    Block,
    Coding,
    CodingReference,
    Constant,
    ContextReference,
    Derived,
    Field,
    FieldReference,
    Frame,
    FrameReference,
    Match,
    MessageMatch,
    Prefix,
    Region,
    Span,
    Type,
)
from wiregen.schema.values import span_of
from wiregen.schema.walk import arm_path, placed_matches

__all__ = ["RULES", "origin_of"]


def _arms_overlap(inspection: Inspection) -> None:
    for _, path, match in _matches(inspection):
        entries = ((span, index) for index, arm in enumerate(match.arms) for span in arm.spans)
        for first, second, number in overlaps(entries):
            inspection.error(
                "WG3001",
                f"two arms have the number {number}",
                inspection.place(arm_path(path, second)),
                "never taken for it",
                inspection.also(arm_path(path, first), "first arm with it"),
                help_="list each number in one arm",
            )


def _arm_unreachable(inspection: Inspection) -> None:
    for record, path, match in _matches(inspection):
        subject = inspection.declared.type_of(match.subject, record.by_name)
        possible = None if subject is None else inspection.declared.numbers_in(subject)
        rest = None
        for index, arm in enumerate(match.arms):
            here = arm_path(path, index)
            if rest is not None:
                inspection.error(
                    "WG3002",
                    "this arm is never taken",
                    inspection.place(here),
                    "never taken",
                    inspection.also(rest, "takes all other values"),
                    help_="write the arm `_` last",
                )
            elif not arm.spans:
                rest = here
            elif possible is not None:
                _report_beyond(inspection, here, arm.spans, possible, origin_of(inspection, record, match))


def _rest_is_empty(inspection: Inspection) -> None:
    for record, path, match in _matches(inspection):
        subject = inspection.declared.type_of(match.subject, record.by_name)
        choices = None if subject is None else inspection.declared.choices_in(subject)
        rest = match.arms[-1] if match.arms else None
        last = _completing(match, choices or ())
        if rest is not None and last is not None and not rest.spans:
            inspection.error(
                "WG3002",
                "the arm `_` is never taken: the other arms take every value",
                inspection.place(arm_path(path, len(match.arms) - 1)),
                "never taken",
                inspection.also(arm_path(path, last), "the last of the values is taken here"),
                origin_of(inspection, record, match),
                help_="remove it; `_` takes the values that no other arm takes",
            )


def _completing(match: Match, choices: tuple[Span, ...]) -> int | None:
    """Return the index of the last arm with numbers if the arms take every value, or None."""
    arms = [index for index, arm in enumerate(match.arms) if arm.spans]
    taken = _merged(each for arm in match.arms for each in arm.spans)
    return arms[-1] if arms and choices and all(_is_taken(choice, taken) for choice in choices) else None


def _merged(spans: Iterable[Span]) -> list[Span]:
    """Return the same numbers in ascending ranges with gaps between them."""
    merged: list[Span] = []
    for span in sorted(spans, key=lambda each: each.low):
        if merged and span.low <= merged[-1].high + 1:
            merged[-1] = Span(low=merged[-1].low, high=max(merged[-1].high, span.high))
        else:
            merged.append(span)
    return merged


def _is_taken(choice: Span, merged: list[Span]) -> bool:
    position = bisect_right(merged, choice.low, key=lambda each: each.low) - 1
    return position >= 0 and choice.high <= merged[position].high


def origin_of(inspection: Inspection, record: Record, match: Match) -> Label | None:
    """Return where the numbers of a choice's subject are declared."""
    match match.subject:
        case FieldReference(path=(name, *_), scope="own") if name in record.by_name:
            return inspection.also(record.by_name[name].path, "decides here", "type")
        case ContextReference(context=name):
            context = next(each for each in inspection.protocol.contexts if each.name == name)
            return inspection.also(context.path, "decides here", "name")
        case _:
            return None


def _report_beyond(
    inspection: Inspection, path: str, spans: tuple[Span, ...], possible: Span, origin: Label | None
) -> None:
    for numbers in spans:
        if numbers.high < possible.low or numbers.low > possible.high:
            inspection.error(
                "WG3002",
                f"{numbers_text(numbers)} is not a possible value here",
                inspection.place(path),
                "never taken",
                origin,
                help_=f"the possible values are {numbers_text(possible)}",
            )


def _union_is_empty(inspection: Inspection) -> None:
    for union in inspection.protocol.unions:
        if not union.varieties:
            inspection.error(
                "WG3073",
                f"union `{union.name}` has no alternative",
                inspection.place(union.path, "name"),
                "has no values",
                help_="declare at least one: `Name 1 { }`",
            )


def _varieties_overlap(inspection: Inspection) -> None:
    for union in inspection.protocol.unions:
        entries = ((numbers, variety) for variety in union.varieties for numbers in variety.spans)
        for first, second, number in overlaps(entries):
            inspection.error(
                "WG3003",
                f"code {number} of union `{union.name}` is used twice",
                inspection.place(second.path, "code"),
                "second use",
                inspection.also(first.path, "first used here", "code"),
                help_="give each code to one alternative",
            )


def _number_outside_type(inspection: Inspection) -> None:
    for path, what, numbers, possible in _declared_numbers(inspection):
        if numbers.low < possible.low or numbers.high > possible.high:
            part = "value" if what == "value" else "code"
            inspection.error(
                "WG3004",
                f"{what} {numbers_text(numbers)} is outside of its type",
                inspection.place(path, part),
                f"not in {numbers_text(possible)}",
            )


def _declared_numbers(inspection: Inspection) -> Iterator[tuple[str, str, Span, Span]]:
    for enum in inspection.protocol.enums:
        for member in enum.members:
            yield member.path, "value", Span(low=member.value, high=member.value), span_of(enum.type)
    for union in inspection.protocol.unions:
        for variety in union.varieties:
            for numbers in variety.spans:
                yield variety.path, "code", numbers, span_of(union.type)
    for coding in inspection.protocol.codings:
        for width in coding.widths:
            yield coding.path, "first number", Span(low=width.low, high=width.high), span_of(coding.type)


def _width_unreachable(inspection: Inspection) -> None:
    for coding in inspection.protocol.codings:
        for fault in _width_faults(coding):
            inspection.error(
                "WG3005",
                f"coding `{coding.name}`: {fault}",
                inspection.place(coding.path),
                "ambiguous",
                help_="give each first number one meaning, and order the widths from narrow to wide",
            )


def _width_faults(coding: Coding) -> Iterator[str]:
    entries = ((Span(low=width.low, high=width.high), width) for width in coding.widths)
    for _, _, number in overlaps(entries):
        yield f"first number {number} has two meanings"
    if sum(width.is_null for width in coding.widths) > 1:
        yield "null has two forms"
    seen: Span | None = None
    for width in coding.widths:
        if width.is_null:
            continue
        span = span_of(width.wide) if width.wide is not None else Span(low=width.low, high=width.high)
        if seen is not None and width.wide is not None and seen.low <= span.low and span.high <= seen.high:
            yield f"the width after {width.low} is never written, because an earlier one holds its numbers"
        seen = span if seen is None else Span(low=min(seen.low, span.low), high=max(seen.high, span.high))


def _only_has_no_code(inspection: Inspection) -> None:
    for record in inspection.records:
        for field, type_ in record.shapes:
            if isinstance(type_, MessageMatch | FrameReference):
                _report_without_code(inspection, field.path, type_.only or ())


def _report_without_code(inspection: Inspection, path: str, only: tuple[str, ...]) -> None:
    for name in only:
        message = inspection.messages.get(name)
        if message is not None and message.code is None:
            inspection.error(
                "WG3006",
                f"message `{name}` has no type code, so it cannot be chosen here",
                inspection.place(path, "type"),
                "never chosen",
                inspection.also(message.path, "declared without a code"),
                help_="give the message a code, or name it in an arm of a `match`",
            )


def _namesakes_differ(inspection: Inspection) -> None:
    """Report fields of one name in different arms with different types: they share an attribute, so need one type."""
    for record in inspection.records:
        first: dict[str, Field] = {}
        for field in record.flat:
            before = first.setdefault(field.name, field)
            difference = None if before is field or field.name == "_" else _difference(before, field)
            if difference is not None:
                inspection.error(
                    "WG3062",
                    f"`{field.name}` in this arm {difference} in another arm",
                    inspection.place(field.path, "type"),
                    f"`{type_text(field.type)}` here",
                    inspection.also(before.path, f"`{type_text(before.type)}` here", "type"),
                    help_="fields with one name are one attribute: give both the same type, or rename one of them",
                )


def _difference(first: Field, second: Field) -> str | None:
    """Return how two fields that share an attribute differ, or None."""
    if _without_blocks(first.type) != _without_blocks(second.type):
        return "has another type than"
    if first.view != second.view:
        return "has another view than"
    is_hidden = [isinstance(each.value, Derived | Constant) for each in (first, second)]
    return (
        "is not set by hand, unlike"
        if is_hidden == [False, True]
        else ("is set by hand, unlike" if is_hidden == [True, False] else None)
    )


def _without_blocks(type_: Type) -> Type:
    """Return a type without the fields of its blocks; they do not matter, since a block has no value."""
    return mapped(type_, lambda node: Block(fields=()) if isinstance(node, Block) else None)


def _null_without_value(inspection: Inspection) -> None:
    """Report regions with a null length whose value cannot be None: blocks, and the message of a frame."""
    codings = {
        each.name: each for each in inspection.protocol.codings if any(width.is_null for width in each.widths)
    }
    for record in inspection.records:
        message = record.owner.message if isinstance(record.owner, Frame) else None
        for field in record.flat:
            prefix = _prefix_of(field.type)
            coding = codings.get(prefix.name) if isinstance(prefix, CodingReference) else None
            if coding is None:
                continue
            if field.name == message or has_blocks(field.type):
                inspection.error(
                    "WG3064",
                    (
                        "the message of a frame cannot be null"
                        if field.name == message
                        else "a block cannot be null"
                    ),
                    inspection.place(field.path, "type"),
                    f"`{coding.name}` has a form for null",
                    inspection.also(coding.path, "declared here"),
                    help_="use a coding without null, or a struct instead of the block",
                )


def _prefix_of(type_: Type) -> Type | None:
    """Return the type of the length that a region begins with, or None for a region without one."""
    length = type_.carrier.length if isinstance(type_, Region) else None
    return length.type if isinstance(length, Prefix) else None


def _matches(inspection: Inspection) -> Iterator[tuple[Record, str, Match]]:
    """Yield each choice with its path."""
    for record in inspection.records:
        for field in record.flat:
            for path, match in placed_matches(field):
                yield record, path, match


RULES = (
    _arms_overlap,
    _arm_unreachable,
    _rest_is_empty,
    _union_is_empty,
    _varieties_overlap,
    _number_outside_type,
    _width_unreachable,
    _only_has_no_code,
    _namesakes_differ,
    _null_without_value,
)
