"""Acknowledgements of appends: the sessions of Pravega accept exactly those that a plain model of the rule accepts."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field
from typing import Any, Final
from uuid import UUID

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from wireproto import pravega, pravega_documented

WRITER: Final = UUID(int=7)
NOTHING: Final = -(2**63)


def names(events: list[Any]) -> list[str]:
    return [event.name if hasattr(event, "name") else "" for event in events]


def append(package: Any, last: int) -> Any:
    more = (1,) if package is pravega else ()
    return package.AppendBlockEnd(WRITER, 0, b"", 1, last, *more)


class Line:
    """Two sides with a writer set up, and the messages in transit between them."""

    def __init__(self, package: Any, *, strict: bool, stored: int = NOTHING) -> None:
        self.package = package
        self.sides = {role: package.Connection(role, strict=strict) for role in ("client", "server")}
        self.under_way: dict[str, deque[tuple[Any, bytes]]] = {role: deque() for role in self.sides}
        if package is pravega:
            for role in self.sides:
                self.say(role, pravega.Hello())
        self.say("client", package.SetupAppend(1, WRITER, "s", ""))
        self.say("server", package.AppendSetup(1, "s", WRITER, stored))

    def say(self, sender: str, message: Any, *, arrives: bool = True) -> list[str]:
        """Send a message; the end of a block follows its beginning."""
        is_end = isinstance(message, self.package.AppendBlockEnd)
        said = (self.package.AppendBlock(WRITER, b""), message) if is_end else (message,)
        data = b"".join(self.sides[sender].send(each) for each in said)
        self.under_way[sender].append((message, data))
        return self.arrive(sender)[1] if arrives else []

    def arrive(self, sender: str) -> tuple[Any, list[str]]:
        """Deliver the oldest message in transit; return it, and the violations that are reported."""
        message, data = self.under_way[sender].popleft()
        receiver = self.sides["server" if sender == "client" else "client"]
        told = names(receiver.receive(data))
        return message, told[1:] if isinstance(message, self.package.AppendBlockEnd) else told

    def outstanding(self, role: str) -> list[int]:
        return list(self.sides[role].writer[WRITER].outstanding)


@pytest.mark.parametrize("package", [pravega, pravega_documented], ids=["pravega", "documented"])
@pytest.mark.parametrize("strict", [False, True], ids=["lenient", "strict"])
@pytest.mark.parametrize(
    ("lasts", "acks", "left"),
    [
        ((5, 5, 6), ((5, NOTHING), (6, 5)), ([6], [])),
        ((2, 5), ((3, NOTHING), (5, 3)), ([5], [])),
        ((2, 5, 5, 9), ((9, NOTHING),), ([],)),
        ((0, 0), ((0, NOTHING),), ([],)),
    ],
    ids=["equal_numbers", "inside_a_block", "several", "the_first_number"],
)
def test_an_ack_covers_all_up_to_its_number(
    package: Any, strict: bool, lasts: Any, acks: Any, left: Any
) -> None:
    line = Line(package, strict=strict)
    for last in lasts:
        line.say("client", append(package, last))
    for ack, outstanding in zip(acks, left, strict=True):
        if package is pravega_documented and ack[0] not in lasts:
            judged_inside(line, package.DataAppended(WRITER, *ack), strict=strict)
            return
        assert line.say("server", package.DataAppended(WRITER, *ack)) == [""]
        assert line.outstanding("client") == line.outstanding("server") == outstanding


def judged_inside(line: Line, message: Any, *, strict: bool) -> None:
    """The document's number "matches the lastEventNumber": one between is tolerated, and refused where nothing is."""
    if strict:
        with pytest.raises(pravega_documented.SessionError, match="ack_of_no_block"):
            line.say("server", message)
        return
    assert line.say("server", message) == ["ack_of_no_block", ""]


@pytest.mark.parametrize("package", [pravega, pravega_documented], ids=["pravega", "documented"])
def test_a_number_that_is_stored_is_not_waited_for(package: Any) -> None:
    """It may be said once more, and the next ack need not mention it."""
    line = Line(package, strict=True)
    line.say("client", append(package, 5))
    line.say("server", package.DataAppended(WRITER, 5, NOTHING))
    for last in (5, 6):
        line.say("client", append(package, last))
    assert line.outstanding("client") == line.outstanding("server") == [6]
    assert line.say("server", package.DataAppended(WRITER, 6, 5)) == [""]


def test_a_writer_set_up_again_does_not_wait_for_what_is_stored() -> None:
    line = Line(pravega, strict=True)
    line.say("client", pravega.SetupAppend(2, WRITER, "s", ""))
    for last in (3, 8, 9):
        line.say("client", append(pravega, last))
    line.say("server", pravega.AppendSetup(2, "s", WRITER, 8))
    assert line.outstanding("client") == line.outstanding("server") == [9]
    assert line.say("server", pravega.DataAppended(WRITER, 9, 8)) == [""]


@pytest.mark.parametrize(
    ("package", "rule"),
    [(pravega, "missed_ack"), (pravega_documented, "wrong_previous_number")],
    ids=["pravega", "documented"],
)
def test_an_ack_that_leaves_out_what_waits_is_refused(package: Any, rule: str) -> None:
    """By the document only where nothing is tolerated: it says which number the previous one is, and no more."""
    line = Line(package, strict=package is pravega_documented)
    for last in (2, 5, 8):
        line.say("client", append(package, last))
    line.say("server", package.DataAppended(WRITER, 2, NOTHING))
    with pytest.raises(package.SessionError) as caught:
        line.sides["server"].send(package.DataAppended(WRITER, 8, 5))
    assert str(caught.value.violation) == rule
    (violation,) = line.sides["client"].receive(package.encode(package.DataAppended(WRITER, 8, 5)))
    assert violation.name == rule


