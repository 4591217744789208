"""Each construct of the language, in a file of its own: it builds, its values come back, and both codecs say the same of all."""

from __future__ import annotations

import copy
import random
from pathlib import Path
from typing import Any

import pytest
from hypothesis import settings
from tests.property import agreement, grown, values
from tests.property.codecs import Codecs, Wishes, is_refusal
from tests.property.schemas import built
from tests.property.test_every_construct import damaged

from wiregen.runtime.reference.objects import build

CASES = Path(__file__).resolve().parents[1] / "cases" / "constructs"
N_VALUES = 400 if settings.get_current_profile_name() == "soak" else 8
WISHES = (
    Wishes(),
    Wishes(strict=True),
    Wishes(limits=(("frame", 30), ("count", 1), ("messages", 3), ("depth", 0), ("inflated", 5))),
)
UNFIT: tuple[Any, ...] = (
    *(None, True, 0, -1, 300, 2**70, 1.5, "", "abc", "\ud800"),
    *(b"", b"abc", b"x" * 300, [], [1], [None], object()),
)


@pytest.mark.parametrize("path", [pytest.param(path, id=path.stem) for path in sorted(CASES.glob("*.wire"))])
def test_a_construct_builds_and_comes_back(path: Path, tmp_path: Path) -> None:
    dice = random.Random(path.stem)
    with built(path.read_text(encoding="utf-8"), tmp_path, f"construct_{path.stem}") as codecs:
        made = list(grown.frames(codecs.schema, dice, N_VALUES))
        assert len(made) > N_VALUES // 2
        for value, data in made:
            check_both_ways(codecs, build(codecs.schema, value, vars(codecs.module)), data)
            check_damaged(codecs, data, dice)
        check_in_a_stream(codecs, [data for _, data in made], dice)


def check_both_ways(codecs: Codecs, frame: Any, data: bytes) -> None:
    """Check that both codecs write a value alike, read it alike, and write again what was read."""
    assert codecs.compiled_encode(frame) == codecs.reference_encode(frame) == data
    outcome = agreement.check_bytes(codecs, data, Wishes())
    if is_refusal(outcome):
        assert isinstance(outcome, dict)
        assert outcome["code"] in ("limit_exceeded", "too_deep")
        return
    assert codecs.compiled_encode(codecs.module.decode(data)) == data
    if len(data) <= 40:
        agreement.check_prefixes(codecs, data, None)


def check_damaged(codecs: Codecs, data: bytes, dice: random.Random) -> None:
    for wishes in WISHES:
        for _ in range(3):
            mutant = damaged(data, dice)
            if not is_refusal(agreement.check_bytes(codecs, mutant, wishes)):
                frame = codecs.module.decode(mutant, **wishes.arguments(codecs.module))
                agreement.check_refusal(codecs, frame)
                check_spoiled(codecs, frame, dice)


def check_spoiled(codecs: Codecs, frame: Any, dice: random.Random) -> None:
    """Check a value with something in it that may not fit."""
    places = list(values.spots(frame))
    if places:
        values.put(dice.choice(places), copy.copy(dice.choice(UNFIT)))
        agreement.check_refusal(codecs, frame)


def check_in_a_stream(codecs: Codecs, frames: list[bytes], dice: random.Random) -> None:
    data = b"".join(frames[:4])
    agreement.check_stream(codecs, data, [dice.randrange(len(data) + 1) for _ in range(6)], Wishes())
