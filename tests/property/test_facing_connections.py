"""Two connections face each other, their bytes cut anywhere: they agree, and the peer would refuse what a
side may not send.

A message that is refused here would be refused by the peer under the same name, if it were sent.
"""

from __future__ import annotations

from typing import Any, ClassVar

from hypothesis import strategies as st
from hypothesis.stateful import initialize, precondition, rule
from tests.property.facing import SETTINGS, Facing

from wireproto import lumberjack as lj
from wireproto import reactive_streams as rs


class Shipping(Facing):
    """Lumberjack: the sequence numbers roll over early, acks cross with events."""

    package = lj
    roles = ("writer", "reader")

    @initialize(first=st.sampled_from([1, 2**32 - 3]))
    def begin(self, first: int) -> None:
        self.next = first

    def shown(self, side: Any) -> str:
        return repr(side.transfer)

    def event(self) -> Any:
        return lj.Data(self.next, [])

    def count(self) -> None:
        self.next = (self.next + 1) % 2**32

    @rule(size=st.integers(0, 4))
    def announce(self, size: int) -> None:
        assert self.say("writer", lj.Window(size))

    @rule()
    def ship(self) -> None:
        assert self.say("writer", self.event())
        self.count()

    @rule(number=st.integers(0, 3))
    def ship_compressed(self, number: int) -> None:
        frames = []
        for _ in range(number):
            frames.append(lj.Frame(self.event()))
            self.count()
        assert self.say("writer", lj.Compressed(frames))

    @precondition(lambda self: self.sides["reader"].transfer.outstanding)
    @rule(place=st.integers(0, 10))
    def acknowledge(self, place: int) -> None:
        transfer = self.sides["reader"].transfer
        oldest = [
            sequence
            for sequence, window in zip(transfer.outstanding, transfer.windows, strict=True)
            if window == transfer.windows[0]
        ]
        assert self.say("reader", lj.Ack(oldest[place % len(oldest)]))

    @precondition(lambda self: 0 < self.next < 1000 and 0 not in self.sides["writer"].transfer.outstanding)
    @rule()
    def keep_alive(self) -> None:
        """Say that nothing is lost; where it crosses with event 0 nobody can tell it from that event's ack."""
        assert self.say("reader", lj.Ack(0))

    @rule(ahead=st.integers(1, 5), for_good=st.booleans())
    def acknowledge_too_much(self, ahead: int, for_good: bool) -> None:
        assert not self.say("reader", lj.Ack((self.next + ahead) % 2**32 or 1), for_good=for_good)

    @rule(
        cheat=st.sampled_from(
            [
                ("reader", lj.Window(1)),
                ("reader", lj.Data(1, [])),
                ("writer", lj.Ack(0)),
                ("writer", lj.Compressed([lj.Frame(lj.Data(7, [])), lj.Frame(lj.Ack(7))])),
            ]
        ),
        for_good=st.booleans(),
    )
    def cheat(self, cheat: tuple[str, Any], for_good: bool) -> None:
        assert not self.say(*cheat, for_good=for_good)

    @rule(role=st.sampled_from(roles), size=st.integers(1, 60))
    def arrive(self, role: str, size: int) -> None:
        self.deliver(role, size)

    @rule()
    def arrive_all(self) -> None:
        for role in self.roles:
            self.deliver(role, len(self.wires[role]))


IDS = st.integers(0, 2)
MESSAGES = st.one_of(
    st.builds(rs.Subscribe, st.just("p"), IDS, st.sampled_from([0, 1, 3, 2**63 - 1, 2**63])),
    st.builds(rs.Request, IDS, st.sampled_from([0, 1, 2, 2**63 - 1])),
    st.builds(rs.Cancel, IDS),
    st.builds(rs.Subscribed, IDS, st.sampled_from([0, 0, 2])),
    st.builds(rs.OnNext, IDS, st.just(b"ab")),
    st.builds(rs.OnNextPart, IDS, IDS, st.just(b"a")),
    st.builds(rs.OnNextLastPart, IDS, IDS, st.sampled_from([b"", b"b"])),
    st.builds(rs.OnComplete, IDS),
    st.builds(rs.OnError, IDS, st.just("why")),
)


