"""Ways that take turns: every one in each round, so that what disturbs one disturbs all; ratios are of one round.

Ratios are given of seconds, and of seconds on cores: these say what a way costs where other programs want the same cores.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from statistics import median
from time import perf_counter

from memory import cpu_seconds

__all__ = ["Goal", "Group", "Run", "goals_table", "group_table", "measured", "missed"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """One way in one round; `cpu`: seconds on cores, of all processes together."""

    seconds: float
    cpu: float


Runs = Mapping[str, list[Run]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Group:
    """Ways to do the same work; `amount`: the number of `unit` in each, in a thousandth of the printed number."""

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


def measured(groups: Sequence[Group], rounds: int) -> Runs:
    """Return the runs of each way, by its name."""
    runs: dict[str, list[Run]] = {name: [] for group in groups for name in group.ways}
    for _ in range(rounds):
        for group in groups:
            for name, go in group.ways.items():
                runs[name].append(_run(go))
    return runs


def _run(go: Callable[[], object]) -> Run:
    cpu, begun = cpu_seconds(), perf_counter()
    go()
    return Run(seconds=perf_counter() - begun, cpu=cpu_seconds() - cpu)


def group_table(group: Group, runs: Runs) -> str:
    lines = [f"| {group.title} | {group.unit}/s | {group.unit}/s of a core |", "|---|--:|--:|"]
    for name in group.ways:
        lines.append(f"| {name} | {_speed(group, runs[name]):.1f} | {_cpu_speed(group, runs[name]):.1f} |")
    return "\n".join(lines)


def goals_table(groups: Sequence[Group], goals: Sequence[Goal], runs: Runs) -> str:
    lines = ["| ratio | in seconds | on cores | goal |", "|---|--:|--:|--:|"]
    for goal in goals:
        what = (
            f"{goal.one}, {_group(groups, goal).unit}/s"
            if goal.other is None
            else f"{goal.one} ÷ {goal.other}"
        )
        in_seconds, on_cores = _figures(groups, goal, runs)
        lines.append(f"| {what} | {in_seconds:.2f} | {on_cores:.2f} | {goal.least:g} |")
    return "\n".join(lines)


def missed(groups: Sequence[Group], goals: Sequence[Goal], runs: Runs) -> list[str]:
    """Return which goals are met neither in seconds nor on cores."""
    return [goal.one for goal in goals if max(_figures(groups, goal, runs)) < goal.least]


def _group(groups: Sequence[Group], goal: Goal) -> Group:
    return next(group for group in groups if goal.one in group.ways)


def _figures(groups: Sequence[Group], goal: Goal, runs: Runs) -> tuple[float, float]:
    if goal.other is None:
        group = _group(groups, goal)
        return _speed(group, runs[goal.one]), _cpu_speed(group, runs[goal.one])
    return _ratios(runs[goal.one], runs[goal.other])


def _ratios(one: Sequence[Run], other: Sequence[Run]) -> tuple[float, float]:
    pairs = list(zip(one, other, strict=True))
    return median(b.seconds / a.seconds for a, b in pairs), median(b.cpu / max(a.cpu, 0.01) for a, b in pairs)


def _speed(group: Group, runs: Sequence[Run]) -> float:
    return median(group.amount / 1000 / run.seconds for run in runs)


def _cpu_speed(group: Group, runs: Sequence[Run]) -> float:
    return median(group.amount / 1000 / max(run.cpu, 0.01) for run in runs)
