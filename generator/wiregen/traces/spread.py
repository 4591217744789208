"""What one side could say of one kind: the fields that make a difference, the values worth trying, and their bytes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final

from wiregen.runtime.errors import EncodeError
from wiregen.runtime.options import Options
from wiregen.runtime.session_words import Kind
from wiregen.runtime.writing import write_frame
from wiregen.traces.mentions import Mention
from wiregen.traces.placing import with_values
from wiregen.traces.smallest import variations
from wiregen.traces.world import World

__all__ = ["Draft", "Source", "Spread", "written_by"]

_MOST_DRAFTS: Final = 400
_LONGEST: Final = 9


@dataclass(frozen=True, slots=True, kw_only=True)
class Draft:
    """Something that `sender` could say. `written`: what is put into bytes, as `writer` writes it; `seen`: what it means."""

    sender: str
    writer: str
    written: Any
    seen: Any
    is_piece: bool = False
    measured: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        """What it is, and whose."""
        message = getattr(self.written, "message", self.written)
        return f"{self.sender} {message.name}"

    def encoded(self, world: World) -> bytes | None:
        """Return its bytes; None where it cannot be said now. What is `measured` takes the length that fits."""
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


def written_by(value: Any, writer: str, world: World) -> bytes | None:
    options = Options(writer, context=world.context, limits=dict(world.setup.limits))
    try:
        return write_frame(world.setup.plan, value, options)
    except EncodeError:
        return None


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """One kind of message from one side."""

    sender: str
    writer: str
    base: Any
    kind: Kind
    mentions: tuple[Mention, ...]
    measured: tuple[str, ...]
    """Fields of bytes whose length something else says."""
    measuring: frozenset[str]
    """Sessions that all of it concerns."""

    @property
    def names(self) -> tuple[str, ...]:
        frame = self.kind.frame
        return (self.kind.name,) if frame is None else (self.kind.name, frame)

    @property
    def is_foreign(self) -> bool:
        return self.sender != self.writer


class Spread:
    """One kind of message from one side, with all values that are worth trying in a world."""

    def __init__(self, source: Source, choices: list[tuple[Any, ...]]) -> None:
        self.sender = source.sender
        self.base = source.base
        self._source = source
        self._choices = choices
        self._mentions = () if source.is_foreign else source.mentions
        self._concerns: dict[str | None, tuple[int, ...]] = {}

    def __iter__(self) -> Iterator[tuple[int, ...]]:
        """Yield the choices, as the numbers of values, the plainest first."""
        n_all = 1
        for choice in self._choices:
            n_all *= len(choice)
        most_changed = len(self._choices) if n_all <= _MOST_DRAFTS // 4 else 3
        numbers = [range(len(choice)) for choice in self._choices]
        return variations(numbers, most_changed=most_changed, most=_MOST_DRAFTS)

    def concerns(self, session: str | None) -> tuple[int, ...]:
        """Return the places of a choice that a session depends on."""
        if session not in self._concerns:
            self._concerns[session] = tuple(
                place
                for place, mention in enumerate(self._mentions)
                if session in self._source.measuring or session in mention.concerns
            )
        return self._concerns[session]

    def draft(self, choice: tuple[int, ...]) -> Draft:
        return self.only(choice, range(len(choice)))

    def only(self, choice: tuple[int, ...], places: Sequence[int]) -> Draft:
        """Return a message that differs from the plainest at these places only."""
        paths = tuple(self._mentions[place].path for place in places)
        values = tuple(self._choices[place][choice[place]] for place in places)
        made = with_values(self.base, paths, values) if paths else self.base
        source = self._source
        return Draft(
            sender=source.sender, writer=source.writer, written=made, seen=made, measured=source.measured
        )
