"""The columns of integers: each holds all numbers, and a wider integer is no column that loses some."""

from __future__ import annotations

import pyarrow as pa
import pytest

from wiregen.generate.views.arrow.types import number

TYPES = {f"pa.int{size}()": 1 << (size - 1) for size in (8, 16, 32, 64)}
TYPES["pa.decimal128(20, 0)"] = 10**20


@pytest.mark.parametrize("is_signed", [True, False])
@pytest.mark.parametrize("bits", range(1, 65))
def test_a_column_holds_all_numbers_of_an_integer(bits: int, is_signed: bool) -> None:
    largest = (1 << (bits - is_signed)) - 1
    assert largest < TYPES[number((bits, is_signed))]


def test_a_decimal_of_twenty_digits_holds_both_signs() -> None:
    assert number((65, True)) == "pa.decimal128(20, 0)"
    assert pa.array([2**64 - 1, -(2**63)], pa.decimal128(20, 0)).to_pylist() == [2**64 - 1, -(2**63)]


@pytest.mark.parametrize("width", [(65, False), (66, True), (256, False)])
def test_a_wider_integer_needs_a_column_of_its_own(width: tuple[int, bool]) -> None:
    with pytest.raises(AssertionError, match=f"an integer of {width[0]} bits needs a column"):
        number(width)
