"""`docs/recipes.md`: its programs run as they are, and the tables have the rows that the page promises."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

pytest.importorskip("pyspark", reason="the extra `spark` is not installed")
pytestmark = pytest.mark.xdist_group("spark")

from pyspark.sql import functions as F  # noqa: E402
from tests.pipeline.recipes import ROOT, program, run  # noqa: E402
from tests.unit.tools.test_cli_capture import Wire  # noqa: E402

import wirespark  # noqa: E402
from wireproto import lumberjack as lj  # noqa: E402

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

CAPTURES = ROOT / "examples" / "captures"
IS_SOAK = os.environ.get("HYPOTHESIS_PROFILE") == "soak"
DAMAGED = lj.encode(lj.Window(7)) + b"22" + lj.encode(lj.Json(1, b"{}"))
COUNTS = """
import json
print("counts", json.dumps({
    "joined": joined.count(),
    "unanswered": pairs.where("_message is null").count(),
    "dead": [row["code"] for row in spark.read.parquet("dead_letters").select("_error.code").collect()],
    "by_hour": spark.read.parquet("hours").count(),
    "inner": spark.table("traffic.json").where("_depth > 0").count(),
    "written": len(list(Path("streams").glob("*.bin"))),
    "windows": [bytes(row["value"]).hex() for row in windows.distinct().collect()],
}))
"""
LAKES = {
    "delta": ("4.2.0", 'print("rows", spark.read.format("delta").load("delta/json").count())'),
    "iceberg": ("4.1.3", 'print("rows", spark.table("lake.traffic.json").count())'),
}
"""The version of PySpark for which there are jars, and a line that counts the events."""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Return a folder with captures, and with a stream in which two bytes are wrong."""
    (tmp_path / "captures").mkdir()
    for name in ("npm-w10-plain.pcap", "pylogbeat-unicode.pcap"):
        shutil.copy(CAPTURES / name, tmp_path / "captures")
    (tmp_path / "captures" / "damaged.writer.bin").write_bytes(DAMAGED)
    return tmp_path


def test_the_recipes_run(folder: Path) -> None:
    output = run(program() + COUNTS, folder)
    counts = json.loads(output.split("counts ")[-1])
    assert counts["joined"] == 10  # the events of npm-w10-plain, all of them acknowledged
    assert counts["unanswered"] == 1  # the event after the wrong bytes
    assert counts["inner"] == counts["by_hour"] > 0
    assert counts["dead"] == ["unknown_code"]
    assert counts["written"] == 5  # both directions of two captures, and the stream
    assert lj.encode(lj.Window(7)).hex() in counts["windows"]


def test_rows_at_the_edges_of_captures_are_told(spark: SparkSession, tmp_path: Path) -> None:
    """A connection is cut within a frame; another one has an error and requests without answers by itself."""
    first, second, third = (lj.encode(lj.Data(number, [lj.Pair("line", "text")])) for number in (1, 2, 3))
    wire = Wire().open().client(first).server(lj.encode(lj.Ack(1))).client(second).client(third[:10])
    n_packets = len(wire._packets)
    wire.client(third[10:]).server(lj.encode(lj.Ack(3))).close()
    own = Wire(52_000).open().client(first + b"22" + second).close()
    last = Wire()
    last._packets, wire._packets = wire._packets[n_packets:], wire._packets[:n_packets]
    for number, part in enumerate((wire, last, own)):
        (tmp_path / f"{number}.pcap").write_bytes(part.pcap())
    traffic = spark.read.format("wire").options(protocol="lumberjack", port=5044).load(str(tmp_path))
    pairs = wirespark.pairs(traffic, "lumberjack")
    known: dict[str, Any] = {"F": F, "traffic": traffic, "pairs": pairs}
    text = program()
    exec(text[text.index("ends = ") : text.index("inner = ")], known)  # noqa: S102 - the page is our own
    files = [row["_file"][-6:] for row in traffic.where("_error is not null").orderBy("_file").collect()]
    assert files == ["0.pcap", "1.pcap", "2.pcap"] and pairs.where("_message is null").count() == 3
    assert [row["_file"][-6:] for row in known["errors"].collect()] == ["2.pcap"]
    assert [row["_file"][-6:] for row in known["unanswered"].collect()] == ["2.pcap"] * 2


@pytest.mark.skipif(not IS_SOAK, reason="each takes a PySpark of another version, which `make soak` installs")
@pytest.mark.parametrize("lake", LAKES)
def test_tables_are_copied_to_a_lake(lake: str, folder: Path, evidence: Callable[..., None]) -> None:
    version, count = LAKES[lake]
    place = folder / "site"
    install = [sys.executable, "-m", "pip", "install", "-q", "--target", str(place), f"pyspark=={version}"]
    done = subprocess.run(install, capture_output=True, text=True, check=False)
    if done.returncode:
        pytest.skip(f"PySpark {version} cannot be installed: {done.stderr[-500:]}")
    [convert] = [line for line in program().splitlines() if line.startswith("summary = wirespark.convert(")]
    setting = 'import wirespark\nspark = wirespark.session()\ncaptures = "captures"\n'
    expected = 'print("events", spark.read.parquet("tables/message=json").count())'
    converted = run(f"{setting}{convert}\n{expected}", folder)
    output = run(f"{program(lake)}\n{count}", folder, str(place))
    n_rows = int(output.split("rows ")[-1])
    assert n_rows == int(converted.split("events ")[-1]) > 0
    evidence(f"lake_{lake}", count=1, failures=0, rows=n_rows, pyspark=version)
