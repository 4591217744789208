"""Vectors that an implementation is known to fail: a file with one id a line, followed by or under `# reason`."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from wiregen.conformance.judge.verdict import Verdict
from wiregen.language.regular_files import read_regular_text

__all__ = ["Tally", "expected_failures", "read_expected", "tally"]

_MAX_SIZE: Final = 16 << 20  # bytes


@dataclass(frozen=True, slots=True, kw_only=True)
class Tally:
    """Verdicts sorted by their meaning.

    Attributes:
        known: Failures that were expected.
        mended: Vectors that were expected to fail and passed.
        strangers: Ids that were expected to fail and that belong to no vector.
    """

    passed: tuple[Verdict, ...]
    failed: tuple[Verdict, ...]
    skipped: tuple[Verdict, ...]
    known: tuple[Verdict, ...]
    mended: tuple[Verdict, ...]
    strangers: tuple[str, ...]

    @property
    def has_findings(self) -> bool:
        return bool(self.failed or self.mended or self.strangers)


def expected_failures(text: str) -> dict[str, str]:
    """Return the reasons by id; "" for an id without a reason."""
    found: dict[str, str] = {}
    for line in text.splitlines():
        id_, _, reason = line.partition("#")
        if id_.strip():
            found[id_.strip()] = reason.strip()
    return found


def read_expected(path: Path) -> dict[str, str]:
    """Return the reasons by id that a file lists.

    Raises:
        OSError: The file cannot be read, is not a regular file, or is larger than 16 MiB.
        UnicodeDecodeError: The file is not UTF-8.
    """
    return expected_failures(read_regular_text(path, _MAX_SIZE))


def tally(verdicts: Iterable[Verdict], expected: Mapping[str, str]) -> Tally:
    """Return the verdicts sorted by outcome and expectation."""
    all_ = tuple(verdicts)
    ids = {verdict.id for verdict in all_}
    failed = tuple(each for each in all_ if each.outcome == "failed")
    passed = tuple(each for each in all_ if each.outcome == "passed")
    return Tally(
        passed=tuple(each for each in passed if each.id not in expected),
        failed=tuple(each for each in failed if each.id not in expected),
        skipped=tuple(each for each in all_ if each.outcome == "skipped"),
        known=tuple(each for each in failed if each.id in expected),
        mended=tuple(each for each in passed if each.id in expected),
        strangers=tuple(id_ for id_ in expected if id_ not in ids),
    )
