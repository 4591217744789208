"""Hypothesis strategies made from a plan: frames that the wire can carry, values that it cannot, and bytes gone wrong."""

from __future__ import annotations

import string
from collections.abc import Callable, Iterator
from copy import copy
from typing import Any

from hypothesis import strategies as st
from hypothesis.strategies import DrawFn, SearchStrategy

from wiregen.runtime.reference.layout import Fields
from wiregen.runtime.reference.tree import FrameValue, Record
from wiregen.runtime.schema.declarations import Message
from wiregen.runtime.schema.protocol import Schema
from wiregen.runtime.schema.types import (
    Boolean,
    Bytes,
    EnumReference,
    Float,
    FrameReference,
    Integer,
    List,
    Prefix,
    Region,
    StructReference,
    Text,
    Type,
    Uuid,
)

_ENCODINGS: dict[str, SearchStrategy[str]] = {
    "utf8": st.text(max_size=12),
    "mutf8": st.text(max_size=12),
    "utf16": st.text(max_size=12),
    "ascii": st.text(string.printable + "\0\x7f", max_size=12),
    "latin1": st.text(st.characters(max_codepoint=255), max_size=12),
}


# ---- good values


def frames(plan: Schema, depth: int = 1) -> SearchStrategy[FrameValue]:
    """Return frames that can be written and read: tree values, with enums as plain numbers."""
    name, frame = next(iter(plan.frames.items()))
    header = _row(plan, tuple(field for field in frame.fields if field.name != frame.message), depth)
    return st.builds(
        lambda values, message: FrameValue(name, values, message, body=frame.message),
        header,
        messages(plan, depth),
    )


def messages(plan: Schema, depth: int) -> SearchStrategy[Record]:
    flat = {name: layout for name, layout in plan.messages.items() if depth > 0 or not _holds_frames(layout)}
    return st.one_of([_record(plan, name, each.fields, depth) for name, each in flat.items()])


def _holds_frames(layout: Message) -> bool:
    return any(isinstance(field.type, Region) for field in layout.fields)


def _record(plan: Schema, name: str, fields: Fields, depth: int) -> SearchStrategy[Record]:
    return _row(plan, fields, depth).map(lambda values: Record(name, values))


def _row(plan: Schema, fields: Fields, depth: int) -> SearchStrategy[dict[str, Any]]:
    return st.fixed_dictionaries(
        {field.name: _values(plan, field.type, depth) for field in fields if not field.is_hidden}
    )


def _values(plan: Schema, type_: Type, depth: int) -> SearchStrategy[Any]:
    match type_:
        case Integer():
            return _integers(type_)
        case Float():
            return st.floats(width=32 if type_.size == 4 else 64)
        case Boolean():
            return st.booleans()
        case Uuid():
            return st.uuids()
        case Bytes(Prefix(Integer() as prefix)):
            return st.binary(max_size=12) | st.binary(min_size=65, max_size=300).filter(_fits(prefix))
        case Text(encoding, _, is_lenient):
            return _lenient_text() if encoding == "utf8" and is_lenient else _ENCODINGS[encoding]
        case List(item):
            return st.lists(_values(plan, item, depth), max_size=4)
        case EnumReference(name):
            return _members(plan, name)
        case StructReference(name):
            return _record(plan, name, plan.structs[name], depth)
        case Region(List(FrameReference())):
            return st.lists(frames(plan, depth - 1), max_size=3)
        case _:
            raise AssertionError(f"no values for {type_}")


def _integers(type_: Integer) -> SearchStrategy[int]:
    low, high = type_.bounds
    return st.integers(low, high) | st.sampled_from([low, high])


def _fits(prefix: Integer) -> Callable[[bytes], bool]:
    return lambda value: len(value) <= prefix.bounds[1]


def _lenient_text() -> SearchStrategy[str]:
    """Return text as it is read, with lone surrogates for bytes that are not valid text."""
    return st.text(max_size=12) | st.binary(max_size=12).map(
        lambda data: data.decode("utf-8", "surrogateescape")
    )


def _members(plan: Schema, name: str) -> SearchStrategy[int]:
    enum = plan.enums[name]
    known = st.sampled_from([each.value for each in enum.members])
    return known | _integers(enum.type) if enum.is_open and isinstance(enum.type, Integer) else known


# ---- bad values


class Indexed:
    """Python takes it for an integer where one is asked for by `__index__`."""

    def __index__(self) -> int:
        return 1


class Barred:
    """Has no attribute that can be read."""

    def __getattr__(self, name: str) -> Any:
        raise KeyError(name)


class LongNumber(int): ...


class LongText(str): ...


class LongBytes(bytes): ...


BAD_VALUES: SearchStrategy[Any] = st.one_of(
    st.none() | st.booleans() | st.floats() | st.complex_numbers(),
    st.integers(-(2**70), 2**70) | st.just(10**400),
    st.text(st.characters(), max_size=4) | st.sampled_from(["\ud800", "\udc80", "\ud800\udc00", "x" * 300]),
    st.binary(max_size=4) | st.just(b"x" * 300),
    st.sampled_from(
        [(), [], {}, [None], [[]], {"key": 1}, object, object(), Indexed(), Barred(), range(3)]
    ).map(
        lambda value: (
            [*map(copy, value)] if type(value) is list else value
        )  # they are put into, and drawn again
    ),
    st.builds(LongNumber, st.integers(0, 300))
    | st.builds(LongText, st.text())
    | st.builds(LongBytes, st.binary()),
    st.builds(bytearray, st.binary(max_size=4)) | st.binary(max_size=4).map(lambda data: memoryview(data)),
    st.integers(256, 70_000).map(lambda count: [1] * count),
)


def spots(value: Any) -> Iterator[tuple[Any, str | int]]:
    """Yield every place in an object of generated classes that a value can be put in."""
    names = getattr(type(value), "__slots__", ())
    if isinstance(value, list):
        for index, item in enumerate(value):
            yield value, index
            yield from spots(item)
    elif names and type(value).__module__.endswith(".messages"):
        for name in names:
            yield value, name
            yield from spots(getattr(value, name))


def at(place: tuple[Any, str | int]) -> Any:
    """Return the value in a place."""
    owner, name = place
    return owner[name] if isinstance(name, int) else getattr(owner, name)


def put(place: tuple[Any, str | int], value: Any) -> None:
    owner, name = place
    if isinstance(name, int):
        owner[name] = value
    else:
        setattr(owner, name, value)


# ---- bytes gone wrong


@st.composite
def mutated(draw: DrawFn, data: bytes) -> bytes:
    """Return `data` with one to three bits turned, pieces cut out, put in, or raised like a length."""
    buffer = bytearray(data)
    for _ in range(draw(st.integers(1, 3))):
        at = draw(st.integers(0, len(buffer)))
        match draw(st.sampled_from(("flip", "cut", "insert", "raise", "end"))):
            case "flip" if at < len(buffer):
                buffer[at] ^= 1 << draw(st.integers(0, 7))
            case "cut":
                del buffer[at : at + draw(st.integers(1, 8))]
            case "raise":
                buffer[at : at + 4] = draw(
                    st.sampled_from((b"\xff\xff\xff\xff", b"\x80\0\0\0", b"\0\0\0\x01"))
                )
            case "end":
                del buffer[at:]
            case _:
                buffer[at:at] = draw(st.binary(min_size=1, max_size=8))
    return bytes(buffer)
