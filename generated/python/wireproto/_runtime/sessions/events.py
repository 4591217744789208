"""What a connection reports: small plain values, in the order in which things happened."""

from __future__ import annotations

from ..codec.values import show

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Hashable
    from typing import Any, TypeAlias

    from ..codec.errors import DecodeError

    Event: TypeAlias = "Received | Violation | Fault | TimedOut | Ended"

__all__ = ["Ended", "Event", "Fault", "Received", "TimedOut", "Violation"]

if not TYPE_CHECKING:
    Event = object


class _Event:
    """A value with named parts."""

    __slots__ = ()
    __match_args__: tuple[str, ...] = ()

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other) and all(
            getattr(self, name) == getattr(other, name) for name in self.__match_args__
        )

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        parts = ", ".join(f"{name}={show(getattr(self, name))}" for name in self.__match_args__)
        return f"{type(self).__name__}({parts})"


class Received(_Event):
    """A whole frame (or preamble) that came.

    Attributes:
        frame: As the decoder gives it.
        role: Who sent it.
        offset: Where it begins in its direction's stream.
        time: When its last byte came.
        notes: Lenient violations, and where the connection goes on after them all others too.
    """

    __slots__ = __match_args__ = ("frame", "role", "offset", "time", "notes")

    def __init__(
        self, frame: Any, role: str, offset: int, time: float = 0.0, notes: tuple[Violation, ...] = ()
    ) -> None:
        self.frame = frame
        self.role = role
        self.offset = offset
        self.time = time
        self.notes = notes


class Violation(_Event):
    """Something that the protocol does not allow at this moment.

    Attributes:
        name: The protocol's own name of it; `unexpected_message` where no row fits, `wrong_role` where the sender never
            sends such a message, `wrong_kind` where its reader would take it for something else,
            `limit_exceeded` where there are more instances than `limits.open`.
        rule: The rule in words, where the .wire file has it.
        role: Who did it; None: nobody, for a time ran out.
        session: Whose rows say so; "" where it is no session's.
        key: Of the instance: a value, or a tuple of them; None where there is one per connection.
        state: What it is in, and stays in.
        offset: Of the frame in its direction's stream.
        lenient: It is tolerated unless strict.
        frame: What came that is not allowed; not compared and not shown, for it holds payload. None: nothing came, or it was
            only a piece.
    """

    __match_args__ = ("name", "rule", "role", "session", "key", "state", "offset", "time", "lenient")
    __slots__ = (*__match_args__, "frame")

    def __init__(
        self,
        name: str,
        *,
        rule: str | None = None,
        role: str | None = None,
        session: str = "",
        key: Hashable = None,
        state: str = "",
        offset: int = 0,
        time: float = 0.0,
        lenient: bool = False,
        frame: Any = None,
    ) -> None:
        self.name = name
        self.rule = rule
        self.role = role
        self.session = session
        self.key = key
        self.state = state
        self.offset = offset
        self.time = time
        self.lenient = lenient
        self.frame = frame

    @property
    def detail(self) -> str:
        """The session, its state and the rule: all that is to be told beside the name."""
        place = f"{self.session} in {self.state}" if self.session else ""
        return ": ".join(filter(None, (place, self.rule)))

    def __str__(self) -> str:
        return ": ".join(filter(None, (self.name, self.detail)))


class Fault(_Event):
    """Bytes that are not a frame.

    After a recoverable error the place of the next frame is known. The connection goes on there only with
    `on_error="continue"`, the protocol's own or as an option; else the Fault ends it.
    """

    __slots__ = __match_args__ = ("error", "role", "time")

    def __init__(self, error: DecodeError, role: str, time: float = 0.0) -> None:
        self.error = error
        self.role = role
        self.time = time


class TimedOut(_Event):
    """A timer ran out whose row is legal; `state` to `next_state`."""

    __slots__ = __match_args__ = ("session", "key", "state", "next_state", "time")

    def __init__(self, session: str, key: Hashable, state: str, next_state: str, time: float = 0.0) -> None:
        self.session = session
        self.key = key
        self.state = state
        self.next_state = next_state
        self.time = time


class Ended(_Event):
    """A direction has come to its end."""

    __slots__ = __match_args__ = ("role", "time")

    def __init__(self, role: str, time: float = 0.0) -> None:
        self.role = role
        self.time = time
