"""Bytes that no vector has: those of vectors with a few of them changed, left out, doubled or put in.

Mutants that vectors distinguish only by speed, or that are said to be equivalent, are tried with these too.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from typing import Final

__all__ = ["hostile"]

_TELLING: Final = (0, 1, 2, 3, 4, 8, 41, 57, 127, 128, 252, 253, 254, 255)
_LONGEST: Final = 400


def hostile(data: bytes, count: int, seed: int) -> Iterator[bytes]:
    """Yield that many changed forms of some bytes, the same ones for the same seed."""
    chance = random.Random(seed)
    for _ in range(count if 0 < len(data) <= _LONGEST else 0):
        changed = bytearray(data)
        for _ in range(chance.choice((1, 1, 1, 2, 3))):
            _change(changed, chance)
        yield bytes(changed)


def _change(data: bytearray, chance: random.Random) -> None:
    place = chance.randrange(len(data)) if data else 0
    match chance.randrange(6):
        case 0 | 1 if data:
            data[place] = chance.choice(_TELLING)
        case 2 if data:
            data[place] = (data[place] + chance.choice((-1, 1))) % 256
        case 3:
            del data[place : place + chance.randrange(1, 5)]
        case 4:
            data[place:place] = bytes(chance.choices(_TELLING, k=chance.randrange(1, 5)))
        case _:
            end = place + chance.randrange(1, 9)
            data[end:end] = data[place:end]
