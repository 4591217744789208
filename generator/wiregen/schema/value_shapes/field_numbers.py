"""The numbers by which protobuf identifies fields, messages and alternatives.

They come from declaration order or `@tag`. The lock next to the .wire file stores them, so that builds never
change one.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from wiregen.schema.value_shapes.shapes import Carried, CarriedField, Choice, FrameRecord, Record

__all__ = ["NumberedPart", "Numbers", "WrongNumber", "faults", "numbers_of", "read_lock", "retired"]

Numbers = Mapping[str, int]
"""By `Data.sequence`, `Frame.Data`, `Value.Integer.value`: the declaration and the part, without the protocol."""

_LARGEST = 2**29 - 1
_RESERVED = range(19_000, 20_000)  # protobuf keeps them for itself


@dataclass(frozen=True, slots=True, kw_only=True)
class NumberedPart:
    """A part of a declaration (its `owner`) with its number; `path` is its path in the model."""

    owner: str
    part: str
    number: int
    path: str

    @property
    def name(self) -> str:
        return f"{self.owner}.{self.part}"


@dataclass(frozen=True, slots=True, kw_only=True)
class WrongNumber:
    """A wrong number: another part, `other`, has or had it, or (without `other`) it is outside the range of protobuf."""

    entry: NumberedPart
    other: str | None
    locked: int | None = None


def numbers_of(carried: Carried) -> tuple[NumberedPart, ...]:
    """Return the number of each part that is carried, in text order."""
    return tuple(_entries(carried))


def _entries(carried: Carried) -> Iterator[NumberedPart]:
    for record in carried.records:
        owner = record.name if record.union is None else f"{record.union}.{record.name}"
        first = 2 if record.has_code else 1
        if record.has_code:
            yield NumberedPart(owner=owner, part="code", number=1, path=record.path)
        yield from _fields(owner, record.fields, first)
        yield from _choices(owner, record.choices, record.path)
    for frame in carried.frames:
        yield from _fields(frame.name, frame.fields, 1)
        yield from _choices(frame.name, frame.choices, frame.path)
        yield from _messages(carried, frame)
    for union in carried.unions:
        for number, variety in enumerate(carried.varieties(union), 1):
            yield _entry(union, variety.name, number, variety)


def _fields(owner: str, fields: tuple[CarriedField, ...], first: int) -> Iterator[NumberedPart]:
    for number, field in enumerate(fields, first):
        yield _entry(owner, field.name, number, field)


def _entry(owner: str, part: str, number: int, declared: CarriedField | Record) -> NumberedPart:
    tag = declared.notes.tag
    chosen = tag if isinstance(tag, int) else number
    return NumberedPart(owner=owner, part=part, number=chosen, path=declared.path)


def _choices(owner: str, choices: tuple[Choice, ...], path: str) -> Iterator[NumberedPart]:
    for choice in choices:
        for number in range(1, len(choice.forms) + 1):
            yield NumberedPart(owner=f"{owner}.{choice.name}", part=str(number), number=number, path=path)


def _messages(carried: Carried, frame: FrameRecord) -> Iterator[NumberedPart]:
    for number, name in enumerate(frame.messages, len(frame.fields) + 1):
        message = carried.record("message", name)
        own = number
        if frame.is_coded and message.code is not None:
            own = message.code if message.code > 0 else 128 - message.code
        yield _entry(frame.name, name, own, message)


# ---- allowed numbers


def faults(entries: tuple[NumberedPart, ...], lock: Numbers) -> Iterator[WrongNumber]:
    """Yield the numbers that are not allowed, that two parts share, or that differ from the lock."""
    seen: dict[tuple[str, int], str] = {}
    former = {(name.rpartition(".")[0], number): name for name, number in lock.items()}
    for entry in entries:
        place = (entry.owner, entry.number)
        if not 1 <= entry.number <= _LARGEST or entry.number in _RESERVED:
            yield WrongNumber(entry=entry, other=None)
        elif place in seen:
            yield WrongNumber(entry=entry, other=seen[place])
        elif lock.get(entry.name, entry.number) != entry.number:
            yield WrongNumber(entry=entry, other=entry.name, locked=lock[entry.name])
        elif former.get(place, entry.name) != entry.name:
            yield WrongNumber(entry=entry, other=former[place], locked=entry.number)
        seen.setdefault(place, entry.name)


def retired(entries: tuple[NumberedPart, ...], lock: Numbers) -> Mapping[str, tuple[int, ...]]:
    """Return, by owner, the numbers of removed declarations: they stay reserved."""
    names = {entry.name for entry in entries}
    gone: dict[str, list[int]] = {}
    for name, number in lock.items():
        if name not in names:
            gone.setdefault(name.rpartition(".")[0], []).append(number)
    return {owner: tuple(sorted(numbers)) for owner, numbers in gone.items()}


# ---- the lock


def read_lock(text: str) -> dict[str, int]:
    """Return the numbers of a lock.

    Raises:
        ValueError: A line does not hold a number.
    """
    numbers = {}
    for line in text.splitlines():
        name, sign, number = line.partition("#")[0].partition("=")
        if not name.strip() and not sign:
            continue
        if not sign or "." not in name or not number.strip().isascii() or not number.strip().isdigit():
            raise ValueError(f"not a number of a lock: {line[:80]}")
        numbers[name.strip()] = int(number)
    return numbers
