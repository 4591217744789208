"""Ways that take turns: every one in each round, so that what disturbs one disturbs all; ratios are of one round."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from statistics import median
from time import perf_counter

__all__ = ["Goal", "Group", "goals_table", "group_table", "measured"]

Seconds = Mapping[str, list[float]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Group:
    """Ways to do the same; `amount`: how many `unit` each does, in a thousandth of what is printed."""

    title: str
    unit: str
    amount: float
    ways: Mapping[str, Callable[[], object]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Goal:
    """How many times as fast one way should be as another, at least; without another, how many of its unit a second."""

    one: str
    other: str | None
    least: float


def measured(groups: Sequence[Group], rounds: int) -> Seconds:
    """Return the seconds of each way, by its name."""
    seconds: dict[str, list[float]] = {name: [] for group in groups for name in group.ways}
    for _ in range(rounds):
        for group in groups:
            for name, go in group.ways.items():
                begun = perf_counter()
                go()
                seconds[name].append(perf_counter() - begun)
    return seconds


def group_table(group: Group, seconds: Seconds) -> str:
    lines = [f"| {group.title} | {group.unit}/s |", "|---|--:|"]
    lines += [f"| {name} | {_speed(group, seconds[name]):.1f} |" for name in group.ways]
    return "\n".join(lines)


def goals_table(groups: Sequence[Group], goals: Sequence[Goal], seconds: Seconds) -> str:
    lines = ["| ratio | | goal |", "|---|--:|--:|"]
    for goal in goals:
        group = next(group for group in groups if goal.one in group.ways)
        if goal.other is None:
            what, found = f"{goal.one}, {group.unit}/s", _speed(group, seconds[goal.one])
        else:
            what = f"{goal.one} ÷ {goal.other}"
            pairs = zip(seconds[goal.one], seconds[goal.other], strict=True)
            found = median(other / one for one, other in pairs)
        lines.append(f"| {what} | {found:.2f} | {goal.least:g} |")
    return "\n".join(lines)


def _speed(group: Group, seconds: Sequence[float]) -> float:
    return median(group.amount / 1000 / each for each in seconds)
