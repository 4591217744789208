"""Formats of numbers: each is described once, and each table of a target has them all."""

from __future__ import annotations

import math
from typing import get_args

import pytest

from wiregen.generate.views.arrow import types as arrow
from wiregen.language.resolver.builtin_types import WORDS, fixed_type
from wiregen.runtime.schema.literals import Endian, FloatName
from wiregen.runtime.schema.scalars import FLOATS, INTEGER_LETTERS, INTEGER_SIZES
from wiregen.runtime.schema.types import Float, Integer

NAMES: tuple[FloatName, ...] = get_args(FloatName)
TABLES = {"runtime/schema/scalars.py": FLOATS, "generate/views/arrow/types.py": arrow.FLOATS}


@pytest.mark.parametrize("place", TABLES)
def test_each_table_of_floats_has_all_formats(place: str) -> None:
    assert set(TABLES[place]) == set(NAMES), place


@pytest.mark.parametrize("endian", get_args(Endian))
@pytest.mark.parametrize("name", FLOATS)
def test_a_float_comes_back_from_its_bytes(name: FloatName, endian: Endian) -> None:
    type_, about = Float(name, endian), FLOATS[name]
    assert type_.bits == 8 * about.size
    for value in (0.0, -0.0, 1.0, -2.5, math.inf, about.unpack(about.largest), about.unpack(about.least)):
        data = type_.encode(value)
        assert (len(data), repr(type_.decode(data))) == (type_.size, repr(value))
    assert math.isnan(type_.decode(type_.encode(math.nan)))
    assert type_.encode(1.0) == (about.pack(1.0) if endian == "big" else about.pack(1.0)[::-1])


@pytest.mark.parametrize("name", FLOATS)
def test_neighbours_differ_in_the_digits_of_their_format(name: FloatName) -> None:
    about = FLOATS[name]
    number = int.from_bytes(about.pack(1.9), "big")
    values = [about.unpack((number + step).to_bytes(about.size, "big")) for step in range(50)]
    assert len({f"{value:.{about.digits}g}" for value in values}) == len(values)


@pytest.mark.parametrize("is_signed", [False, True])
@pytest.mark.parametrize("size", INTEGER_SIZES)
def test_an_integer_has_its_bounds_and_its_word(size: int, *, is_signed: bool) -> None:
    type_ = Integer(size, is_signed, "little")
    low, high = type_.bounds
    assert (low, high) == (
        (-(2 ** (8 * size - 1)), 2 ** (8 * size - 1) - 1) if is_signed else (0, 2 ** (8 * size) - 1)
    )
    for number in (low, 0, 1, high):
        assert type_.decode(type_.encode(number)) == number
    for number in (low - 1, high + 1):
        with pytest.raises(OverflowError):
            type_.encode(number)
    word = f"{'i' if is_signed else 'u'}{8 * size}"
    assert word in WORDS
    assert fixed_type(word, "little", "msb") == type_


def test_letters_of_struct_are_for_sizes_that_there_are() -> None:
    assert set(INTEGER_LETTERS) <= set(INTEGER_SIZES)
