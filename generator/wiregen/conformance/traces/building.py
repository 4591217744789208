"""From a checked model to its traces: the searches, one after the other, and the goals that they leave open."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from wiregen.conformance.traces.candidates import Drafts
from wiregen.conformance.traces.goals import goals_of
from wiregen.conformance.traces.memo import Verdicts
from wiregen.conformance.traces.search import ReachedGoal, TraceSearch
from wiregen.language.diagnostics import Span
from wiregen.language.diagnostics.locations import SourceTexts, locate
from wiregen.language.examples.connection_state import Setup
from wiregen.language.examples.replaying import culprit, replayed
from wiregen.language.examples.tolerated_states import tolerated_states
from wiregen.language.examples.trace import Goal, Missing, Step, Trace, Traces
from wiregen.runtime.codec.options import DEFAULT_LIMITS
from wiregen.runtime.schema.expressions import LimitReference
from wiregen.runtime.schema.node import nodes_in
from wiregen.runtime.schema.protocol import Schema
from wiregen.runtime.schema.sessions import Session, Violates
from wiregen.runtime.schema.types import Boolean, EnumReference, Integer, Text, Type, Varint
from wiregen.runtime.sessions.table import Program
from wiregen.schema import model as m
from wiregen.schema.copies import replace
from wiregen.schema.lowering import lower

__all__ = ["make_traces", "trace_of"]

_ROUNDS: Final = (20, 40, 120, 360, 1000)
"""Connection states that each search examines, by round; each round accepts slightly worse results. The
first round without a result is the last; then finer searches go through all rounds.
"""
_LED: Final = 3
"""The round from which the file's conversations are continued: results of earlier rounds take fewer steps."""
_TRIED: Final[Mapping[type[Type], tuple[object, ...]]] = {
    Boolean: (False, True),
    Integer: (0, 1),
    Text: ("", "a"),
    Varint: (0, 1),
}
"""Values that are tried for an option of a type."""
_FEW_KEYS: Final = 1
_LOW: Final = 1


def make_traces(
    protocol: m.Protocol,
    origins: Mapping[str, Span] | None = None,
    sources: SourceTexts | None = None,
) -> Traces:
    """Return the traces of a protocol, the same whenever they are made.

    `origins` and their texts give the lines of goals that were not reached.
    """
    schema = lower(protocol)
    program = Program(schema)
    first = Setup(schema=schema, program=program, is_strict=True, options={}, limits={})
    if not schema.sessions:
        return Traces(protocol=protocol.name, traces=(), goals=(), missing=())
    drafts, told = Drafts(first), _told(protocol)
    goals = goals_of(first, drafts)
    reached = _reached(list(_searches(first, drafts)), goals, told)
    left = set(goals) - {each.goal for each in reached}
    if left:
        rest = tuple(goal for goal in goals if goal in left)
        reached += _reached(list(_searches(first, drafts, is_fine=True)), rest, told)
        left -= {each.goal for each in reached}
    traces = _named(_merged(reached, goals), protocol)
    missing = tuple(_missing(protocol, goal, origins or {}, sources or {}) for goal in goals if goal in left)
    return Traces(protocol=protocol.name, traces=traces, goals=goals, missing=missing)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Reached:
    goal: Goal
    finding: ReachedGoal
    setup: Setup


# ---- searches


def _told(protocol: m.Protocol) -> tuple[Trace, ...]:
    """Return the conversations of the file, whose steps lead to states that a search would reach late."""
    from wiregen.language.examples.conversations import told_conversations

    traces = (told.trace for told in told_conversations(protocol))
    return tuple(each for each in traces if each.variant is None)


def _lead(
    searches: list[TraceSearch], told: tuple[Trace, ...], goals: tuple[Goal, ...], done: dict[Goal, _Reached]
) -> None:
    """Continue searches from the steps of conversations that were made with the same options."""
    for search in searches:
        left = [goal for goal in goals if goal not in done and _may_reach(search, goal)]
        for trace in told:
            if search.setup.is_strict is trace.is_strict and search.setup.options == trace.options:
                search.begin_in(trace.steps, left)


def _searches(first: Setup, drafts: Drafts, *, is_fine: bool = False) -> Iterator[TraceSearch]:
    """Yield the searches: for all sessions, then for each one alone, under other settings too.

    Sessions with the same possible messages are searched together.
    """
    sessions = tuple(first.schema.sessions)
    shared = Verdicts(first)
    yield TraceSearch(first, drafts, sessions, shared, is_fine=is_fine)
    for setup in _setups(first):
        found: dict[Drafts, tuple[str, ...]] = {drafts: ()} if setup is first else {}
        own = drafts if setup.limits == first.limits else Drafts(setup)
        for session in sessions:
            about = next((each for each in found if each.is_like(own.about(session))), own.about(session))
            found[about] = (*found.get(about, ()), session)
        verdicts = shared if setup is first else Verdicts(setup)
        yield from (
            TraceSearch(setup, each, about, verdicts, is_fine=is_fine)
            for each, about in found.items()
            if each is not drafts
        )


