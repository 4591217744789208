"""The programs of the site's PySpark pages run unchanged."""

from __future__ import annotations

import re
import shlex
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

pytest.importorskip("pyspark", reason="the extra `spark` is not installed")
pytestmark = pytest.mark.xdist_group("spark")

from tests.unit.docs_sites import ROOT, SHIPPED, shipped_chapter  # noqa: E402
from tests.unit.tools.test_cli_decode import run  # noqa: E402

import wirespark  # noqa: E402
from wiregen.site.pages.chapter import Book  # noqa: E402
from wiregen.site.pages.declarations import message_page  # noqa: E402

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


def test_the_questions_of_the_guide_have_answers(spark: SparkSession) -> None:
    """Each command of the table is a function of a table too, and takes what the page gives it."""
    text = (ROOT / "docs" / "guide" / "pipeline.md").read_text(encoding="utf-8")
    names = re.findall(r"^\| `wiregen spark ([a-z]+)` \|", text, re.MULTILINE)
    capture = ROOT / "examples" / "captures" / "npm-w10-plain.pcap"
    table = spark.read.format("wire").option("protocol", "lumberjack").load(str(capture))
    [given] = re.findall(r"`wirespark\.check\((table, .*?)\)`", text)
    for name in names:
        job = getattr(wirespark, name)
        arguments = given if name != "profile" else "table"
        found = eval(f"job({arguments})", {"job": job, "table": table})
        assert found.columns, name
    assert len(names) == 6


def test_the_command_of_the_guide_runs(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from wiregen.tools.cli import spark_session

    @contextmanager
    def opened(protocol: str, *more: object) -> Iterator[tuple[SparkSession, str, dict[str, str]]]:
        yield spark, protocol, {}  # a session of its own would take another Java

    monkeypatch.setattr(spark_session, "opened", opened)
    text = (ROOT / "docs" / "guide" / "pipeline.md").read_text(encoding="utf-8")
    [block] = re.findall(r"^```sh\n(.*?)^```", text, re.DOTALL | re.MULTILINE)
    (tmp_path / "traffic").mkdir()
    shutil.copy(ROOT / "examples" / "captures" / "npm-w10-plain.pcap", tmp_path / "traffic")
    words = [str(tmp_path / word) if word.endswith("/") else word for word in shlex.split(block)]
    result = run(*words[1:])
    assert result.exit_code == 0, result.output
    assert {"message=data", "message=window"} <= {path.name for path in (tmp_path / "tables").iterdir()}


def test_the_lines_of_the_reference_run(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The first reading in `docs/pipeline.md` has no Fault, and its writing line writes the same bytes."""
    monkeypatch.setattr(wirespark, "session", lambda *names, **settings: spark)
    text = (ROOT / "docs" / "pipeline.md").read_text(encoding="utf-8")
    first = next(re.finditer(r"^```python\n(.*?)^```", text, re.DOTALL | re.MULTILINE))[1]
    told: dict[str, Any] = {}
    exec(first.replace('"examples/', f'"{ROOT}/examples/'), told)  # noqa: S102 - that it runs is the point
    assert told["traffic"].where("_error is not null").count() == 0
    [line] = re.findall(r"`(table\.write\..*?)`", text)
    target = f"{tmp_path}/streams/"  # Java was started in another folder
    eval(line.replace("streams/", target), {"table": told["traffic"]})
    written = spark.read.format("wire").option("protocol", "lumberjack").load(target)
    assert written.count() == told["traffic"].count() > 0