class Streaming(Facing):
    """Reactive Streams: both sides subscribe and publish; a message of one arrives before the other sends."""

    package = rs
    roles = ("client", "server")
    pieces = (rs.OnNextPart,)

    def shown(self, side: Any) -> Any:
        found = {key: repr(side.subscription[key]) for key in side.subscription}
        return found, [side.side[role].state for role in self.roles], side.context.snapshot()["element_size"]

    def say(self, role: str, message: Any, *, for_good: bool = False) -> bool:
        try:
            return super().say(role, message, for_good=for_good)
        except rs.EncodeError:
            return False

    def encoded(self, role: str, message: Any) -> bytes:
        side = self.sides[role]
        data: bytes = rs.encode(message, from_role=role, context=side.context)  # type: ignore[arg-type]
        return data

    def restart(self) -> None:
        super().restart()
        assert self.say("client", rs.ClientHello(0, []))
        assert self.say("server", rs.ServerHello(0, []))
        for role in self.roles:
            self.deliver_all(role, [1, 1])

    @rule(
        role=st.sampled_from(roles),
        message=MESSAGES,
        sizes=st.lists(st.integers(1, 5), max_size=3),
        for_good=st.sampled_from([False, False, False, True]),
    )
    def speak(self, role: str, message: Any, sizes: list[int], for_good: bool) -> None:
        self.say(role, message, for_good=for_good)
        self.deliver_all(role, sizes)

    @rule(number=IDS, role=st.sampled_from(roles))
    def stream(self, number: int, role: str) -> None:
        """Go the way of a whole subscription as far as it is legal: random steps seldom come so far."""
        publisher = self.other(role)
        steps = (
            (role, rs.Subscribe("p", number, 2)),
            (publisher, rs.Subscribed(number, 0)),
            (publisher, rs.OnNext(number, b"x")),
        )
        for speaker, message in steps:
            self.say(speaker, message)
            self.deliver_all(speaker, [1])


class StrictShipping(Shipping):
    """The same in strict mode: after the events that a Window announced, acks allow further ones."""

    options: ClassVar[dict[str, Any]] = {"strict": True}

    def has_room(self, number: int, version: lj.Version) -> bool:
        """Return whether so many events of that version may follow: within the remaining window, or the
        events that acks have freed.
        """
        transfer = self.sides["writer"].transfer
        return bool(len(transfer.outstanding) + number <= max(transfer.announced, self.promised()))

    def promised(self) -> int:
        """Return how many events would wait for an ack if all came that the Window still promises."""
        transfer = self.sides["writer"].transfer
        return len(transfer.outstanding) + int(transfer.left)

    @rule(version=st.sampled_from(lj.Version), for_good=st.booleans())
    def ship(self, version: lj.Version, for_good: bool) -> None:
        is_right = self.has_room(1, version)
        assert self.say("writer", lj.Frame(self.event(), version=version), for_good=for_good) == is_right
        self.count()

    @rule(number=st.integers(0, 3))
    def ship_compressed(self, number: int) -> None:
        version, numbers = lj.Version.V2, [(self.next + each) % 2**32 for each in range(number)]
        frames = [lj.Frame(lj.Data(each, []), version=version) for each in numbers]
        is_right = not number or self.has_room(number, version)
        assert self.say("writer", lj.Compressed(frames)) == is_right
        self.next = (self.next + number) % 2**32


class StrictBatches(StrictShipping):
    """The same in batches: windows of one version, filled to the last event and not beyond."""

    options: ClassVar[dict[str, Any]] = {"strict": True, "window_use": lj.WindowUse.BATCH}

    def has_room(self, number: int, version: lj.Version) -> bool:
        transfer = self.sides["writer"].transfer
        return number <= transfer.left and transfer.spoken is version

    @rule(size=st.integers(0, 4), for_good=st.booleans())
    def announce(self, size: int, for_good: bool) -> None:
        is_full = self.sides["writer"].transfer.left == 0
        assert self.say("writer", lj.Window(size), for_good=for_good) == is_full


TestShipping = Shipping.TestCase
TestShipping.settings = SETTINGS
TestStrictShipping = StrictShipping.TestCase
TestStrictShipping.settings = SETTINGS
TestStrictBatches = StrictBatches.TestCase
TestStrictBatches.settings = SETTINGS
TestStreaming = Streaming.TestCase
TestStreaming.settings = SETTINGS
