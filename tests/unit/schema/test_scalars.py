"""Formats of numbers: each is described once, and each table of a target has them all."""

from __future__ import annotations

import math
from pathlib import Path
from typing import get_args

import pytest

from wiregen.generate.frontend import load_protocol
from wiregen.generate.views.arrow import types as arrow
from wiregen.language.diagnostics import Report
from wiregen.language.resolver.builtin_types import WORDS, fixed_type
from wiregen.language.source import Sources
from wiregen.runtime.schema.literals import Endian, FloatName
from wiregen.runtime.schema.scalars import FLOATS, INTEGER_LETTERS, INTEGER_SIZES
from wiregen.runtime.schema.types import Float, Integer
from wiregen.schema.value_shapes import Number, carry

FRAME = "frame F { type : u8 := code(body)  size : u16 := size(body)  body : match type in size }\n"
NAMES: tuple[FloatName, ...] = get_args(FloatName)
TABLES = {"runtime/schema/scalars.py": FLOATS, "generate/views/arrow/types.py": arrow.FLOATS}


@pytest.mark.parametrize("place", TABLES)
def test_each_table_of_floats_has_all_formats(place: str) -> None:
    assert set(TABLES[place]) == set(NAMES), f"{place} and the names in runtime/schema/literals.py"


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


def test_each_integer_is_carried_as_a_form_that_holds_it(tmp_path: Path) -> None:
    words = [f"{sign}{8 * size}" for sign in "ui" for size in INTEGER_SIZES]
    fields = "  ".join(f"f_{word} : {word}" for word in words)
    path = tmp_path / "p.wire"
    path.write_text(
        f'protocol p {{ source "document" endian big roles a, b }}\nmessage M 1 {{ {fields} }}\n{FRAME}'
    )
    report = Report()
    subject = load_protocol(path, Sources(), report, (tmp_path,))
    assert subject is not None, report.diagnostics
    (record,) = (each for each in carry(subject.protocol).records if each.name == "M")
    for field, word in zip(record.fields, words, strict=True):
        sign, bits = word[0], int(word[1:])
        if isinstance(field.form, Number):
            room = 64 if field.form.is_wide else 32
            assert bits <= room, f"{word} in schema/value_shapes/derivation.py"
            assert field.form.is_signed == (sign == "i")
        else:
            assert bits > 64


def test_letters_of_struct_are_for_sizes_that_there_are() -> None:
    assert set(INTEGER_LETTERS) <= set(INTEGER_SIZES)
