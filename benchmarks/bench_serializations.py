"""The three serializations of the same messages next to the raw libraries: bytes a frame, and time a message.

Run `make bench`, or `python benchmarks/bench_serializations.py [--quick]`. In each table the first line is 1.00; smaller is faster.
"""

from __future__ import annotations

import argparse

from harness import compare, table
from serialization_cases import SerialCase, serial_cases


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--quick", action="store_true", help="a few short rounds: to see that it runs and that all agree"
    )
    rounds, seconds = (3, 0.0005) if parser.parse_args().quick else (21, 0.01)
    cases = serial_cases()
    for case in cases:
        case.assert_same()
        print(table(f"decode {case.name}", compare(case.decode, rounds=rounds, seconds=seconds)))
        print(table(f"encode {case.name}", compare(case.encode, rounds=rounds, seconds=seconds)))
    print(sizes_table(cases))


def sizes_table(cases: tuple[SerialCase, ...]) -> str:
    """Return the bytes a frame as lines of text."""
    lines = ["bytes a frame"]
    for name in cases[0].encode:
        sizes = "".join(f"{len(case.encode[name]()):>8}" for case in cases)
        lines.append(f"  {name:<28}{sizes}   ({', '.join(case.name.split()[0] for case in cases)})")
    return "\n".join(lines)


if __name__ == "__main__":
    main()