def _reached(searches: list[TraceSearch], goals: tuple[Goal, ...], told: tuple[Trace, ...]) -> list[_Reached]:
    """Return how goals were reached, by the first search that reached each: all searches take a short turn
    before any takes a long one.
    """
    done: dict[Goal, _Reached] = {}
    for number, most in enumerate(_ROUNDS):
        if number == _LED:
            _lead(searches, told, goals, done)
        for search in searches:
            _accept(search, done, worst=number)
        if not _search(searches, goals, done, most) and not searches[0].is_fine:
            break
    for search in searches:
        _accept(search, done, worst=len(_ROUNDS))
    return list(done.values())


def _search(
    searches: list[TraceSearch], goals: tuple[Goal, ...], done: dict[Goal, _Reached], most: int
) -> bool:
    """Continue each search for goals that no search has shown; return whether a search found one."""
    found = False
    for search in searches:
        shown = {goal for each in searches for goal in each.findings}
        if search is searches[0]:  # only this one searches for better findings of goals already shown
            shown = set(done)
        found |= search.run([goal for goal in goals if goal not in shown and _may_reach(search, goal)], most)
        _accept(search, done, worst=0)
    return found


def _accept(search: TraceSearch, done: dict[Goal, _Reached], *, worst: int) -> None:
    """Accept the findings of a search that are good enough."""
    for goal, finding in search.findings.items():
        if goal not in done and finding.rank <= worst:
            done[goal] = _Reached(goal=goal, finding=finding, setup=search.setup)


def _may_reach(search: TraceSearch, goal: Goal) -> bool:
    """Return whether a search may reach a goal: it has the goal's session, and keys run out only under a small limit."""
    if goal.session in search.setup.schema.sessions and goal.session not in search.sessions:
        return False
    setup, session = search.setup, search.setup.schema.sessions.get(goal.session)
    if not setup.is_strict and (
        session is None or not (_is_behind_a_note(session, goal) or goal.state in tolerated_states(session))
    ):
        return False
    if (
        session is not None
        and setup.options
        and not any(each.name in setup.options for each in session.variables)
    ):
        return False
    if setup.limits and "open" not in setup.limits:
        row = session.rows[goal.number] if session is not None and goal.kind == "row" else None
        return any(_mentions(row, name) for name in setup.limits)
    return (goal.kind == "too_many") is ("open" in setup.limits)


def _is_behind_a_note(session: Session, goal: Goal) -> bool:
    """Return whether a legal row may be taken in lenient mode only: a row above it refuses the message in strict mode."""
    return (
        goal.kind == "row"
        and goal.violation is None
        and any(
            isinstance(row.effect, Violates)
            and row.effect.is_lenient
            and (row.states is None or goal.state in row.states)
            for row in session.rows[: goal.number]
        )
    )


def _setups(first: Setup) -> Iterator[Setup]:
    """Yield the settings of connections, search by search: strict, lenient, with other options, with lower limits."""
    yield first
    yield replace(first, is_strict=False)
    for options in _options(first.schema):
        yield replace(first, options=options)
        yield replace(first, options=options, is_strict=False)
    own = {
        name: _LOW
        for name in first.schema.limits
        if name not in DEFAULT_LIMITS and _is_bound(first.schema, name)
    }
    if own:
        yield replace(first, limits=own)
    yield replace(first, limits={"open": _FEW_KEYS})


def _options(schema: Schema) -> Iterator[dict[str, object]]:
    """Yield other values of each option, one at a time; those of lists, bytes and uuids have their first value only."""
    for session in schema.sessions.values():
        for option in session.variables:
            if option.is_option and not option.is_list:
                enum = schema.enums[option.type.name] if isinstance(option.type, EnumReference) else None
                values = (
                    _TRIED.get(type(option.type), ())
                    if enum is None
                    else (each.value for each in enum.members)
                )
                yield from ({option.name: value} for value in values)


def _is_bound(schema: Schema, name: str) -> bool:
    """Return whether a row depends on a limit, other than by a timer."""
    return any(_mentions(session.rows, name) for session in schema.sessions.values())


def _mentions(part: object, name: str) -> bool:
    return any(isinstance(node, LimitReference) and node.name == name for node in nodes_in(part))


# ---- traces


