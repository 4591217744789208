"""The kernels beside the object path: whatever the bytes, the same rows; and nothing is touched that is not theirs."""

from __future__ import annotations

import importlib
import math
import os
import random
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from tests.built_schema import schema_of

from wiregen.runtime.schema import node
from wiregen.schema.copies import replace

pytest.importorskip("pyarrow", reason="the extra `spark` is not installed")
pytest.importorskip("numba", reason="numba is not installed")

import numpy as np
from hypothesis import settings
from tests.pipeline.checked_memory import checked
from tests.pipeline.damage import damaged
from tests.pipeline.rows import rows_of
from tests.pipeline.streams import STREAMS, stream_of
from tests.property import grown
from tests.property.schemas import built

from wiregen.runtime.codec.options import Options
from wirespark import packages
from wirespark.kernels import ops, scanner
from wirespark.kernels.scanner import Scanner, scanner_of
from wirespark.options import Wishes

ROOT = Path(__file__).resolve().parents[2]
CASES = sorted((ROOT / "tests" / "cases" / "constructs").glob("*.wire"))
IS_SOAK = settings.get_current_profile_name() == "soak"
N_DAMAGES = 400 if IS_SOAK else 6
N_FRAMES = 30
N_MUTATED = 1_000_000 if IS_SOAK else 30_000
MOST_BYTES = 1500
"""Of a frame that chance made: looking for the next one in a large bad one takes its time."""


def check_equal(data: bytes, wishes: Wishes, folder: Path, **how: Any) -> None:
    """Check that both paths give the same rows, in batches of any size."""
    expected = rows_of(data, replace(wishes, kernel="off"), folder)
    found = rows_of(data, replace(wishes, kernel="on"), folder, **how)
    for row, other in zip(found, expected, strict=True):
        assert plain(row) == plain(other)


def plain(value: Any) -> Any:
    """Return a value that can be compared: no NaN is equal to itself."""
    match value:
        case dict():
            return {name: plain(each) for name, each in value.items()}
        case list():
            return [plain(each) for each in value]
        case float() if math.isnan(value):
            return "nan"
    return value


@pytest.mark.parametrize("protocol", STREAMS)
def test_both_paths_give_the_same_rows(protocol: str, tmp_path: Path) -> None:
    dice = random.Random(protocol)
    for seed in range(N_DAMAGES):
        stream = stream_of(protocol, seed)
        wishes = Wishes(protocol=protocol, role=stream.role)
        check_equal(stream.data, wishes, tmp_path, batch_size=dice.randrange(1, 5000))
        for _ in range(3):
            check_equal(damaged(stream.data, dice), wishes, tmp_path, batch_size=dice.randrange(1, 5000))


