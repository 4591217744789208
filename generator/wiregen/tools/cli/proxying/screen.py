"""The output of a proxy on stdout: each frame, the violations in it, and the faults that the proxy made of it."""

import sys
from typing import Protocol

from wiregen.formats.inspect.tree_lines import Branch, lines
from wiregen.formats.jsonl import dumps
from wiregen.language.diagnostics import visible
from wiregen.runtime.sessions.events import Violation
from wiregen.tools.cli.clock import Clock
from wiregen.tools.cli.decoding_options import DecodingSettings
from wiregen.tools.cli.replay_sinks import violation_record, violation_text
from wiregen.tools.cli.replayed import Replayed
from wiregen.tools.cli.sinks import sink
from wiregen.tools.cli.tree_sinks import TerminalPage

__all__ = ["Screen"]


class _Remarks(Protocol):
    """Prints remarks about frames."""

    def violation(self, replayed: Replayed, violation: Violation) -> None: ...

    def action(self, replayed: Replayed, action: str) -> None: ...


class Screen:
    """Shows frames in a format of `decode`, and after each its violations and faults; secret fields are hidden."""

    def __init__(self, format_: str, settings: DecodingSettings, clock: Clock) -> None:
        self._sink = sink(format_, settings, clock, is_live=True)
        self._clock = clock
        self._remarks: _Remarks = _JsonRemarks(clock) if format_ == "jsonl" else _TextRemarks()

    def show(self, replayed: Replayed, actions: tuple[str, ...] = ()) -> None:
        """Print a frame, an error or a timer; `actions`: the faults that the proxy made of it."""
        self._clock.saw(replayed.time)
        if replayed.decoded is not None:
            self._sink.write(replayed.decoded)
        for violation in replayed.violations:
            self._remarks.violation(replayed, violation)
        for action in actions:
            self._remarks.action(replayed, action)

    def flush(self) -> None:
        """Let programs that read stdout see everything."""
        sys.stdout.flush()


class _JsonRemarks:
    """A line for each, with the place of its frame."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock

    def violation(self, replayed: Replayed, violation: Violation) -> None:
        print(dumps(self._place(replayed) | violation_record(violation)))

    def action(self, replayed: Replayed, action: str) -> None:
        print(dumps(self._place(replayed) | {"action": action}))

    def _place(self, replayed: Replayed) -> dict[str, object]:
        time = None if replayed.time is None else self._clock.shown(replayed.time)
        place: dict[str, object] = {"flow": replayed.flow, "time": time}
        if replayed.decoded is not None:
            place |= {"from": replayed.decoded.role, "offset": replayed.decoded.offset}
        return place


class _TextRemarks:
    """A line below its frame."""

    def __init__(self) -> None:
        self._page = TerminalPage(sys.stdout, is_cropped=False)

    def violation(self, replayed: Replayed, violation: Violation) -> None:
        by = (
            "a timer" if replayed.decoded is None else f"{replayed.decoded.role} at {replayed.decoded.offset}"
        )
        style = "yellow" if violation.lenient else "bold red"
        self._print(f"{violation_text(violation)} ({by})", replayed, style)

    def action(self, replayed: Replayed, action: str) -> None:
        self._print(action, replayed, "bold yellow")

    def _print(self, text: str, replayed: Replayed, style: str) -> None:
        flow = "" if replayed.decoded is not None else replayed.flow or ""
        branch = Branch(label="!", text=visible(text), note=flow, style=style)
        self._page.print(lines(branch, depth=1))