@dataclass
class Model:
    """The state of one side: the appends that have not failed, and up to where they are stored."""

    stored: int = NOTHING
    said: list[int] = field(default_factory=list)

    def waiting(self) -> list[int]:
        return [number for number in self.said if number > self.stored]

    def acknowledged(self, number: int) -> None:
        self.stored = max(self.stored, number)

    def judged(self, number: int, previous: int) -> str:
        if previous >= number:
            return "bad_ack"
        if any(each <= previous for each in self.waiting()):
            return "missed_ack"
        return "repeated_ack" if number <= self.stored else ""


def follow(model: Model, message: Any) -> None:
    """Do what a message of either side says, with a side's model."""
    match type(message).__name__:
        case "DataAppended":
            model.acknowledged(message.event_number)
        case "ConditionalCheckFailed":
            if message.event_number in model.waiting():
                model.said.remove(message.event_number)
        case "AppendBlockEnd":
            model.said.append(message.last_event_number)
        case "ConditionalAppend":
            model.said.append(message.event_number)


STEPS = st.lists(
    st.tuples(st.sampled_from(["append", "condition", "ack", "up", "down", "up"]), st.integers(0, 4)),
    max_size=40,
)


class Honest:
    """A client whose numbers never decrease, and a server that stores what arrives, in order, and tells how far it is."""

    def __init__(self, package: Any, stored: int, *, strict: bool) -> None:
        self.line = Line(package, strict=strict, stored=stored)
        self.package = package
        self.models = {role: Model(stored=stored) for role in self.line.sides}
        self.said = max(0, stored)
        self.acked, self.arrived = stored, stored

    def step(self, what: str, number: int) -> None:
        match what:
            case "append":
                self.said += number
                self.say("client", append(self.package, self.said))
            case "condition" if self.package is pravega:
                self.said += number
                self.say(
                    "client",
                    pravega.ConditionalAppend(WRITER, self.said, 0, pravega.Frame(pravega.Event(b"")), 1),
                )
            case "ack" if self.arrived > self.acked:
                low = max(self.acked + 1, self.arrived - 4)
                covered = self.end_of_a_block(min(self.arrived, low + number))
                self.say("server", self.package.DataAppended(WRITER, covered, self.acked))
                self.acked = covered
            case "up" if self.line.under_way["client"]:
                self.take(self.arrive("client"), number)
            case "down" if self.line.under_way["server"]:
                self.arrive("server")

    def end_of_a_block(self, number: int) -> int:
        """Return how far to acknowledge: anywhere, or to the next last number of a block where the document says so."""
        if self.package is pravega:
            return number
        return min(each for each in self.models["server"].waiting() if each >= number)

    def say(self, role: str, message: Any) -> None:
        self.line.say(role, message, arrives=False)
        follow(self.models[role], message)

    def arrive(self, sender: str) -> Any:
        message, told = self.line.arrive(sender)
        assert told == [""]
        follow(self.models["server" if sender == "client" else "client"], message)
        return message

    def take(self, message: Any, number: int) -> None:
        """Store an append; a conditional one fails now and then."""
        if isinstance(message, pravega.ConditionalAppend):
            if number == 0:
                self.say("server", pravega.ConditionalCheckFailed(WRITER, message.event_number, 1))
                return
            self.arrived = message.event_number
        else:
            self.arrived = message.last_event_number


@pytest.mark.parametrize("package", [pravega, pravega_documented], ids=["pravega", "documented"])
@settings(max_examples=150, deadline=None)
@given(steps=STEPS, stored=st.sampled_from([NOTHING, -1, 0, 3]), strict=st.booleans())
def test_nobody_who_is_honest_is_refused(package: Any, steps: Any, stored: int, strict: bool) -> None:
    honest = Honest(package, stored, strict=strict)
    for what, number in [*steps, *[("up", 1)] * 40, *[("ack", 4)] * 40, *[("down", 0)] * 80]:
        honest.step(what, number)
        for role, model in honest.models.items():
            assert honest.line.outstanding(role) == model.waiting()
    assert honest.line.outstanding("client") == honest.line.outstanding("server") == []


@settings(max_examples=150, deadline=None)
@given(
    steps=st.lists(
        st.one_of(st.integers(0, 3), st.tuples(st.integers(-1, 12), st.integers(-2, 12))), max_size=12
    ),
    strict=st.booleans(),
)
def test_every_ack_is_judged_as_the_model_judges_it(steps: Any, strict: bool) -> None:
    line, model, said = Line(pravega, strict=strict), Model(), 0
    for step in steps:
        if isinstance(step, int):
            said += step
            line.say("client", append(pravega, said))
            model.said.append(said)
            continue
        verdict = model.judged(*step)
        told = names(line.sides["client"].receive(pravega.encode(pravega.DataAppended(WRITER, *step))))
        if verdict in ("bad_ack", "missed_ack") or (strict and verdict):
            assert told == [verdict]
            return
        assert told == ([verdict, ""] if verdict else [""])
        model.acknowledged(step[0])
        assert line.outstanding("client") == model.waiting()
