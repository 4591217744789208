"""The conversation of one script with a peer, as a generator without sockets: it yields actions and
receives the peer's news.

The peer chooses its own messages. Where the trace has one, the runner waits until the sessions are in the
state of the trace, whichever messages led there; without such a message the trace is skipped. The runner
sends the messages of the trace, or others with the same effect on the current states of the sessions.
"""

from __future__ import annotations

from collections.abc import Callable, Generator
from dataclasses import dataclass
from typing import Literal, TypeAlias

from wiregen.conformance.judge import Finding, Verdict
from wiregen.conformance.vectors.endpoints.live import Heard, Live
from wiregen.conformance.vectors.endpoints.script import Script, ScriptStep

__all__ = ["Action", "Conversing", "Finish", "Hear", "News", "Patience", "Send", "talk"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Patience:
    """How long a peer is waited for, in seconds.

    Attributes:
        refusal: For the refusal of a violation.
        quiet: For a close, without which a legal conversation is accepted; and for an optional message.
        pause: The longest pause of a trace; traces with longer pauses are skipped.
    """

    refusal: float = 10.0
    quiet: float = 0.5
    pause: float = 5.0


@dataclass(frozen=True, slots=True)
class Send:
    """Send these bytes."""

    data: bytes


@dataclass(frozen=True, slots=True)
class Finish:
    """Send nothing more: end the runner's direction."""


@dataclass(frozen=True, slots=True)
class Hear:
    """Wait so many seconds for bytes of the peer."""

    seconds: float


Action: TypeAlias = Send | Finish | Hear
News: TypeAlias = "bytes | Literal['closed'] | None"
"""The answer to `Hear`: bytes; "closed": the peer has ended its direction or the connection; None: the time is over."""
Conversing: TypeAlias = Generator[Action, News, Verdict]


class _Over(Exception):
    """Raised when the conversation has its verdict."""

    def __init__(self, verdict: Verdict) -> None:
        self.verdict = verdict


def talk(
    script: Script,
    live: Live,
    patience: Patience,
    clock: Callable[[], float],
    waited: Callable[[], float] | None = None,
) -> Conversing:
    """Return the conversation of a script; `clock` counts seconds from its beginning.

    `waited` counts those in which the runner waited for its peers, without those in which it searched for messages: a
    peer has its patience from them.
    """
    talking = _Talk(script, live, patience, clock, waited or clock)
    try:
        yield from talking.run()
    except _Over as over:
        return over.verdict
    return Verdict(id=script.id, outcome="passed")


_Steps: TypeAlias = Generator[Action, News, None]


class _Talk:
    def __init__(
        self,
        script: Script,
        live: Live,
        patience: Patience,
        clock: Callable[[], float],
        waited: Callable[[], float],
    ) -> None:
        self._script = script
        self._live = live
        self._patience = patience
        self._clock = clock
        self._waited = waited
        self._check = ""

    def run(self) -> _Steps:
        steps = self._script.steps
        n_said = 0
        for number, step in enumerate(steps):
            n_said = n_said + 1 if step.role == self._live.side.peer else 0
            is_last = number == len(steps) - 1
            self._check = f"step {number + 1}, {step.message or _kind_of(step)}"
            if step.role == self._live.side.own:
                yield from self._own(step, is_last=is_last)
            elif step.role is None:
                yield from self._pause(step, is_last=is_last)
            elif is_last or steps[number + 1].role != step.role:
                yield from self._peers(step, n_said, is_last=is_last)

    # ---- the runner's steps

    def _own(self, step: ScriptStep, *, is_last: bool) -> _Steps:
        is_violation = not step.effect.is_legal
        if is_violation or self._live.side.is_called:
            # Else the refusal might be of an earlier step, or bytes of the peer that are under way change what the step is.
            yield from self._still_open()
        if step.is_end:
            effect = self._live.end(self._clock())
            yield Finish()
        else:
            data = yield from self._apt(step)
            effect = self._live.say(data, self._clock())
            yield Send(data)
        if not effect.is_legal:
            yield from self._refused(effect.violations)
        elif is_last:
            yield from self._still_open(is_end=step.is_end)

    def _apt(self, step: ScriptStep) -> Generator[Action, News, bytes]:
        """Return bytes with the effect of a step, if need be after further messages of the peer."""
        live, end = self._live, self._waited() + self._patience.quiet
        while (data := live.apt(step)) is None:
            left = end - self._waited()
            news = (yield Hear(left)) if left > 0 and live.heard else None
            if news is None:
                peer = f"after {', '.join(live.heard[-3:])}" if live.heard else "now"
                raise self._skipped(f"{peer} no message of {live.side.own} takes the rows of the trace")
            if news == "closed":
                raise self._failed("an open connection", "a closed connection")
            self._legal(news)
        return data

    def _refused(self, violations: tuple[str, ...]) -> _Steps:
        """Wait until the peer closes, or sends one of its refusals."""
        expected = f"{violations[0]} refused within {self._patience.refusal:g} s"
        said: list[str] = []
        end = self._waited() + self._patience.refusal
        while (left := end - self._waited()) > 0:
            news = yield Hear(left)
            if news == "closed":
                return
            if news:
                heard = self._live.hear(news, self._clock())
                said += heard.messages
                if self._live.side.refusals.intersection(heard.messages):
                    return
        found = f"an open connection{', and ' + ', '.join(said[-3:]) if said else ''}"
        raise self._failed(expected, found)

    def _still_open(self, *, is_end: bool = False) -> _Steps:
        """Wait as long as a peer needs to refuse the bytes by closing."""
        end = self._waited() + self._patience.quiet
        while (left := end - self._waited()) > 0:
            news = yield Hear(left)
            if news is None:
                return
            if news == "closed":
                if is_end or self._live.may_end():
                    return
                if not self._live.n_sent:
                    raise self._skipped(f"{self._live.side.peer} closed before anything was sent")
                raise self._failed("it accepted", "a closed connection")
            self._legal(news)

    # ---- the peer's steps

    def _peers(self, step: ScriptStep, n_said: int, *, is_last: bool) -> _Steps:
        """Wait for the states after a step of the peer, the last of `n_said` without one of the runner's between them.

        Other legal messages of the peer are its own choice. If it sends fewer, the states alone decide once
        it is quiet.
        """
        live, is_reached = self._live, False
        n_before = len(live.heard)
        end = self._waited() + self._patience.quiet
        while not is_reached and (left := end - self._waited()) > 0:
            news = yield Hear(left)
            if news is None:
                break
            if news == "closed":
                if live.n_sent:
                    raise self._failed(f"{step.message}, or an open connection", "a closed connection")
                raise self._skipped(f"{live.side.peer} closed before anything was sent")
            heard = self._legal(news)
            is_whole = is_last or len(live.heard) - n_before >= n_said
            is_reached = is_whole and self._is_reached(step, heard, is_last=is_last)
        if not is_reached and (is_last or live.states != step.states):
            raise self._skipped(self._untaken(step))

    def _is_reached(self, step: ScriptStep, heard: Heard, *, is_last: bool) -> bool:
        if is_last:
            return step.effect.goals <= heard.effect.goals
        return self._live.states == step.states

    def _untaken(self, step: ScriptStep) -> str:
        said = self._live.heard[-1:]
        if said:
            return f"{self._live.side.peer} said {said[0]}, which is legal, in another way than the trace"
        return f"{self._live.side.peer} sent no {step.message}, which is its own choice"

    def _legal(self, data: bytes) -> Heard:
        heard = self._live.hear(data, self._clock())
        if heard.broken is not None:
            raise self._failed("legal messages", heard.broken)
        refusals = self._live.side.refusals.intersection(heard.messages)
        expected = {step.message for step in self._script.steps if step.role == self._live.side.peer}
        if refusals - expected:
            raise self._failed("it accepted", f"{min(refusals)}, a refusal")
        return heard

    # ---- time

    def _pause(self, step: ScriptStep, *, is_last: bool) -> _Steps:
        if step.seconds > self._patience.pause:
            raise self._skipped(f"{step.seconds:g} s have to pass (--pause)")
        end = self._clock() + step.seconds
        while (left := end - self._clock()) > 0:
            news = yield Hear(left)
            if news == "closed":
                raise self._failed(f"{step.seconds:g} s of an open connection", "a closed connection")
            if news is not None:
                self._legal(news)
        effect = self._live.wait(self._clock())
        if effect.goals != step.effect.goals:
            raise self._skipped(f"after {', '.join(self._live.heard[-1:]) or 'that'} no such time runs out")
        if not effect.is_legal:
            yield from self._refused(effect.violations)
        elif is_last:
            yield from self._still_open()

    # ---- verdicts

    def _failed(self, expected: str, found: str) -> _Over:
        finding = Finding(check=self._check, expected=expected, found=found)
        return _Over(Verdict(id=self._script.id, outcome="failed", findings=(finding,)))

    def _skipped(self, reason: str) -> _Over:
        return _Over(Verdict(id=self._script.id, outcome="skipped", reason=reason))


def _kind_of(step: ScriptStep) -> str:
    return "the end" if step.is_end else "a pause"
