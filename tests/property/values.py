"""Hypothesis strategies made from a plan: frames that the wire can carry, values that it cannot, and bytes gone wrong."""

from __future__ import annotations

from collections.abc import Iterator
from copy import copy
from typing import Any

from hypothesis import reject
from hypothesis import strategies as st
from hypothesis.strategies import DrawFn, SearchStrategy

from wiregen.conformance.samples import RandomChoices, SampleBasis, grow
from wiregen.conformance.samples.choices import UngrownError
from wiregen.runtime.reference.tree import FrameValue
from wiregen.runtime.schema.protocol import Schema

# ---- good values


def frames(plan: Schema) -> SearchStrategy[FrameValue]:
    """Return frames that the wire can carry: tree values, with enums as plain numbers."""
    return _frames(SampleBasis(schema=plan))


@st.composite
def _frames(draw: DrawFn, basis: SampleBasis) -> FrameValue:
    dice = draw(st.randoms(use_true_random=False))
    try:
        value = grow(basis, RandomChoices(dice=dice), role=None).value
    except UngrownError:
        reject()
    assert isinstance(value, FrameValue)
    return value


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
