"""Faults put into generated code are noticed by the vectors: a sample in each run of the tests, all of them in a soak.

`survivors.json` names those that are not, by protocol and reason; under "equivalent" what nobody could notice.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from .mutants import Mutant
from .running import PROTOCOLS, Hunt, sampled

LISTED = Path(__file__).with_name("survivors.json")
IS_SOAK = os.environ.get("HYPOTHESIS_PROFILE") == "soak"
LEAST = 0.95
SAMPLE = 300
SEED = 6


@dataclass(frozen=True, slots=True, kw_only=True)
class Count:
    """What became of the mutants of one protocol."""

    killed: int
    survived: tuple[str, ...]
    equivalent: tuple[str, ...]
    revived: tuple[str, ...]
    """Those that are listed as survivors and were noticed."""

    @property
    def share(self) -> float:
        return self.killed / (self.killed + len(self.survived) or 1)


def listed(protocol: str) -> Iterator[tuple[str, bool]]:
    """Yield each survivor that is expected, and whether nobody could notice it."""
    for kind, reasons in json.loads(LISTED.read_text("utf-8")).get(protocol, {}).items():
        for names in reasons.values():
            yield from ((name, kind == "equivalent") for name in names)


def counted(protocol: str, chosen: list[Mutant]) -> Count:
    known = dict(listed(protocol))
    killed, survived, equivalent, revived = 0, [], [m.id for m in chosen if m.equivalent], []
    for found in Hunt(protocol).run(mutant for mutant in chosen if not mutant.equivalent):
        name = found.mutant.id
        if found.vector is not None:
            killed += 1
            revived += [name] if name in known else []
        elif known.get(name):
            equivalent.append(name)
        else:
            survived.append(name)
    return Count(
        killed=killed, survived=tuple(survived), equivalent=tuple(equivalent), revived=tuple(revived)
    )


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_vectors_notice_what_is_wrong_with_a_codec(
    protocol: str, evidence: Callable[..., None], capsys: pytest.CaptureFixture[str]
) -> None:
    chosen = sampled(0 if IS_SOAK else SAMPLE, SEED)[protocol]
    count = counted(protocol, chosen)
    n_told = count.killed + len(count.survived)
    line = f"{protocol}: {count.killed} of {n_told} mutants killed ({count.share:.1%}), {len(count.equivalent)} equivalent"
    with capsys.disabled():
        print(f"\n{line}")
    evidence(
        "mutants",
        count=n_told,
        failures=len(count.survived),
        **{f"{protocol}_killed": count.killed, f"{protocol}_equivalent": len(count.equivalent)},
    )
    known = dict(listed(protocol))
    assert [name for name in count.survived if name not in known] == [], "survivors that no list names"
    assert count.revived == (), "killed, though listed as survivors: take them off the list"
    assert count.share >= LEAST, line


def test_what_is_listed_exists_and_stands_once() -> None:
    for protocol, mutants in sampled(0).items():
        names = [name for name, _ in listed(protocol)]
        proven = {mutant.id for mutant in mutants if mutant.equivalent}
        assert len(names) == len(set(names))
        assert set(names) <= {mutant.id for mutant in mutants} - proven
