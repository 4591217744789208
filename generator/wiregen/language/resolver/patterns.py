"""The patterns of match arms, and other ranges of codes, as numbers."""

from collections.abc import Iterator

from wiregen.language import syntax
from wiregen.language.diagnostics import Label, Span
from wiregen.language.resolver.scopes import members_of
from wiregen.language.resolver.sorts import BOOLEAN, Sort, describe, fits
from wiregen.language.resolver.state import Workspace
from wiregen.language.resolver.unknown_names import report_unknown
from wiregen.schema import model

OTHERWISE = "_"


def resolve_patterns(
    work: Workspace, arms: tuple[syntax.Arm, ...], subject: Sort
) -> list[tuple[model.Span, ...]]:
    """Return the numbers of each arm, () for `_`; members are those of the subject's enum."""
    otherwise: Span | None = None
    for arm in arms:
        for pattern in arm.patterns:
            if not isinstance(pattern, syntax.Name) or pattern.text != OTHERWISE:
                continue
            if otherwise is not None:
                others = (Label(span=otherwise, text="first"),)
                work.error("WG2111", "a `match` has one arm `_`", pattern.span, label="second", others=others)
            elif len(arm.patterns) > 1:
                work.error(
                    "WG2111",
                    "`_` must be the only pattern of its arm",
                    pattern.span,
                    help_="write `_` in an arm of its own: it takes all other values",
                )
            otherwise = otherwise or pattern.span
    return [tuple(_spans(work, arm.patterns, subject)) for arm in arms]


def _spans(work: Workspace, patterns: tuple[syntax.Pattern, ...], subject: Sort) -> Iterator[model.Span]:
    for pattern in patterns:
        if isinstance(pattern, syntax.CodeRange):
            yield resolve_range(work, pattern)
        elif isinstance(pattern, syntax.Boolean):
            _demand_truth(work, pattern, subject)
            yield model.Span(low=int(pattern.value), high=int(pattern.value))
        elif pattern.text != OTHERWISE:
            number = _number(work, pattern, subject)
            if number is not None:
                yield model.Span(low=number, high=number)


def _demand_truth(work: Workspace, pattern: syntax.Boolean, subject: Sort) -> None:
    if not fits(BOOLEAN, subject):
        word = str(pattern.value).lower()
        message = f"`{word}` is a Boolean, but the subject is {describe(subject)}"
        work.error("WG2202", message, pattern.span, label="a Boolean", help_=f"write `{int(pattern.value)}`")


def _number(work: Workspace, name: syntax.Name, subject: Sort) -> int | None:
    members = members_of(work, subject)
    if name.text in members:
        work.refer(name, members[name.text].name.span)
        return members[name.text].code.value
    if name.text in work.constants:
        work.refer(name, work.names[name.text].name.span)
        return work.constants[name.text]
    is_enum = subject.kind == "enum"
    if subject.kind != "unknown":
        report_unknown(
            name,
            "member" if is_enum else "constant",
            (*members, *work.constants),
            work.report,
            inside=subject.name if is_enum else None,
        )
    return None


def resolve_range(work: Workspace, node: syntax.CodeRange) -> model.Span:
    """Return a range of codes; one that is empty is reported."""
    low, high = node.low.value, node.high.value
    if low > high:
        work.error(
            "WG2111", f"the range {low} .. {high} is empty", node.span, help_=f"write `{high} .. {low}`"
        )
    return model.Span(low=min(low, high), high=max(low, high))


def resolve_ranges(work: Workspace, nodes: tuple[syntax.CodeRange, ...]) -> tuple[model.Span, ...]:
    return tuple(resolve_range(work, node) for node in nodes)
