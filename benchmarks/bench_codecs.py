"""Generated codecs next to the alternatives, as ratios inside one interleaved run, and the goals they are to meet.

Run `make bench`, or `python benchmarks/bench_codecs.py [--quick]`. In each table the first line is 1.00; smaller is faster.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator

import footprint
from cases import BASE, GENERATED, NAIVE, PROTOBUF, Case, cases
from harness import Goal, Result, compare, table, told


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--quick", action="store_true", help="a few short rounds: to see that it runs and that all agree"
    )
    is_quick = parser.parse_args().quick
    rounds, seconds = (3, 0.0005) if is_quick else (21, 0.01)
    goals: list[Goal] = []
    for case in cases():
        case.assert_same()
        decoded = compare(case.decode, rounds=rounds, seconds=seconds)
        encoded = compare(case.encode, rounds=rounds, seconds=seconds)
        print(table(f"decode {case.name}", decoded), table(f"encode {case.name}", encoded), sep="\n")
        goals += codec_goals(case, decoded, encoded)
        if case.name.startswith("M1"):
            goals.append(Goal(what="bytes held by a message of M1", measured=held(case, is_quick), bound=340))
    goals += [*framing_goals(is_quick), *import_goals(is_quick)]
    return told(goals, is_quick=is_quick)


def codec_goals(case: Case, decoded: tuple[Result, ...], encoded: tuple[Result, ...]) -> Iterator[Goal]:
    name = case.name.split()[0]
    read, written = ({result.name: result.ratio for result in results} for results in (decoded, encoded))
    own = read[GENERATED]
    yield Goal(what=f"{name} decode, by hand-written", measured=own, bound=1.05)
    yield Goal(what=f"{name} encode, by hand-written", measured=written[GENERATED], bound=1.0)
    yield Goal(
        what=f"{name} decode, by naive", measured=own / read[NAIVE], bound=0.65 if name == "M2" else 0.45
    )
    yield Goal(what=f"{name} decode, by protobuf", measured=own / read[PROTOBUF], bound=1.0)
    slow = read["construct, interpreted"]
    yield Goal(what=f"{name} decode, by construct", measured=own / slow, bound=1 / 25)
    assert read[BASE] == 1.0


def held(case: Case, is_quick: bool) -> float:
    return footprint.held_bytes(case.data, 100 if is_quick else 20_000)


def framing_goals(is_quick: bool) -> Iterator[Goal]:
    n_frames, rounds = (200, 1) if is_quick else (8_000, 5)
    for chunk in (1, 7, 64, 4096, 65536):
        measured = footprint.framing(chunk, n_frames if chunk > 7 else n_frames // 8, rounds)
        yield Goal(what=f"framing in chunks of {chunk}: 4 × the data", measured=measured.growth, bound=5.0)
        if chunk == 65536:
            yield Goal(what="ns a frame in chunks of 65536", measured=measured.nanoseconds, bound=200)


def import_goals(is_quick: bool) -> Iterator[Goal]:
    for name in footprint.PACKAGES:
        taken = footprint.import_time(name, 1 if is_quick else 9)
        what = f"ms to import {name}, {footprint.n_messages(name)} messages"
        yield Goal(what=what, measured=taken, bound=10.0)


if __name__ == "__main__":
    sys.exit(main())
