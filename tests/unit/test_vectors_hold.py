"""What `vectors build` writes, `vectors verify` accepts: of the guide's protocols, and of every construct of the language."""

from __future__ import annotations

from pathlib import Path

import pytest

from wiregen.diagnostics import Report
from wiregen.frontend import load_protocol
from wiregen.made import make
from wiregen.source import Sources
from wiregen.vectors.building import build_vectors
from wiregen.vectors.format import VectorFile, read_vectors, size_of, write_vectors
from wiregen.vectors.verifying import Door
from wiregen.vectors.verifying.judge import judge_at_once
from wiregen.vectors.verifying.made_door import door_of

ROOT = Path(__file__).resolve().parents[2]
CASES = ROOT / "tests" / "cases"
GUIDE = sorted((ROOT / "docs" / "guide" / "examples").glob("*.wire"))
WHOLE = [path for path in sorted(CASES.rglob("*.wire")) if not path.with_suffix(".diag").exists()]


def failures(file: VectorFile, door: Door) -> list[str]:
    """Return what a door does not agree with; how bytes are cut is not asked here."""
    small = (vector for vector in file.vectors if size_of(vector) <= 1 << 16)
    return [f"{vector.id}: {finding}" for vector in small for finding in judge_at_once(vector, door)]


@pytest.mark.parametrize(
    "path", [pytest.param(path, id=f"{path.parent.name}/{path.stem}") for path in (*GUIDE, *WHOLE)]
)
def test_what_is_built_is_accepted(path: Path) -> None:
    report = Report()
    subject = load_protocol(path, Sources(), report, (path.parent,))
    assert subject is not None and subject.protocol.frames
    package = make(subject, ("native",), report)
    assert package is not None, report
    built = build_vectors(package.plan)
    assert not built.unheld()
    assert not failures(read_vectors(write_vectors(built.file)), door_of(package))
