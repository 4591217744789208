"""What the straight-line code of generated modules stands on: budgets, envelopes, and the way to the careful codec.

Invariant: a reading function raises one of `READ_FAULTS` on any bytes it does not like and says nothing more; the door
that called it asks `explain` for the place and the reason. So good input never pays for them.
"""

from __future__ import annotations

from _thread import _local
from struct import error as struct_error

from .text import decode_text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any, Final, NoReturn, Protocol, TypeAlias
    from uuid import UUID

    Entries: TypeAlias = dict[str, dict[tuple[Any, ...], Any]]

    class Remembering(Protocol):
        """What earlier messages said: of each context by its name, the entries by who set them and their keys."""

        @property
        def entries(self) -> Entries: ...


__all__ = [
    "BRIEF", "BRIEF_REFERENCE", "JUDGED", "LENGTHS", "READ_FAULTS", "WRITE_FAULTS", "Bad", "ReadState", "WriteState", "as_bytes", "foreign", "is_certain", "lenient_text", "release", "uuid",
]  # fmt: skip

LENGTHS: Final = tuple(length.to_bytes(4, "big") for length in range(256))
"""The u32 prefixes of short values, big-endian."""

BRIEF_REFERENCE: Final = 1024
"""Bytes that a brief call gives to the reference codec."""


class Bad(Exception):
    """Something does not conform; the careful codec knows what. With an argument, it may: straight-line code cannot tell."""


READ_FAULTS: Final = (
    struct_error,
    KeyError,
    IndexError,
    TypeError,
    AttributeError,  # no state, so that no context is known
    ArithmeticError,
    UnicodeDecodeError,
    Bad,
    RecursionError,
)
WRITE_FAULTS: Final = (
    struct_error,
    LookupError,
    TypeError,
    ValueError,
    AttributeError,
    ArithmeticError,
    BufferError,
    ReferenceError,
    RuntimeError,  # RecursionError too
    Bad,
)
"""What an operation on a bad value raises, and what methods of a value's own class may. Other errors are bugs of an encoder, and leave it."""


def as_bytes(data: bytes | bytearray | memoryview) -> bytes:
    """Return the bytes of any bytes-like object.

    Raises:
        TypeError: It is none: a number is no size here, and text has no bytes without an encoding.
    """
    return memoryview(data).tobytes()


def release(error: BaseException) -> None:
    """Free the values that a failed reading had made: its local variables live as long as the error's traceback."""
    link: BaseException | None = error
    while link is not None:
        link.__traceback__ = None
        link = link.__context__


def is_certain(fault: BaseException) -> bool:
    """Say whether what straight-line code met, and what led to it, tells that something does not conform."""
    link: BaseException | None = fault
    while link is not None:
        if isinstance(link, Bad) and link.args:
            return False
        link = link.__context__
    return True


def foreign(buffer: bytes, offset: int, end: int, state: ReadState | None) -> NoReturn:
    """Stand for the reading of a message that only the other role sends, in frames of its own.

    Raises:
        Bad: Always.
    """
    raise Bad


class _Budgets:
    """What one outer frame may still use; `level`: how many declarations that can stand inside themselves are around.

    `is_spent`: something was used, so that the next outer frame is to `begin`.
    """

    __slots__ = (
        "count", "depth", "frame", "inflated", "inflated_left", "is_spent", "level", "limits", "messages", "messages_left",
    )  # fmt: skip

    def __init__(self, limits: Mapping[str, Any]) -> None:
        self.limits = limits
        self.frame: int = limits["frame"]
        self.inflated: int = limits["inflated"]
        self.count: int | None = limits["count"]
        self.messages: int = limits["messages"]
        self.depth: int = limits["depth"]
        self.begin()

    def begin(self) -> None:
        """Begin an outer frame."""
        self.inflated_left = self.inflated
        self.messages_left = self.messages
        self.is_spent = False
        self.level = 0

    def take(self, count: int) -> None:
        """Take the items of a list, before any of them is read.

        Raises:
            Bad: More than a list, or all lists of the frame together, may have.
        """
        self.is_spent = True
        self.messages_left -= count
        if self.messages_left < 0 or (self.count is not None and count > self.count):
            raise Bad

    def take_one(self) -> None:
        """Take one item whose list has no count.

        Raises:
            Bad: More than all lists of the frame together may have.
        """
        self.is_spent = True
        self.messages_left -= 1
        if self.messages_left < 0:
            raise Bad

    def enter(self) -> None:
        """Enter a declaration that can stand inside itself; `leave` undoes it.

        Raises:
            Bad: More of them are inside each other than allowed.
        """
        if self.level > self.depth:
            raise Bad
        self.is_spent = True
        self.level += 1

    def allow(self) -> None:
        """Let a declaration be entered that its reader does not note, for none that counts can stand in it.

        Raises:
            Bad: More of them are inside each other than allowed.
        """
        if self.level > self.depth:
            raise Bad

    def leave(self) -> None:
        """Leave a declaration that was entered."""
        self.level -= 1


class ReadState(_Budgets):
    """How a frame is read where it differs from the defaults, and the budgets of nested ones."""

    __slots__ = ("entries", "role", "strict")

    def __init__(
        self,
        limits: Mapping[str, Any],
        *,
        strict: bool = False,
        role: str | None = None,
        context: Remembering | None = None,
    ) -> None:
        super().__init__(limits)
        self.strict = strict
        self.role = role
        self.entries: Entries = {} if context is None else context.entries


def lenient_text(data: bytes, encoding: str, state: ReadState | None, *, endian: str = "big") -> str:
    """Return a text whose lenient forms only a strict reader refuses.

    Raises:
        UnicodeDecodeError: It is none.
    """
    return decode_text(data, encoding, state is None or not state.strict, endian)


def uuid(data: bytes) -> UUID:
    """Return the UUID of 16 bytes; its module is loaded with the first, for that takes longer than a whole package."""
    from uuid import UUID

    return UUID(bytes=data)


class WriteState(_Budgets):
    """How a frame is written where it differs from the defaults; `compression` is zlib's level."""

    __slots__ = ("compression", "entries", "role")

    def __init__(
        self,
        limits: Mapping[str, Any],
        *,
        compression: int = -1,
        role: str | None = None,
        context: Remembering | None = None,
    ) -> None:
        super().__init__(limits)
        self.compression = compression
        self.role = role
        self.entries: Entries = {} if context is None else context.entries


class Brief(_local):
    """What the call that a thread is in may still inflate, where it leaves long work to a later call.

    Attributes:
        inflated_left: Bytes; None: the call may do all that the limits allow.
        has_inflated: Whether anything was inflated, or refused, since the call began.
    """

    inflated_left: int | None = None
    has_inflated = False


BRIEF = Brief()


class Judged(_local):
    """Whether a thread only wants to know if straight-line code can write a frame: the reason is looked for elsewhere."""

    is_on = False


JUDGED = Judged()
