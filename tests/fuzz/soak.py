"""Gives changed inputs to every decoder until the time is over, and adds the counts to docs/evidence/fuzz.json.

A program of its own: `python -m tests.fuzz.soak --seconds 600`. Each round has a seed and a fixed number of
inputs. The file lists the seeds that are done, so that the next run continues after them; the same seed
makes the same inputs. For some large inputs of each round it also gives the memory that the decoders took,
in hundredths of the promise of `wiregen check --verbose`.
"""

from __future__ import annotations

import argparse
import json
import os
import time
from collections import Counter
from dataclasses import asdict
from pathlib import Path
from typing import Any

from tests.evidence import circumstances
from tests.fuzz.decoders import DECODERS, Tally, captures, frames
from tests.fuzz.memory import LIMITS, MEASURED, Peak, measure

EVIDENCE = Path(__file__).resolve().parents[2] / "docs" / "evidence" / "fuzz.json"
PER_ROUND = 200
"""Changed frames of each protocol, and four times as many captures."""
WANTED = 10_000_000
"""Inputs in all after which a run has nothing to add."""


def main() -> int:
    """Run rounds; return 1 if a decoder raised an exception that is not its own error."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=600.0, help="how long to go on")
    parser.add_argument("--evidence", type=Path, default=EVIDENCE, help="the file that counts are added to")
    wishes = parser.parse_args()
    record = _read(wishes.evidence)
    end = time.monotonic() + wishes.seconds
    while time.monotonic() < end and record["count"] < WANTED:
        _add(record, run_round(record["next_seed"], PER_ROUND), measured(record["next_seed"]))
        _write(wishes.evidence, record)
    print(f"{record['count']} inputs, {record['failures']} unexpected")
    return 1 if record["failures"] else 0


def run_round(seed: int, count: int) -> dict[str, Tally]:
    """Return the results of the decoders with the inputs of a seed."""
    tallies = {name: Tally() for name in DECODERS}
    frames(seed, count, tallies)
    captures(seed, 4 * count, tallies)
    return tallies


def measured(seed: int) -> dict[str, Peak]:
    """Return the memory that the decoders took of the large inputs of a seed."""
    peaks = {name: Peak() for name in MEASURED}
    measure(seed, peaks)
    return peaks


def _read(path: Path) -> dict[str, Any]:
    memory = {"limits": LIMITS, "decoders": {}}
    if path.exists():
        found: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
        return {"memory": memory, **found}
    return {"name": "fuzz", "first_seed": 1, "next_seed": 1, "count": 0, "failures": 0, "decoders": {}, "memory": memory}  # fmt: skip


def _add(record: dict[str, Any], tallies: dict[str, Tally], peaks: dict[str, Peak]) -> None:
    for name, tally in tallies.items():
        empty = {"inputs": 0, "read": 0, "errors": {}, "unexpected": 0, "seconds": 0.0, "shown": {}}
        known = record["decoders"].setdefault(name, empty)
        known["inputs"] += tally.inputs
        known["read"] += tally.read
        known["errors"] = dict(sorted((Counter(known["errors"]) + tally.errors).items()))
        known["unexpected"] += tally.n_unexpected
        known["seconds"] = round(known["seconds"] + tally.seconds, 1)
        known["shown"] = {**tally.unexpected, **known["shown"]}
    record["count"] = sum(known["inputs"] for known in record["decoders"].values())
    for name, peak in peaks.items():
        known = record["memory"]["decoders"].setdefault(name, asdict(Peak()))
        known |= asdict(peak.and_also(Peak(**known)))
    n_beyond = sum(known["beyond"] for known in record["memory"]["decoders"].values())
    record["failures"] = n_beyond + sum(known["unexpected"] for known in record["decoders"].values())
    record["next_seed"] += 1


def _write(path: Path, record: dict[str, Any]) -> None:
    """Replace the file by a whole one: a run may be stopped at any moment."""
    path.parent.mkdir(parents=True, exist_ok=True)
    text = json.dumps({**record, **circumstances()}, indent=1, sort_keys=True)
    whole = path.with_name(f"{path.name}.new")
    whole.write_text(f"{text}\n", encoding="utf-8")
    os.replace(whole, path)


if __name__ == "__main__":
    raise SystemExit(main())
