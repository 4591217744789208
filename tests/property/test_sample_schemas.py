"""Schemas that `check` accepts work in every stage and product: random schemas of the whole language, in batches.

A seed that fails is shown whole; `python -m tests.property.sample_schemas --shrink SEED` replays it and makes it small.
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from hypothesis import settings
from tests.evidence import circumstances
from tests.once import made_once, mypy_cache
from tests.property.sample_schemas.batches import Failure, Tally, accepted, check_batch, schema_of
from tests.property.sample_schemas.census import Census, every_construct
from tests.property.sample_schemas.text import Part, Schema, shrunk

IS_SOAK = settings.get_current_profile_name() == "soak"
EVIDENCE = Path(__file__).resolve().parents[2] / "docs" / "evidence" / "schemas.json"
N_SCHEMAS = 200
N_SOAKED = 20_000
SIZE = 100 if IS_SOAK else 50
N_VALUES = 4 if IS_SOAK else 2
"""Values of each role and layout variant of a schema: with their damaged forms they take a third of the time."""
N_WITH_VECTORS = 5 if IS_SOAK else 2
"""Schemas of each batch whose vectors and pages are made too: they take twenty times as long as all the rest."""
N_TO_ONE_TYPED = 5
"""A soak has mypy read one batch in so many."""
UNDRAWN = {
    *("Example", "ExampleValue", "Construct", "Argument", "Values"),  # examples are held to a value, not drawn
    *("Conversation", "ConversationStep", "ConversationPause", "ConversationOption"),
    *("Condition", "ItemCondition"),  # tests/cases/constructs has conditions with rules of their own and of items
}  # fmt: skip
"""Constructs that the sample leaves to tests of their own."""


@dataclass(frozen=True, slots=True)
class Drawn:
    """The schemas of some seeds, and the constructs in them."""

    schemas: dict[int, Schema]
    census: Census


def drawn(seeds: Iterable[int], folder: Path) -> Drawn:
    """Draw the schemas of seeds."""
    folder.mkdir()
    found = {seed: accepted(seed, folder) for seed in seeds}
    census = Census()
    for each in found.values():
        census.take(each.protocol)
    return Drawn({seed: each.schema for seed, each in found.items()}, census)


def drawn_once(first: int, folder: Path) -> Drawn:
    """Draw one batch of this run, which two tests need."""
    return made_once(f"schemas_{first}", lambda: drawn(range(first, first + SIZE), folder))


def checked(
    schemas: dict[int, Schema],
    folder: Path,
    *,
    with_types: bool = True,
    n_with_vectors: int = N_WITH_VECTORS,
) -> Tally:
    """Hold schemas to all stages."""
    return check_batch(
        schemas,
        folder / "project",
        n_values=N_VALUES,
        n_with_vectors=n_with_vectors,
        with_types=with_types,
        mypy_cache=mypy_cache(),
    )


@pytest.mark.skipif(IS_SOAK, reason="a soak checks these and many more")
@pytest.mark.parametrize("first", range(0, N_SCHEMAS, SIZE))
def test_random_schemas_work_in_all_stages(first: int, tmp_path: Path) -> None:
    tally = checked(drawn_once(first, tmp_path / "drawn").schemas, tmp_path)
    assert not tally.failures, "\n\n".join(map(str, tally.failures))
    assert tally.schemas > SIZE - 5 and tally.values > 2 * SIZE and tally.vectors > 10 * N_WITH_VECTORS


def test_equal_seeds_draw_equal_schemas(tmp_path: Path) -> None:
    (tmp_path / "again").mkdir()
    once = [schema_of(seed, tmp_path) for seed in range(5)]
    assert once == [schema_of(seed, tmp_path / "again") for seed in range(5)]
    assert len({schema.text.partition("\n")[2] for schema in once}) == 5


def test_every_construct_of_the_language_is_drawn(tmp_path: Path) -> None:
    census = Census()
    for first in range(0, N_SCHEMAS, SIZE):
        census.add(drawn_once(first, tmp_path / f"from_{first}").census)
    assert every_construct() - set(census.constructs) - UNDRAWN == set()
    assert len(census.pairs) > 350


def test_a_failing_schema_is_shrunk_to_the_rows_that_fail() -> None:
    rows = tuple(f"f{number} : u8" for number in range(12))
    schema = Schema(
        (Part("protocol p", ()), Part("struct A", rows), Part("type T = u8"), Part("struct B", ("x : u8",)))
    )

    def fails(smaller: Schema) -> bool:
        return "f3 : u8" in smaller.text and "type T" in smaller.text

    assert shrunk(schema, fails).text == "protocol p {\n}\nstruct A {\n  f3 : u8\n}\ntype T = u8\n"


# ---- soak


COUNTED = ("schemas", "typed", "shown", "values", "vectors")
"""Schemas that were built and whose codecs were held to each other; those of them typed, and shown in vectors and pages; and how many of these."""


class Progress:
    """The evidence of a soak: which seeds were checked, how many of what, and the seeds that failed."""

    def __init__(self) -> None:
        known: dict[str, Any] = json.loads(EVIDENCE.read_text(encoding="utf-8")) if EVIDENCE.is_file() else {}
        self.figures: dict[str, Any] = {"next": 0, "failed": [], **dict.fromkeys(COUNTED, 0)}
        is_open = known.get("next", 0) < N_SOAKED or known.get("failed")
        if is_open and known.keys() >= self.figures.keys():
            self.figures |= {name: known[name] for name in self.figures}

    def batches(self, seconds: float) -> Iterator[range]:
        """Yield the ranges of seeds that are still to be checked, until the budget is used up."""
        end = time.monotonic() + seconds
        while self.figures["next"] < N_SOAKED and time.monotonic() < end:
            yield range(self.figures["next"], self.figures["next"] + SIZE)

    def retry(self, check: Callable[[list[int]], Tally]) -> list[Failure]:
        """Check the seeds again that failed before; keep those that still do, and return their failures."""
        if not self.figures["failed"]:
            return []
        failures = check(self.figures["failed"]).failures
        self.figures["failed"] = _seeds_of(failures)
        self._write()
        return failures

    def add(self, tally: Tally) -> None:
        self.figures["next"] += SIZE
        for name in COUNTED:
            self.figures[name] += getattr(tally, name)
        self.figures["failed"] += _seeds_of(tally.failures)
        self._write()

    def _write(self) -> None:
        text = json.dumps({"name": "schemas", **circumstances(), **self.figures}, indent=1, sort_keys=True)
        EVIDENCE.write_text(f"{text}\n", encoding="utf-8")


def _seeds_of(failures: list[Failure]) -> list[int]:
    return sorted({failure.seed for failure in failures})


def test_a_soak_begins_with_the_seeds_that_failed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    evidence = tmp_path / "schemas.json"
    evidence.write_text(json.dumps({"next": 300, "failed": [7, 9, 11], **dict.fromkeys(COUNTED, 5)}))
    monkeypatch.setattr("tests.property.test_sample_schemas.EVIDENCE", evidence)
    failures = [Failure(9, "codecs", "still so", "text"), Failure(9, "mypy", "still so", "text")]
    asked: list[list[int]] = []

    def check(seeds: list[int]) -> Tally:
        asked.append(seeds)
        return Tally(schemas=3, failures=failures)

    assert Progress().retry(check) == failures
    known = json.loads(evidence.read_text())
    assert asked == [[7, 9, 11]] and (known["next"], known["failed"], known["schemas"]) == (300, [9], 5)
    failures.clear()
    assert Progress().retry(check) == Progress().retry(check) == []
    assert asked == [[7, 9, 11], [9]]


@pytest.mark.skipif(not IS_SOAK, reason="`make soak` checks 20,000 schemas")
def test_a_soak_of_random_schemas(tmp_path_factory: pytest.TempPathFactory) -> None:
    """SCHEMAS_BUDGET says for how many seconds; the next soak tries again what failed, then goes on where this one stops."""
    progress = Progress()

    def retried(seeds: list[int]) -> Tally:
        folder = tmp_path_factory.mktemp("failed")
        schemas = drawn(seeds, folder / "drawn").schemas
        return checked(schemas, folder, n_with_vectors=len(seeds))

    failures = progress.retry(retried)
    for seeds in progress.batches(float(os.environ.get("SCHEMAS_BUDGET", "7200"))):
        is_typed = seeds.start // SIZE % N_TO_ONE_TYPED == 0
        folder = tmp_path_factory.mktemp("schemas")
        tally = checked(drawn(seeds, folder / "drawn").schemas, folder, with_types=is_typed)
        progress.add(tally)
        failures += tally.failures
    assert not failures, "\n\n".join(map(str, failures))
