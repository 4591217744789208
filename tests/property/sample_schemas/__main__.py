"""Replay: run all checks on the schemas of some seeds; print those that fail, as small as they can be."""

from __future__ import annotations

import argparse
import tempfile
from pathlib import Path

from tests.property.sample_schemas.batches import Failure, check_batch, schema_of
from tests.property.sample_schemas.text import Schema, shrunk

from wiregen.generate.frontend import load_protocol
from wiregen.language.diagnostics import Report
from wiregen.language.source import Sources


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.property.sample_schemas", description=__doc__)
    parser.add_argument("seeds", nargs="+", metavar="SEED", help="a number, or a range FIRST-LAST")
    parser.add_argument("--shrink", action="store_true", help="leave out all that the failure does not need")
    parser.add_argument("--values", type=int, default=2, help="of each layout: 2, or 4 as in a soak")
    parser.add_argument("--no-vectors", action="store_true")
    parser.add_argument("--no-types", action="store_true")
    options = parser.parse_args()
    seeds = [seed for each in options.seeds for seed in _range(each)]
    for start in range(0, len(seeds), 100):
        with tempfile.TemporaryDirectory() as folder:
            schemas = {seed: schema_of(seed, Path(folder)) for seed in seeds[start : start + 100]}
            tally = check_batch(
                schemas,
                Path(folder) / "project",
                n_values=options.values,
                n_with_vectors=0 if options.no_vectors else 100,
                with_types=not options.no_types,
            )
            rounded = {name: round(seconds, 1) for name, seconds in tally.seconds.items()}
            print(
                f"# {seeds[start]}: {tally.schemas} schemas, {tally.values} values, {tally.vectors} vectors, {len(tally.failures)} failures, {rounded}",
                flush=True,
            )
            for failure in tally.failures:
                print(
                    f"\n## {_smaller(schemas[failure.seed], failure, options.values) if options.shrink else failure}",
                    flush=True,
                )


def _range(text: str) -> range:
    first, _, last = text.partition("-")
    return range(int(first), int(last or first) + 1)


def _smaller(schema: Schema, failure: Failure, n_values: int) -> Failure:
    found = [failure]

    def fails(smaller: Schema) -> bool:
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / f"s{failure.seed}.wire"
            path.write_text(smaller.text, encoding="utf-8")
            subject = load_protocol(path, Sources(), Report(), (Path(folder),))
            if subject is None or not subject.protocol.frames:
                return False
            stage = failure.stage
            tally = check_batch(
                {failure.seed: smaller},
                Path(folder) / "project",
                n_values=n_values,
                n_with_vectors=int(stage in ("vectors", "docs")),
                with_types=stage == "mypy",
            )
        same_stage = [
            each for each in tally.failures if each.stage == stage and _kind(each) == _kind(failure)
        ]
        found.extend(same_stage)
        return bool(same_stage)

    shrunk(schema, fails, 150)
    return found[-1]


def _kind(failure: Failure) -> str:
    """Return the line that names the kind of failure, without its details."""
    lines = [line for line in failure.what.splitlines() if "Error" in line or line.rstrip().endswith(":")]
    return lines[-1].split("(")[0][:40] if lines else failure.stage


if __name__ == "__main__":
    main()
