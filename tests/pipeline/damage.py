"""Streams that something happened to."""

from __future__ import annotations

import random

__all__ = ["damaged"]


def damaged(data: bytes, dice: random.Random) -> bytes:
    """Return the bytes with a few flips, cuts, insertions or deletions at places by chance."""
    found = bytearray(data)
    for _ in range(dice.randrange(1, 4)):
        place = dice.randrange(len(found)) if found else 0
        match dice.randrange(4):
            case 0 if found:
                found[place] ^= 1 << dice.randrange(8)
            case 1:
                found[place:place] = dice.randbytes(dice.randrange(1, 30))
            case 2:
                del found[place : place + dice.randrange(1, 30)]
            case _ if dice.random() < 0.3:
                del found[place:]
    return bytes(found)
