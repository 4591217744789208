"""The events of a connection: small plain values, in order of time."""

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
    """A whole frame (or preamble) that was received.

    Attributes:
        frame: The frame, as the decoder returns it.
        role: The role that sent it.
        offset: Its offset in its direction's stream.
        time: The time at which its last byte arrived.
        notes: Lenient violations; all violations if the connection continues after them.
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
    """A frame or a delay that the protocol does not allow at this moment.

    Attributes:
        name: The protocol's own name of it; or `unexpected_message` if no transition matches, `wrong_role` if the
            sender never sends such a message, `wrong_kind` if its reader would mistake it for another,
            `limit_exceeded` if there are more instances than `limits.open`.
        rule: The rule in words, if the .wire file has it.
        role: The role that caused it, or None if a time ran out.
        session: The session that it violates, or "".
        key: The key of the instance: a value, or a tuple of them, or None with one instance per connection.
        state: The state of the instance, which does not change.
        offset: The offset of the frame in its direction's stream.
        lenient: Whether only a strict reader refuses it.
        frame: The forbidden frame; not compared and not shown, as it holds payload. It is None if a time
            ran out, or for a mere fragment.
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
        """The session, its state and the rule: the text next to the name."""
        place = f"{self.session} in {self.state}" if self.session else ""
        return ": ".join(filter(None, (place, self.rule)))

    def __str__(self) -> str:
        return ": ".join(filter(None, (self.name, self.detail)))


class Fault(_Event):
    """Bytes that are not a frame.

    After a recoverable error the place of the next frame is known. The connection continues there only with
    `on_error="continue"`, the protocol's own or as an option; otherwise the Fault ends it.
    """

    __slots__ = __match_args__ = ("error", "role", "time")

    def __init__(self, error: DecodeError, role: str, time: float = 0.0) -> None:
        self.error = error
        self.role = role
        self.time = time


class TimedOut(_Event):
    """A timer ran out, and its transition led from `state` to `next_state`."""

    __slots__ = __match_args__ = ("session", "key", "state", "next_state", "time")

    def __init__(self, session: str, key: Hashable, state: str, next_state: str, time: float = 0.0) -> None:
        self.session = session
        self.key = key
        self.state = state
        self.next_state = next_state
        self.time = time


class Ended(_Event):
    """The end of one direction: the role sends no more bytes."""

    __slots__ = __match_args__ = ("role", "time")

    def __init__(self, role: str, time: float = 0.0) -> None:
        self.role = role
        self.time = time
