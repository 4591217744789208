"""Formats of numbers: each is described once, and each target shows them all."""

from __future__ import annotations

import math
from pathlib import Path
from struct import Struct
from typing import cast, get_args

import pytest

from wiregen.generate.frontend import load_protocol
from wiregen.generate.views.arrow.types import scalar
from wiregen.generate.views.wireshark.types import LuaTypes
from wiregen.language.diagnostics import Report
from wiregen.language.resolver.builtin_types import WORDS, fixed_type
from wiregen.language.source import Sources
from wiregen.runtime.codec.options import Options
from wiregen.runtime.reference.layout import Layout
from wiregen.runtime.schema.literals import Endian, FloatName
from wiregen.runtime.schema.scalars import FLOATS, INTEGER_LETTERS, INTEGER_SIZES, FloatFormat
from wiregen.runtime.schema.types import Float, Integer
from wiregen.schema.lowering import lower
from wiregen.schema.model import Protocol
from wiregen.schema.value_shapes import Number, carry

FRAME = "frame F { type : u8 := code(body)  size : u16 := size(body)  body : match type in size }\n"
NAMES: tuple[FloatName, ...] = get_args(FloatName)
HALF = FloatFormat("", 4, b"\x7b\xff", Struct(">e").pack, lambda data: float(Struct(">e").unpack(data)[0]))
"""A format of which neither Arrow nor Lua knows."""


def protocol_of(folder: Path, fields: str) -> Protocol:
    """Return a protocol whose message M has these fields."""
    path = folder / "p.wire"
    path.write_text(
        f'protocol p {{ source "document" endian big roles a, b }}\nmessage M 1 {{ {fields} }}\n{FRAME}'
    )
    report = Report()
    subject = load_protocol(path, Sources(), report, (folder,))
    assert subject is not None, report.diagnostics
    return subject.protocol


def test_each_format_of_floats_has_its_word() -> None:
    assert set(FLOATS) == set(NAMES), "runtime/schema/scalars.py and the names in runtime/schema/literals.py"


@pytest.mark.parametrize(
    ("name", "column"), [("f32", "pa.float32()"), ("f64", "pa.float64()"), ("half", "pa.float32()")]
)
def test_a_column_holds_each_value_of_a_format(
    name: FloatName, column: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(cast(dict[str, FloatFormat], FLOATS), "half", HALF)
    assert scalar(Float(name, "big")) == column


@pytest.mark.parametrize(("name", "reader"), [("f32", "float(P("), ("f64", "float(P("), ("half", "bytes(P(")])
def test_wireshark_shows_the_bytes_of_a_format_that_lua_does_not_read(
    name: FloatName, reader: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setitem(cast(dict[str, FloatFormat], FLOATS), "half", HALF)
    left_out: list[str] = []
    types = LuaTypes(Layout(lower(protocol_of(tmp_path, "a : u8")), Options()), left_out)
    assert types.type(Float(name, "big"), "m.x", "x", "m").startswith(reader)
    assert left_out == (["`half`"] if name not in NAMES else [])


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
    (record,) = (each for each in carry(protocol_of(tmp_path, fields)).records if each.name == "M")
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