def _merged(reached: list[_Reached], goals: tuple[Goal, ...]) -> list[Trace]:
    """Return one trace for all goals that the same steps reach under the same settings."""
    order = {goal: number for number, goal in enumerate(goals)}
    groups: dict[object, list[_Reached]] = {}
    for each in sorted(reached, key=lambda each: order[each.goal]):
        groups.setdefault(_identity(each), []).append(each)
    return _without_twins([_trace(group) for group in groups.values()])


def _without_twins(traces: list[Trace]) -> list[Trace]:
    """Return one trace for those that were found under other settings, if the settings make no difference."""
    found: dict[Any, Trace] = {}
    for trace in traces:
        settings = (
            tuple(trace.options.items()),
            tuple(trace.limits.items()),
            trace.is_strict,
            trace.is_lenient,
        )
        said = tuple((step.kind, step.role, step.at, step.data) for step in trace.steps)
        twin = found.setdefault((said, settings, trace.violation), trace)
        if twin is not trace:
            found[said, settings, trace.violation] = replace(twin, covers=(*twin.covers, *trace.covers))
    return list(found.values())


def _identity(each: _Reached) -> tuple[object, ...]:
    steps = tuple((step.kind, step.role, step.at, step.data) for step in each.finding.steps)
    options, limits = tuple(each.setup.options.items()), tuple(each.setup.limits.items())
    violation = each.goal.violation
    return (steps, options, limits, violation)


def _trace(group: list[_Reached]) -> Trace:
    """Return the trace of goals that the same steps reach."""
    goals, is_legal = tuple(each.goal for each in group), group[0].goal.violation is None
    # A step that is legal in strict mode is legal in lenient mode too.
    setup = next((each.setup for each in group if is_legal and each.setup.is_strict), group[0].setup)
    return trace_of(goals, setup, group[0].finding.steps)


def trace_of(goals: tuple[Goal, ...], setup: Setup, found: tuple[Step, ...]) -> Trace:
    """Return the trace of steps that reach goals; the steps are replayed in strict and lenient mode."""
    steps, outcomes = replayed(setup, found)
    _, others = replayed(replace(setup, is_strict=not setup.is_strict), steps)
    outcome, again = outcomes[-1], others[-1]
    violation = goals[0].violation
    names = [each.name for each in outcome.broken]
    is_same = [each.name for each in again.broken] == names and again.fault == outcome.fault
    is_same = is_same and all(each.is_legal for each in others[:-1])
    return Trace(
        id="",
        protocol=setup.schema.name,
        steps=steps,
        covers=goals,
        violation=violation,
        is_fault=goals[0].kind == "cut",
        by=None if violation is None else culprit(violation, outcome, steps[-1]),
        others=tuple(name for name in dict.fromkeys(names) if name != violation),
        notes=tuple(each.name for each in outcome.violations if each.lenient),
        is_strict=setup.is_strict or is_same,
        is_lenient=not setup.is_strict or is_same,
        options=setup.options,
        limits=setup.limits,
    )


def _named(traces: list[Trace], protocol: m.Protocol) -> tuple[Trace, ...]:
    """Return the traces with names that say what they show; equal names are numbered."""
    found: list[Trace] = []
    counts: dict[str, int] = {}
    for trace in traces:
        name = _name(trace)
        counts[name] = counts.get(name, 0) + 1
        number = f"-{counts[name]}" if counts[name] > 1 else ""
        found.append(replace(trace, id=f"{name}{number}", protocol=protocol.name))
    return tuple(found)


def _name(trace: Trace) -> str:
    goal, last = trace.covers[0], trace.steps[-1]
    message = getattr(getattr(last.value, "message", last.value), "name", last.kind)
    parts = (goal.session, goal.state, last.role or "", message if isinstance(message, str) else last.kind)
    words = (*parts, trace.violation or "")
    return "-".join(word.replace("_", "-").lower() for word in words if word)


def _missing(protocol: m.Protocol, goal: Goal, origins: Mapping[str, Span], sources: SourceTexts) -> Missing:
    span = origins.get(_path(protocol, goal))
    place = None if span is None else locate(span, sources)
    return Missing(goal=goal, line=None if place is None else place.line)


def _path(protocol: m.Protocol, goal: Goal) -> str:
    for session in protocol.sessions:
        if session.name != goal.session:
            continue
        if goal.kind in ("row", "timer"):
            lines: tuple[m.Row | m.Timer, ...] = session.rows if goal.kind == "row" else session.timers
            return lines[goal.number].path
        state = next((each for each in session.states if each.name == goal.state), None)
        return session.path if state is None else state.path
    return next((join.path for join in protocol.joins if join.name == goal.session), protocol.path)
