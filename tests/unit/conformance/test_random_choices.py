"""Samples by chance: equal dice make equal samples, each option is taken, and other values are between the boundaries."""

from __future__ import annotations

import random
from collections import Counter
from contextlib import suppress
from typing import Any

import pytest

from wiregen.conformance.samples import RandomChoices, SampleBasis, SampleValue, grow
from wiregen.conformance.samples.choices import UngrownError
from wiregen.generate.frontend import load_protocol
from wiregen.language.diagnostics import Report
from wiregen.language.source import Sources
from wiregen.runtime.codec.options import Options
from wiregen.runtime.reference.writing.frames import write_frame
from wiregen.schema.lowering import lower

TEXT = """wire 1
protocol p { source "no document" endian big roles a, b }
frame F { type : u8 := code(body)  length : u16 := size(body)  body : match type in length }
open enum Kind : u8 { ONE = 1  TWO = 2 }
message M 1 {
  n : u16  i : i32  v : varint  x : f64  id : uuid  is_it : bool  kind : Kind
  ascii : ascii[u8]  text : utf8[u16]  octets : bytes[u8]
}
message List 2 { items : u8[u8] }
message Around 3 { inside : F only List }
message Short 4 { a : u8  b : u8 ?= 7 }
"""
N_SAMPLES = 400
NUMBERS = {"n": (0, 65535), "i": (-(2**31), 2**31 - 1), "v": (0, 2**64 - 1)}
SIZED = ("ascii", "text", "octets")


@pytest.fixture(scope="module")
def basis(tmp_path_factory: pytest.TempPathFactory) -> SampleBasis:
    path = tmp_path_factory.mktemp("random") / "p.wire"
    path.write_text(TEXT, encoding="utf-8")
    subject = load_protocol(path, Sources(), Report(), (path.parent,))
    assert subject is not None
    return SampleBasis(schema=lower(subject.protocol))


def samples(basis: SampleBasis, seed: int, **demands: Any) -> list[SampleValue]:
    dice = random.Random(seed)
    found = []
    for _ in range(N_SAMPLES):
        with suppress(UngrownError):  # of regions that are too small
            found.append(grow(basis, RandomChoices(dice=dice, **demands), role="a"))
    return found


def fields(basis: SampleBasis) -> list[dict[str, Any]]:
    """Return the fields of samples of message M."""
    return [each.value.message.fields for each in samples(basis, 1, by_site={"F.type": 1})]  # type: ignore[union-attr]


def test_equal_dice_make_equal_samples(basis: SampleBasis) -> None:
    first, again, other = (list(map(repr, written(basis, seed))) for seed in (1, 1, 2))
    assert first == again != other


def written(basis: SampleBasis, seed: int) -> list[bytes]:
    return [write_frame(basis.schema, each.value, Options("a")) for each in samples(basis, seed)]


def test_every_option_that_is_not_long_is_taken(basis: SampleBasis) -> None:
    found = [*samples(basis, 1), *samples(basis, 2, by_site={"F.type": 1})]
    made = [choice for sample in found for choice in sample.made]
    goals = {
        goal
        for choice in made
        for goal, (_, value) in zip(choice.goals, choice.options, strict=choice.is_goal)
        if not isinstance(value, str | bytes) or len(value) <= 16
    }
    assert goals - {choice.covers for choice in made} == set()
    assert len(goals) > 60


def test_numbers_are_also_others_than_the_boundaries(basis: SampleBasis) -> None:
    rows = fields(basis)
    for name, (low, high) in NUMBERS.items():
        numbers = {row[name] for row in rows}
        assert {low, high} <= numbers
        assert len(numbers) > 50
        assert all(low <= number <= high for number in numbers)
        assert len({number.bit_length() for number in numbers}) > high.bit_length() // 2


def test_texts_and_bytes_are_also_others_and_seldom_long(basis: SampleBasis) -> None:
    rows = fields(basis)
    for name in SIZED:
        values = [row[name] for row in rows]
        assert len(set(values)) > 50
        n_long = sum(len(value) > 16 for value in values)
        assert 0 < n_long < len(rows) / 5
        assert max(map(len, values)) <= 300
    assert all(row["ascii"].isascii() for row in rows)


def test_what_is_demanded_is_not_left_to_chance(basis: SampleBasis) -> None:
    found = samples(basis, 1, by_site={"F.type": 2, "List.items.count": 5}, by_path={"List.items[3]": 0})
    lists = [each.value.message.items for each in found]  # type: ignore[union-attr]
    assert {len(items) for items in lists} == {5}
    assert len({items[3] for items in lists}) == 1 < len({items[2] for items in lists})


def test_a_demanded_message_may_hold_another_one(basis: SampleBasis) -> None:
    for sample in samples(basis, 1, by_site={"F.type": 3}):
        message: Any = sample.value.message
        assert (message.name, message.inside.message.name) == ("Around", "List")


def test_fields_at_the_end_are_absent_at_times(basis: SampleBasis) -> None:
    dice = random.Random(1)
    absences = Counter[int]()
    for _ in range(N_SAMPLES):
        with suppress(UngrownError):
            choices = RandomChoices(dice=dice, by_site={"F.type": 4})
            absences[grow(basis, choices, role="a").value.message.absent] += 1  # type: ignore[union-attr]
    assert set(absences) == {0, 1}
    assert sum(absences.values()) > N_SAMPLES / 2
