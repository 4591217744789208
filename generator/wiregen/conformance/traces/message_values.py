"""The possible messages of one side and kind: the fields that make a difference, the values worth trying, their bytes."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from math import prod
from typing import Any, Final, TypeAlias

from wiregen.conformance.traces.field_paths import with_values
from wiregen.conformance.traces.relevant_fields import Mention
from wiregen.conformance.traces.smallest_values import variations
from wiregen.language.examples.connection_state import ConnectionState
from wiregen.runtime.codec.errors import EncodeError
from wiregen.runtime.codec.options import Options
from wiregen.runtime.reference.writing.frames import write_frame
from wiregen.runtime.sessions.names import Kind

__all__ = ["MessageDraft", "MessageKind", "Spread", "written_by"]

_MOST_DRAFTS: Final = 400
_LONGEST: Final = 9


@dataclass(frozen=True, slots=True, kw_only=True)
class MessageDraft:
    """A message that `sender` could send. `written`: the value that is encoded, as `writer` encodes it;
    `seen`: its meaning.
    """

    sender: str
    writer: str
    written: Any
    seen: Any
    is_piece: bool = False
    measured: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        """The sender and the name of the message."""
        message = getattr(self.written, "message", self.written)
        return f"{self.sender} {message.name}"

    def encoded(self, world: ConnectionState) -> bytes | None:
        """Return its bytes, or None if it cannot be sent now. Fields in `measured` are given the length that fits."""
        data = written_by(self.written, self.writer, world)
        if data is not None or not self.measured:
            return data
        for size in range(1, _LONGEST):
            values = tuple(bytes(size) for _ in self.measured)
            made = with_values(self.written, tuple((name,) for name in self.measured), values)
            data = written_by(made, self.writer, world)
            if data is not None:
                return data
        return None


def written_by(value: object, writer: str, world: ConnectionState) -> bytes | None:
    """Return the bytes of a value, with compressed parts stored, or None if it cannot be encoded now."""
    options = Options(writer, context=world.context, limits=dict(world.setup.limits))
    try:
        return write_frame(world.setup.schema, value, options, compression=0)
    except EncodeError:
        return None


@dataclass(frozen=True, slots=True, kw_only=True)
class MessageKind:
    """One kind of message from one side."""

    sender: str
    writer: str
    base: Any
    kind: Kind
    mentions: tuple[Mention, ...]
    measured: tuple[str, ...]
    """Fields of bytes whose length another field gives."""
    measuring: frozenset[str]
    """Sessions that depend on the whole message."""

    @property
    def names(self) -> tuple[str, ...]:
        frame = self.kind.frame
        return (self.kind.name,) if frame is None else (self.kind.name, frame)

    @property
    def is_foreign(self) -> bool:
        return self.sender != self.writer


_Choice: TypeAlias = tuple[int, ...]


@lru_cache(maxsize=512)
def _choices(sizes: tuple[int, ...]) -> tuple[_Choice, ...]:
    """Return the combinations of so many values each, as their numbers, the plainest first."""
    most_changed = len(sizes) if prod(sizes) <= _MOST_DRAFTS // 4 else 3
    return tuple(variations([range(size) for size in sizes], most_changed=most_changed, most=_MOST_DRAFTS))


@lru_cache(maxsize=2048)
def _seen_at(sizes: tuple[int, ...], places: tuple[int, ...]) -> tuple[tuple[_Choice, ...], tuple[int, ...]]:
    """Return choices that differ from each other at these places, and for each choice the number of the equal one."""
    numbers: dict[_Choice, int] = {}
    firsts: list[_Choice] = []
    which: list[int] = []
    for choice in _choices(sizes):
        seen = tuple([choice[place] for place in places])
        if seen not in numbers:
            numbers[seen] = len(firsts)
            firsts.append(choice)
        which.append(numbers[seen])
    return tuple(firsts), tuple(which)


class Spread:
    """One kind of message from one side, with all values that are worth trying in a connection state."""

    def __init__(self, source: MessageKind, values: list[tuple[object, ...]]) -> None:
        self.sender = source.sender
        self.base = source.base
        self.what = (source.sender, source.kind.name)
        self._source = source
        self._values = values
        self._sizes = tuple(map(len, values))
        self._tokens = [tuple(map(_token, each)) for each in values]
        self._mentions = () if source.is_foreign else source.mentions
        self._concerns: dict[str | None, tuple[int, ...]] = {}

    def choices(self) -> tuple[_Choice, ...]:
        """Return the choices, as the numbers of values, the plainest first."""
        return _choices(self._sizes)

    def seen_at(self, places: tuple[int, ...]) -> tuple[tuple[_Choice, ...], tuple[int, ...]]:
        """Return choices that differ from each other at these places, and for each choice the number of the equal one."""
        return _seen_at(self._sizes, places)

    def token(self, choice: _Choice, places: tuple[int, ...]) -> tuple[Hashable, ...]:
        """Return a key that is equal if the values at these places are equal."""
        return tuple([self._tokens[place][choice[place]] for place in places])

    def is_measured_by(self, session: str) -> bool:
        return session in self._source.measuring

    def concerns(self, session: str | None) -> tuple[int, ...]:
        """Return the places of a choice on which a session depends."""
        if session not in self._concerns:
            self._concerns[session] = tuple(
                place
                for place, mention in enumerate(self._mentions)
                if session in self._source.measuring or session in mention.concerns
            )
        return self._concerns[session]

    def draft(self, choice: _Choice) -> MessageDraft:
        return self.only(choice, range(len(choice)))

    def only(self, choice: _Choice, places: Sequence[int]) -> MessageDraft:
        """Return a message that differs from the plainest at these places only."""
        paths = tuple(self._mentions[place].path for place in places)
        values = tuple(self._values[place][choice[place]] for place in places)
        made = with_values(self.base, paths, values)
        source = self._source
        return MessageDraft(
            sender=source.sender, writer=source.writer, written=made, seen=made, measured=source.measured
        )


def _token(value: object) -> Hashable:
    return value if isinstance(value, int | None) else repr(value)