@pytest.mark.parametrize("path", [pytest.param(path, id=path.stem) for path in CASES])
def test_every_construct_gives_the_same_rows(path: Path, tmp_path: Path) -> None:
    name = f"kernels_{path.stem}"
    dice = random.Random(path.stem)
    with built(path.read_text(encoding="utf-8"), tmp_path, name, ("native", "columns")):
        importlib.invalidate_caches()
        packages.package_of.cache_clear()
        wishes = Wishes(protocol=f"{name}.p")
        plan = schema_of(wishes.package.native)
        made = list(grown.frames(node.replace(plan, opens={}), dice, N_FRAMES, Options(None)))
        data = b"".join(frame for _, frame in made if len(frame) < MOST_BYTES)
        check_equal(data, wishes, tmp_path)
        for _ in range(N_DAMAGES // 2):
            check_equal(damaged(data, dice), wishes, tmp_path)
    packages.package_of.cache_clear()


def test_most_frames_are_for_the_kernels() -> None:
    """A program that leaves all to the objects would pass every other test."""
    for protocol in ("pravega", "pravega_documented", "pravega_proposal", "lumberjack"):
        n_taken = n_all = 0
        for seed in range(4):
            stream = stream_of(protocol, seed)
            found = scanner_of(Wishes(protocol=protocol, role=stream.role), stream.role)
            assert found is not None
            n_all += len(stream.ends)
            start = 0
            data = np.frombuffer(stream.data, np.uint8)
            for end in (0, *stream.ends[:-1]):
                if end >= start:
                    start = found.scan(data, end).end
                    n_taken += sum(end < each <= start for each in stream.ends)
        assert n_taken > n_all * 0.5, (protocol, n_taken, n_all)


@pytest.mark.parametrize("protocol", ["pravega", "lumberjack", "pravega_documented", "reactive_streams"])
def test_nothing_else_is_touched(protocol: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The kernels as plain Python, over memory that knows its bounds: every address is in an array, and is asked for as it lies there."""
    dice = random.Random(protocol)
    with checked(monkeypatch) as memory:
        for seed in range(N_DAMAGES):
            stream = stream_of(protocol, seed, 12)
            found = scanner_of(Wishes(protocol=protocol, role=stream.role), stream.role)
            assert found is not None
            for _ in range(6 if IS_SOAK else 1):
                data = np.frombuffer(damaged(stream.data, dice) or b"\0", np.uint8)
                start = 0
                while start < len(data):
                    scanned = found.scan(data, start)
                    found.columns(data, scanned, 0)
                    start = max(start + 1, scanned.end) if scanned.reason != ops.FULL else scanned.end
                whole = bytes(data)
                proven(found, [whole[:40], whole, whole[7:], whole], is_over=seed % 2 == 0)
        assert memory.n_touched > 10_000


@pytest.mark.parametrize("protocol", ["pravega", "lumberjack", "pravega_documented"])
@pytest.mark.parametrize("most_frames", [3, 1 << 15])
def test_streams_that_are_scanned_together_are_scanned_as_each_alone(
    protocol: str, most_frames: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also where the room for frames is full within one of them. A stream that is over has its last frame too."""
    monkeypatch.setattr(scanner, "_MOST_FRAMES", most_frames)
    dice = random.Random(protocol)
    seeds = [stream_of(protocol, seed, 20) for seed in range(40)]
    role = seeds[0].role
    made = [
        damaged(each.data, dice) if dice.random() < 0.3 else each.data for each in seeds if each.role == role
    ]
    found = scanner_of(Wishes(protocol=protocol, role=role), role)
    assert found is not None
    for is_over in (False, True):
        expected = [proven(found, [data], is_over=is_over) for data in made]
        frames, ends = proven(found, made, is_over=is_over)
        assert frames == [own for frames, _ in expected for own in frames]
        assert ends == [end for _, ends in expected for end in ends]
        assert len(frames) > 20


def proven(
    found: Scanner, made: Sequence[bytes], *, is_over: bool
) -> tuple[list[list[int]], list[list[int]]]:
    """Return the frames of streams that are scanned together, each from its stream's start, and where and why each stream ends."""
    data = np.frombuffer(b"".join(made), np.uint8)
    windows = np.zeros((len(made), ops.W_SIZE), np.int64)
    windows[:, ops.W_STOP] = np.cumsum([len(each) for each in made])
    windows[1:, ops.W_START], windows[:, ops.W_IS_OVER] = windows[:-1, ops.W_STOP], is_over
    begins, frames, n_done = windows[:, ops.W_START].copy(), list[list[int]](), 0
    while n_done < len(made):
        left = windows[n_done:]
        n_more = found.scan_windows(data, left)
        which = np.repeat(np.arange(n_done, len(made)), left[:, ops.W_FOUND])
        own = found.frames[: len(which)].copy()
        assert found.filled(data, own, own[:, 0], None, 0).rows.num_rows == len(which)
        own[:, :2] -= begins[which, None]
        frames += own.tolist()
        n_done += n_more
        if n_more < len(left):
            left[n_more, ops.W_START] = left[n_more, ops.W_POSITION]
    ends = np.stack([windows[:, ops.W_POSITION] - begins, windows[:, ops.W_REASON]], axis=1)
    return frames, ends.tolist()


def test_mutated_frames_before_a_page_that_nobody_may_read() -> None:
    places = [str(ROOT / each) for each in (".", "generator", "generated/python", "pipeline", "examples")]
    done = subprocess.run(
        [sys.executable, "-m", "tests.pipeline.mutated", str(N_MUTATED)],
        check=False,
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(places)},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr[-2000:]
    assert int(done.stdout) >= N_MUTATED
