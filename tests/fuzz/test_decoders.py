"""A few thousand changed inputs for each decoder; `make soak` gives them millions."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from tests.fuzz import soak
from tests.fuzz.decoders import DECODERS, Tally
from tests.fuzz.memory import MEASURED, Peak, measure
from tests.property.test_serializations import PROTOCOLS


@pytest.fixture(scope="module")
def tallies() -> dict[str, Tally]:
    return soak.run_round(0, 400)


@pytest.mark.parametrize("name", DECODERS)
def test_a_decoder_raises_its_own_errors_alone(name: str, tallies: dict[str, Tally]) -> None:
    tally = tallies[name]
    assert tally.unexpected == {}
    assert tally.inputs >= 1_500
    assert 0 < tally.read < tally.inputs / 2
    assert tally.read + sum(tally.errors.values()) == tally.inputs
    assert len(tally.errors) >= 2


def test_what_leaves_a_decoder_otherwise_is_kept_with_its_input() -> None:
    tally = Tally()

    def call() -> Any:
        raise KeyError("x")

    tally.run(call, b"ab", "talk")
    tally.run(call, b"cd", "talk")
    assert (tally.inputs, tally.n_unexpected, tally.unexpected) == (2, 2, {"talk: KeyError: 'x'": "6162"})


def test_a_decoder_takes_no_more_memory_than_is_promised() -> None:
    peaks = {name: Peak() for name in MEASURED}
    for seed in range(2 * len(PROTOCOLS)):
        measure(seed, peaks)
    for name, peak in peaks.items():
        assert (peak.beyond, peak.shown) == (0, ""), name
        assert peak.inputs > len(PROTOCOLS)
        assert 20 < peak.share <= 100, (name, peak.share)  # large enough to tell anything


def test_what_takes_more_is_counted_and_shown() -> None:
    peak, beyond = Peak(), 1_000_000
    peak.take(beyond // 2, beyond, "talk, seed 1")
    peak.take(2 * beyond, beyond, "talk, seed 2")
    shown = "talk, seed 2: 2000000 bytes of 1000000"
    assert (peak.inputs, peak.peak, peak.beyond, peak.shown) == (2, 2 * beyond, 1, shown)
    assert peak.and_also(peak) == Peak(inputs=4, peak=2 * beyond, share=peak.share, beyond=2, shown=shown)


def test_a_soak_goes_on_where_it_stopped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "fuzz.json"
    seeds: list[int] = []

    def run_round(seed: int, count: int) -> dict[str, Tally]:
        seeds.append(seed)
        tally = Tally(inputs=10, read=4)
        tally.errors["truncated"] = 6
        return {"reference": tally}

    monkeypatch.setattr(soak, "run_round", run_round)
    monkeypatch.setattr(soak, "measured", lambda seed: {"sessions": Peak(1, peak=seed, share=seed)})
    monkeypatch.setattr(soak, "WANTED", 30)
    monkeypatch.setattr("sys.argv", ["soak", "--evidence", str(path)])
    assert soak.main() == 0
    assert soak.main() == 0
    found = json.loads(path.read_text(encoding="utf-8"))
    assert seeds == [1, 2, 3]
    assert (found["count"], found["next_seed"], found["failures"]) == (30, 4, 0)
    assert found["decoders"]["reference"]["errors"] == {"truncated": 18}
    figures = {"inputs": 3, "peak": 3, "share": 3, "beyond": 0, "shown": ""}
    assert found["memory"]["decoders"] == {"sessions": figures}
