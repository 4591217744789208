"""Traffic like that of a busy store, as one file: appends, acknowledgements, reads."""

from __future__ import annotations

import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from uuid import UUID

from wireproto import pravega_documented as pravega

_N_KINDS = 20_000
_ABOUT = 70


def write_traffic(path: Path, size: int) -> int:
    """Write a file of about so many bytes, and return its frames' mean size."""
    n_frames = min(_N_KINDS, max(1, size // _ABOUT))
    frames = [pravega.encode(message) for message in _messages(random.Random(1), n_frames)]
    block = b"".join(frames)
    with path.open("wb") as file:
        for _ in range(max(1, round(size / len(block)))):
            file.write(block)
    return round(len(block) / len(frames))


def write_small_files(folder: Path, n_files: int, size: int) -> None:
    """Write files of one direction of about so many bytes each, a thousand in a folder."""
    folder.mkdir()
    write_traffic(folder / "one", size)
    data = (folder / "one").read_bytes()
    (folder / "one").unlink()
    for number in range(n_files):
        place = folder / f"{number // 1000:03}"
        place.mkdir(exist_ok=True)
        (place / f"{number:06}.client.bin").write_bytes(data)


def _messages(dice: random.Random, n_frames: int) -> Iterator[Any]:
    writers = [UUID(int=dice.getrandbits(128)) for _ in range(50)]
    for number in range(n_frames):
        segment = f"scope/stream/{dice.randrange(100)}.#epoch.0"
        match dice.randrange(10):
            case 0 | 1 | 2 | 3:
                yield pravega.DataAppended(dice.choice(writers), number, number - 1)
            case 4 | 5:
                data = dice.randbytes(dice.randrange(120))
                yield pravega.AppendBlockEnd(dice.choice(writers), 100, data, 3, number)
            case 6 | 7:
                data = dice.randbytes(dice.randrange(120))
                yield pravega.SegmentRead(segment, number * 1000, True, False, data)
            case _:
                yield pravega.ReadSegment(segment, number * 1000, 1000, "token")
