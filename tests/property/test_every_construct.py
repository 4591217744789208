"""Every construct of the language: generated code and the reference codec agree on values, on good bytes and on damaged ones."""

from __future__ import annotations

import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest
from tests.property import agreement
from tests.property.codecs import Codecs, Wishes, is_refusal
from tests.property.schemas import built

from wiregen.runtime.codec.errors import EncodeError

TEXT = (Path(__file__).parent / "every_construct.wire").read_text(encoding="utf-8")
WISHES = (
    Wishes(),
    Wishes(strict=True),
    Wishes(limits=(("frame", 120), ("count", 3), ("messages", 4), ("depth", 0), ("inflated", 40))),
)
N_VALUES = 150


@pytest.fixture(scope="module")
def codecs(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Codecs]:
    folder = tmp_path_factory.mktemp("every")
    with built(TEXT, folder, "every_construct") as found:
        yield found


class Maker:
    """Makes frames of the generated classes, some of which the wire cannot carry."""

    def __init__(self, module: Any, seed: int) -> None:
        self._module = module
        self._random = random.Random(seed)

    def below(self, end: int) -> int:
        return self._random.randrange(end)

    def one_of(self, *values: Any) -> Any:
        return self._random.choice(values)

    def few(self, make: Any, most: int = 3) -> list[Any]:
        return [make() for _ in range(self.below(most + 1))]

    def frame(self) -> Any:
        return self._module.Frame(self.message(), self.below(256))

    def value(self, depth: int = 0) -> Any:
        v, inner = self._module.Val, depth + 1
        makers = [
            v.Nil,
            lambda: v.Int(self.below(2**32) - 2**31),
            lambda: v.Str(self.one_of("", "a", "é\0", "😀x")),
            lambda: v.Multi(5 + self.below(3), self.below(65536)),
            lambda: v.Rest(bytes(self.below(5))),
            lambda: v.Many(self.one_of(None, self.few(lambda: self.value(inner)))),
            lambda: v.Rec(self.value(inner), self.below(2**24)),
        ]
        return self.one_of(*makers[: 7 if depth < 2 else 4])()

    def tree(self, depth: int = 0) -> Any:
        kids = self.few(lambda: self.tree(depth + 1), 2) if depth < 2 else []
        return self._module.Tree(self.below(256), kids)

    def pair(self) -> Any:
        return self._module.Pair(self.one_of("", "k", "é"), self.one_of(None, b"", b"abc", bytes(300)))

    def message(self) -> Any:
        makers = [self.bits, self.text, self.numbers, self.lists, self.values, self.options]
        return self.one_of(*makers, self.regions, self.choices, self.sum, self.holder, self.leftover)()

    def bits(self) -> Any:
        widths = {"v": 3, "x": 5, "y": 6, "z": 5, "aft": 24, "le": 24}
        numbers = {name: self.below(1 << width) for name, width in widths.items()}
        return self._module.Bits(f=self.one_of(True, False), neg=self.below(2**24) - 2**23, **numbers)

    def text(self) -> Any:
        texts = [self.one_of("", "ab", other) for other in ("é", "é\0😀", "z", "é", "😀", "q")]
        return self._module.Text(*texts, b"abc", bytes(self.below(4)))

    def numbers(self) -> Any:
        return self._module.Nums(
            a=self.one_of(0, 127, 128, 2**64 - 1),
            b=self.one_of(0, 2**63 - 1),
            c=self.one_of(0, -1, 2**63 - 1, -(2**63), 64),
            d=self.one_of(None, 0, 252, 253, 65535, 65536, -1),
            e=self.one_of(0, 127, 128, 65535),
            k=self.one_of(1, 2, 300, 2**40),
            co=self.one_of(1, 2, 3),
            fl=1.5,
            g=self.one_of(0.0, -2.5, float("inf")),
            u=UUID(int=self.below(2**128)),
            bo=self.one_of(True, False),
        )

    def lists(self) -> Any:
        n = 1 + self.below(3)
        numbers, pairs = [self.below(2**32) for _ in range(n)], [self.pair() for _ in range(n - 1)]
        nullable = self.one_of(None, [None, 1, 300])
        shorts, colors = self.few(lambda: self.below(65536)), self.few(lambda: self.one_of(1, 2))
        return self._module.Lists(
            shorts, self.few(self.pair), colors, n, numbers, pairs, nullable, ["a", "é"]
        )

    def values(self) -> Any:
        m = self._module
        wide = self.few(lambda: self.one_of(m.Wide.X(1), m.Wide.Y(3, b"abc")))
        return m.Values(
            self.value(), wide, self.one_of(m.Vint.P(2), m.Vint.Q("é")), self.tree(), self.value()
        )

    def options(self) -> Any:
        has_pair = self.one_of(True, False)
        pair = self.pair() if has_pair else None
        made = self._module.Opt(two=has_pair, a=self.one_of(None, 7), b=pair, c=self.below(65536), d="y", e=1)
        made.absent = self.below(4)
        return made

    def regions(self) -> Any:
        n, value = 1 + self.below(5), self.value()
        plain = [self._module.Pair("k", b"v")] * self.below(3)
        pairs = self.few(self.pair)
        return self._module.Regions(
            plain, n, self.below(256), bytes(n - 1), pairs, value, [1, 2, 3][: self.below(4)]
        )

    def choices(self) -> Any:
        m = self._module
        number, arm = self.one_of((0, 5), (1, "x"), (3, ""), (9, self.pair()), (1, 5))
        items = [m.Chunk(True, b"x")] * self.below(3) + [m.Chunk(False, b"yz")]
        return m.Cond(number, arm, self.one_of(100, 5), items)

    def sum(self) -> Any:
        return self._module.Sum(self.below(65536), bytes(self.below(9)), b"")

    def holder(self) -> Any:
        frames = self.few(self.frame, 1) + [self._module.Frame(self.bits())] * self.below(3)
        return self._module.Holder(frames, self._module.Frame(self.one_of(self.bits(), self.sum())))

    def leftover(self) -> Any:
        return self._module.Sub(self.value(), self.few(self.value))


