"""The foundation of the straight-line code in generated modules: budgets, envelopes, and calls of the reference codec.

Invariant: a reading function raises one of `READ_FAULTS` on any bytes that it refuses, without details. Its
caller asks `explain` for the place and the reason. So valid input never pays for them.
"""

from __future__ import annotations

from _thread import _local
from struct import error as struct_error

from .text import decode_text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any, Final, NoReturn, Protocol, TypeAlias

    Entries: TypeAlias = dict[str, dict[tuple[Any, ...], Any]]

    class Remembering(Protocol):
        """The context of earlier messages: for each context by its name, the entries by their sender and keys."""

        @property
        def entries(self) -> Entries: ...


__all__ = [
    "BRIEF", "BRIEF_REFERENCE", "BUGS", "JUDGED", "LENGTHS", "READ_FAULTS", "Bad", "ReadState", "WriteState", "as_bytes", "foreign", "hand_over", "is_certain", "lenient_text", "release",
]  # fmt: skip

LENGTHS: Final = tuple(length.to_bytes(4, "big") for length in range(256))
"""The u32 prefixes of short values, big-endian."""

BRIEF_REFERENCE: Final = 1024
"""Bytes that a brief call gives to the reference codec."""


class Bad(Exception):
    """A value or bytes do not conform; the reference codec finds out why. With an argument: straight-line
    code is not certain.
    """


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
BUGS: Final = (AssertionError, NameError, ImportError)
"""Exceptions that only a bug of an encoder raises in code of ours. A method of a value's own class may raise any."""

_OURS: Final = __name__.removesuffix(".codec.compiled").removesuffix("._runtime")


def hand_over(fault: Exception) -> None:
    """Return if the reference codec is to find the reason of a failed write in the given value.

    Raises:
        Exception: The fault itself: it is a bug, raised by a generated module or the runtime, or memory is exhausted.
    """
    link = fault.__traceback__
    while link is not None and link.tb_next is not None:
        link = link.tb_next
    name = "" if link is None else link.tb_frame.f_globals.get("__name__", "")
    is_bug = issubclass(type(fault), BUGS) and f"{name}.".startswith(f"{_OURS}.")
    if is_bug or issubclass(type(fault), MemoryError):
        raise fault


def as_bytes(data: bytes | bytearray | memoryview) -> bytes:
    """Return the bytes of any bytes-like object.

    Raises:
        TypeError: `data` is not bytes-like: a number is not taken as a size, and text needs an encoding.
    """
    return memoryview(data).tobytes()


def release(error: BaseException) -> None:
    """Free the values of a failed read: its local variables live as long as the error's traceback."""
    link: BaseException | None = error
    while link is not None:
        link.__traceback__ = None
        link = link.__context__


def is_certain(fault: BaseException) -> bool:
    """Return whether an error of straight-line code, with the errors that led to it, proves that the input
    does not conform.
    """
    link: BaseException | None = fault
    while link is not None:
        if isinstance(link, Bad) and link.args:
            return False
        link = link.__context__
    return True


def foreign(buffer: bytes, offset: int, end: int, state: ReadState | None) -> NoReturn:
    """Refuse a message that only the other role sends, in frames of its own.

    Raises:
        Bad: Always.
    """
    raise Bad


class _Budgets:
    """The remaining budgets of one outer frame; `level`: the number of enclosing circular declarations.

    `is_spent`: a budget was used, so that the next outer frame must call `begin`.
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
        """Take the items of a list from the budget, before any of them is read.

        Raises:
            Bad: More than a list, or all lists of the frame together, may have.
        """
        self.is_spent = True
        self.messages_left -= count
        if self.messages_left < 0 or (self.count is not None and count > self.count):
            raise Bad

    def take_one(self) -> None:
        """Take one item of a list without a count from the budget.

        Raises:
            Bad: More than all lists of the frame together may have.
        """
        self.is_spent = True
        self.messages_left -= 1
        if self.messages_left < 0:
            raise Bad

    def enter(self) -> None:
        """Enter a declaration that can contain itself; `leave` undoes it.

        Raises:
            Bad: More of them are inside each other than allowed.
        """
        if self.level > self.depth:
            raise Bad
        self.is_spent = True
        self.level += 1

    def allow(self) -> None:
        """Check the depth of a declaration whose reader does not count it, as it cannot hold one that counts.

        Raises:
            Bad: More of them are inside each other than allowed.
        """
        if self.level > self.depth:
            raise Bad

    def leave(self) -> None:
        """Leave a declaration that was entered."""
        self.level -= 1


class ReadState(_Budgets):
    """The options of reading a frame that differ from the defaults, and the budgets of nested frames."""

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
        UnicodeDecodeError: The bytes are not a text of this encoding.
    """
    return decode_text(data, encoding, state is None or not state.strict, endian)


class WriteState(_Budgets):
    """The options of writing a frame that differ from the defaults; `compression` is zlib's level."""

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
    """The bytes that a thread's current call may still inflate, if it leaves long work to a later call.

    Attributes:
        inflated_left: Bytes, or None if only the limits bound the call.
        has_inflated: Whether anything was inflated, or refused, since the call began.
    """

    inflated_left: int | None = None
    has_inflated = False


BRIEF = Brief()


class Judged(_local):
    """Whether a thread only checks if straight-line code can write a frame: the reason is searched for elsewhere."""

    is_on = False


JUDGED = Judged()
