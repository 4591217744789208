"""The output formats of a replay: a line for each frame with an effect, and a summary."""

from __future__ import annotations

from collections import Counter
from typing import Any, Protocol

from wiregen.formats.inspect.values import plural
from wiregen.formats.jsonl import dumps
from wiregen.runtime.codec.errors import DecodeError
from wiregen.runtime.sessions.events import Violation
from wiregen.tools.cli.decoding_options import Decoded, message_of
from wiregen.tools.cli.replayed import Replayed, Step

__all__ = ["ReplaySink", "ReplayTotals", "State", "replay_sink", "violation_record", "violation_text"]

State = tuple[str, Any, str]
"""Session, key, state."""


class ReplayTotals:
    """The totals of a replay."""

    def __init__(self) -> None:
        self.n_frames = 0
        self.n_faults = 0
        self.flows: set[str | None] = set()
        self.violations: Counter[str] = Counter()
        self.notes: Counter[str] = Counter()

    def add(self, replayed: Replayed) -> None:
        self.flows.add(replayed.flow)
        self.n_faults += replayed.is_fault
        self.n_frames += replayed.decoded is not None and not replayed.is_fault
        for violation in replayed.violations:
            (self.notes if violation.lenient else self.violations)[violation.name] += 1

    @property
    def has_findings(self) -> bool:
        return bool(self.violations or self.n_faults)


class ReplaySink(Protocol):
    """Writes the steps of a replay."""

    def write(self, replayed: Replayed) -> None: ...

    def close(self, tally: ReplayTotals, states: dict[str | None, tuple[State, ...]]) -> None:
        """Write the summary, with the last states of the instances of each connection."""


def replay_sink(format_: str) -> ReplaySink:
    """Return the sink of a format, writing to stdout."""
    return _Jsonl() if format_ == "jsonl" else _Text()


class _Jsonl:
    """A line for every frame, error and timer, and one for the summary."""

    def write(self, replayed: Replayed) -> None:
        line: dict[str, object] = {} if replayed.flow is None else {"flow": replayed.flow}
        if replayed.time is not None:
            line["time"] = round(replayed.time, 6)
        if replayed.decoded is not None:
            line |= _frame_record(replayed.decoded)
        if replayed.is_unread:
            line["unread"] = True
        line["steps"] = [
            {"session": session, "key": _plain(key), "state": before, "next_state": after}
            for session, key, before, after in replayed.steps
        ]
        line["violations"] = [violation_record(each) for each in replayed.violations]
        print(dumps(line))

    def close(self, tally: ReplayTotals, states: dict[str | None, tuple[State, ...]]) -> None:
        left = [
            {"flow": flow, "session": session, "key": _plain(key), "state": state}
            for flow, found in states.items()
            for session, key, state in found
        ]
        summary = {
            "connections": len(tally.flows),
            "frames": tally.n_frames,
            "faults": tally.n_faults,
            "violations": dict(sorted(tally.violations.items())),
            "notes": dict(sorted(tally.notes.items())),
            "states": left,
        }
        print(dumps({"summary": summary}))


def _frame_record(decoded: Decoded) -> dict[str, object]:
    record: dict[str, object] = {"offset": decoded.offset, "size": decoded.size, "from": decoded.role}
    error = decoded.outcome
    if isinstance(error, DecodeError):
        found = {"code": error.code, "rule": error.rule, "path": error.path, "at": error.at}
        return record | {"error": found}
    return record | {"message": message_of(decoded)}


def violation_record(violation: Violation) -> dict[str, object]:
    """Return a violation as JSON data."""
    return {
        "violation": violation.name,
        "rule": violation.rule,
        "session": violation.session,
        "key": _plain(violation.key),
        "state": violation.state,
        "lenient": violation.lenient,
    }


def _plain(key: object) -> object:
    """Return a key as JSON data."""
    if isinstance(key, tuple):
        return [_plain(part) for part in key]
    return key if key is None or type(key) in (int, str, bool) else str(key)


class _Text:
    """For people: the events of each connection, then the totals."""

    def __init__(self) -> None:
        self._flow: str | None = None
        self._began = 0.0

    def write(self, replayed: Replayed) -> None:
        if replayed.flow is not None and replayed.flow != self._flow:
            print(replayed.flow)
            self._flow, self._began = replayed.flow, replayed.time or 0.0
        seconds = "" if replayed.time is None else f"{replayed.time - self._began:12.6f}  "
        what = "(timer)" if replayed.decoded is None else _shown(replayed.decoded)
        unread = " (not read: after the error)" if replayed.is_unread else ""
        print(f"{seconds}{what}{unread}{''.join(map(_shown_step, replayed.steps))}")
        for violation in replayed.violations:
            print(f"{' ' * len(seconds)}  {violation_text(violation)}")

    def close(self, tally: ReplayTotals, states: dict[str | None, tuple[State, ...]]) -> None:
        for flow, found in states.items():
            left = ", ".join(f"{session}{_shown_key(key)} {state}" for session, key, state in found)
            print(f"at the end{'' if flow is None else f' of {flow}'}: {left or 'nothing is open'}")
        kinds = (("violation", tally.violations), ("note", tally.notes))
        counts = [f"{plural(sum(count.values()), noun)}{_listed(count)}" for noun, count in kinds]
        head = f"{plural(tally.n_frames, 'frame')} in {plural(len(tally.flows), 'connection')}"
        print(f"{head}: {', '.join((*counts, plural(tally.n_faults, 'fault')))}")


def violation_text(violation: Violation) -> str:
    """Return a violation in a line: its name, its session with the state, the rule."""
    word = "note" if violation.lenient else "VIOLATION"
    place = f" [{violation.session}{_shown_key(violation.key)} in {violation.state}]"
    rule = f": {violation.rule}" if violation.rule else ""
    return f"{word} {violation.name}{place if violation.session else ''}{rule}"


def _shown(decoded: Decoded) -> str:
    outcome = decoded.outcome
    what = f"FAULT {outcome}" if isinstance(outcome, DecodeError) else message_of(decoded)
    return f"{decoded.role or '?':<10} @{decoded.offset:<8} {what:<24}"


def _shown_step(step: Step) -> str:
    session, key, before, after = step
    return f" {session}{_shown_key(key)} {before} → {after}"


def _shown_key(key: object) -> str:
    if key is None:
        return ""
    parts = key if isinstance(key, tuple) else (key,)
    return f"[{', '.join(str(part) if not isinstance(part, bytes) else part.hex() for part in parts)}]"


def _listed(count: Counter[str]) -> str:
    return f" ({', '.join(f'{name} {number}' for name, number in sorted(count.items()))})" if count else ""
