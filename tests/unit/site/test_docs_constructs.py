"""Pages are made for whatever `check` accepts: every construct of the cases, each in a site of its own."""

from pathlib import Path

import pytest
from tests.unit.docs_sites import chapter_of, files_of

CONSTRUCTS = sorted((Path(__file__).resolve().parents[2] / "cases" / "constructs").glob("*.wire"))


@pytest.mark.parametrize("part", range(8))
def test_pages_are_made_for_every_construct(part: int) -> None:
    for path in CONSTRUCTS[part::8]:
        pages = files_of(chapter_of(path))
        assert len(pages) > 3, path.name