def damaged(data: bytes, dice: random.Random) -> bytes:
    """Return bytes with something changed, taken out, put in or cut off."""
    place, other = dice.randrange(len(data) or 1), bytes(
        dice.randrange(256) for _ in range(dice.choice((1, 2, 4)))
    )
    match dice.randrange(5):
        case 0:
            return data[:place] + bytes([dice.choice((0, 1, 127, 128, 255))]) + data[place + 1 :]
        case 1:
            return data[:place] + data[place + len(other) :]
        case 2:
            return data[:place] + other + data[place:]
        case 3:
            return data[:place]
        case _:
            return data + other


@pytest.mark.parametrize("seed", range(4))
def test_values_and_bytes_are_the_same_to_both(codecs: Codecs, seed: int) -> None:
    maker, dice = Maker(codecs.module, seed), random.Random(seed)
    for _ in range(N_VALUES):
        outcome = agreement.check_refusal(codecs, maker.frame())
        if not isinstance(outcome, bytes):
            continue
        for data in (outcome, damaged(outcome, dice), damaged(damaged(outcome, dice), dice)):
            for wishes in WISHES:
                agreement.check_bytes(codecs, data, wishes)
        again = codecs.module.decode(outcome)
        assert codecs.module.encode(again) == outcome


def test_a_stream_of_everything_is_the_same_however_it_is_cut(codecs: Codecs) -> None:
    maker, dice = Maker(codecs.module, 7), random.Random(7)
    outcomes = [codecs.compiled_encode(maker.frame()) for _ in range(40)]
    data = b"".join(each for each in outcomes if isinstance(each, bytes))
    items = agreement.check_stream(codecs, data, [dice.randrange(len(data)) for _ in range(20)], Wishes())
    assert not any(is_refusal(outcome) for _, _, outcome in items)


def test_an_error_of_the_generated_code_is_the_runtimes_own(codecs: Codecs) -> None:
    with pytest.raises(codecs.module.EncodeError) as error:
        codecs.module.encode(codecs.module.Frame(codecs.module.Sum(-1, b"", b"")))
    assert type(error.value).__name__ == EncodeError.__name__
