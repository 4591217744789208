"""Sizes that decide whether the measured element is present, or its layout; lenient regions of given size;
remaining bytes.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.property.codecs import Codecs, Wishes, is_refusal
from tests.property.schemas import built

CASES = Path(__file__).resolve().parents[2] / "cases" / "constructs"


def module_of(case: str, tmp_path: Path) -> Iterator[Any]:
    with built((CASES / f"{case}.wire").read_text(encoding="utf-8"), tmp_path, f"unit_{case}") as codecs:
        yield codecs.module


@pytest.fixture
def sized(tmp_path: Path) -> Iterator[Any]:
    yield from module_of("sizes_decide", tmp_path)


@pytest.fixture
def chosen(tmp_path: Path) -> Iterator[Any]:
    yield from module_of("sizes_choose", tmp_path)


@pytest.fixture
def padded(tmp_path: Path) -> Iterator[Any]:
    yield from module_of("padded_regions", tmp_path)


def test_none_is_written_as_a_size_of_0(sized: Any) -> None:
    data = sized.encode(sized.Text(None, 7))
    assert data == bytes.fromhex("01 0002 00 07")
    assert sized.decode(data).message == sized.Text(None, 7)
    assert sized.encode(sized.Text("ab", 7)) == bytes.fromhex("01 0004 02 6162 07")


def test_an_empty_value_where_its_size_says_none_is_refused_with_a_hint(sized: Any) -> None:
    with pytest.raises(sized.EncodeError) as raised:
        sized.encode(sized.Text("", 7))
    assert (raised.value.code, raised.value.path) == ("constraint", "Text.text")
    assert "None" in raised.value.expected
    with pytest.raises(sized.EncodeError, match=r"Items\.items"):
        sized.encode(sized.Items([]))


def test_the_size_chooses_the_arm_that_takes_the_value(chosen: Any) -> None:
    for value, data in (
        (chosen.Nothing(), "01 0002 00 09"),
        (chosen.Two(1, 2), "01 0004 02 0102 09"),
        (chosen.Rest(1, b"x"), "01 0005 03 000178 09"),
    ):
        assert chosen.encode(chosen.Keep(value, 9)) == bytes.fromhex(data)
        assert chosen.decode(bytes.fromhex(data)).message == chosen.Keep(value, 9)


def test_a_value_of_the_size_of_another_arm_is_refused(chosen: Any) -> None:
    with pytest.raises(chosen.EncodeError) as raised:
        chosen.encode(chosen.Keep(chosen.Rest(1, b""), 9))
    assert (raised.value.code, raised.value.found) == ("constraint", "size 2")


def test_a_lenient_region_of_given_size_is_padded_with_zeros(padded: Any) -> None:
    message = padded.Fixed(padded.A(1), 9)
    assert padded.encode(message) == bytes.fromhex("01 0005 01000000 09")
    assert padded.decode(padded.encode(message)).message == message


def test_a_lenient_region_of_given_size_is_filled_with_its_trailing_bytes(padded: Any) -> None:
    data = bytes.fromhex("01 0005 01000203 09")
    frame = padded.decode(data)
    assert frame.message.s.tail == bytes.fromhex("000203")
    assert padded.encode(frame) == data


def test_left_over_bytes_are_kept_by_the_record_that_a_choice_gives(tmp_path: Path) -> None:
    for p in module_of("left_over_of_choices", tmp_path):
        assert p.decode(bytes.fromhex("01 0004 01 02 0105")).message.b.tail == b"\x05"
        assert p.decode(bytes.fromhex("02 0004 01 02 0105")).message.tail == b"\x05"
        assert p.decode(bytes.fromhex("05 0001 01")).message.tail == b""
        assert p.decode(bytes.fromhex("06 0005 02 0507 0809")).message.s.tail == b"\x07"


def test_the_bytes_that_remain_are_counted_from_the_field(tmp_path: Path) -> None:
    for p in module_of("remaining_after_lengths", tmp_path):
        assert p.decode(bytes.fromhex("01 0006 01 61 0003 0004")).message == p.Text("a", 3, 4)
        assert p.decode(bytes.fromhex("01 0004 01 61 0003")).message == p.Text("a", 3, None)
        assert p.encode(p.Until("a", [1, 2])) == bytes.fromhex("06 0004 01 61 0102")


@pytest.fixture
def padded_codecs(tmp_path: Path) -> Iterator[Codecs]:
    text = (CASES / "padded_regions.wire").read_text(encoding="utf-8")
    with built(text, tmp_path, "unit_padded_in_both") as codecs:
        yield codecs


def test_a_strict_reader_takes_the_zeros_that_an_encoder_pads_with(padded_codecs: Codecs) -> None:
    module = padded_codecs.module
    for message in (
        module.Fixed(module.A(1), 9),
        module.Given(1, 4, module.A(2), 9),
        module.Choice(1, module.A(3)),
    ):
        data = module.encode(message)
        assert module.decode(data, strict=True).message == message
        for read in (padded_codecs.compiled, padded_codecs.reference):
            assert read(data, Wishes(strict=True)) == read(data, Wishes())


@pytest.mark.parametrize(
    ("octets", "offset"),
    [("01 0005 01 000001 09", 4), ("01 0005 01 010000 09", 4), ("02 0007 01 04 02 000100 09", 6)],
)
def test_a_strict_reader_refuses_other_bytes_in_place_of_padding(
    padded_codecs: Codecs, octets: str, offset: int
) -> None:
    data = bytes.fromhex(octets)
    for read in (padded_codecs.compiled, padded_codecs.reference):
        assert not is_refusal(read(data, Wishes()))
        refusal: Any = read(data, Wishes(strict=True))
        assert (refusal["code"], refusal["at"]) == ("trailing_bytes", offset)
