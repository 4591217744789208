"""What the site says under PySpark runs as it stands there."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

pytest.importorskip("pyspark", reason="the extra `spark` is not installed")
pytestmark = pytest.mark.xdist_group("spark")

from tests.unit.docs_sites import ROOT, SHIPPED, shipped_chapter  # noqa: E402

import wirespark  # noqa: E402
from wiregen.docs.book import Book  # noqa: E402
from wiregen.docs.declarations import message_page  # noqa: E402

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_EACH = 2
"""Messages of a protocol whose snippets are run: each is a job of Spark."""


@pytest.mark.parametrize("name", SHIPPED)
def test_the_spark_snippets_run(
    name: str, spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    # The workers of this session have the code already; it takes no second archive of the same name.
    monkeypatch.setattr(wirespark, "session", lambda *names, **settings: spark)
    book = Book(replace(shipped_chapter(name), has_columns=True))
    n_run = 0
    for message in book.protocol.messages:
        sample = message_page(book, message).sample
        assert sample is not None
        texts = [each.text for each in sample.snippets if each.title == "PySpark"]
        if texts and n_run < _EACH:
            exec(compile(texts[0], message.name, "exec"), {})  # noqa: S102 - that it runs is the point
            n_run += 1
    assert n_run == _EACH


def test_the_programs_of_the_guide_run(spark: SparkSession, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    monkeypatch.setattr(wirespark, "session", lambda *names, **settings: spark)
    text = (
        (ROOT / "docs" / "guide" / "pipeline.md")
        .read_text(encoding="utf-8")
        .replace('"examples/', f'"{ROOT}/examples/')
    )
    programs = re.findall(r"^```python\n(.*?)^```", text, re.DOTALL | re.MULTILINE)
    for program in programs:
        exec(compile(program, "pipeline.md", "exec"), {})  # noqa: S102 - that it runs is the point
    assert programs
