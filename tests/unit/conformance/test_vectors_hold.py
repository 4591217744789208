"""`vectors verify` accepts the output of `vectors build`: for the guide's protocols, and for every other
construct of the language, in a soak for all.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import settings
from tests.property.test_vectors_of_constructs import PATHS as CHECKED_WITH_CARRIERS

from wiregen.conformance.judge import Implementation
from wiregen.conformance.judge.checks import judge_at_once
from wiregen.conformance.judge.generated_package import implementation_of
from wiregen.conformance.vectors.building import build_vectors
from wiregen.conformance.vectors.format import VectorFile, read_vectors, size_of, write_vectors
from wiregen.generate.frontend import load_protocol
from wiregen.generate.packages import make
from wiregen.language.diagnostics import Report
from wiregen.language.source import Sources

ROOT = Path(__file__).resolve().parents[3]
CASES = ROOT / "tests" / "cases"
GUIDE = sorted((ROOT / "docs" / "guide" / "examples").glob("*.wire"))
WHOLE = [
    path
    for path in sorted(CASES.rglob("*.wire"))
    if not path.with_suffix(".diag").exists() and path not in CHECKED_WITH_CARRIERS
][:: 1 if settings.get_current_profile_name() == "soak" else 2]
"""All but those that the other test has built and checked, with their serializations."""


def failures(file: VectorFile, implementation: Implementation) -> list[str]:
    """Return the vectors with which an implementation disagrees, apart from the cuts of bytes."""
    small = (vector for vector in file.vectors if size_of(vector) <= 1 << 16)
    return [
        f"{vector.id}: {finding}" for vector in small for finding in judge_at_once(vector, implementation)
    ]


@pytest.mark.parametrize(
    "path", [pytest.param(path, id=f"{path.parent.name}/{path.stem}") for path in (*GUIDE, *WHOLE)]
)
def test_what_is_built_is_accepted(path: Path) -> None:
    report = Report()
    subject = load_protocol(path, Sources(), report, (path.parent,))
    assert subject is not None and subject.protocol.frames
    package = make(subject, ("native",), report)
    assert package is not None, report
    built = build_vectors(package.schema)
    assert not built.unheld()
    assert not failures(read_vectors(write_vectors(built.file)), implementation_of(package))
