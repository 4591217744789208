"""The same over Spark Connect: reading, functions of columns, converting, writing, jobs, in a process of its own with a server beside it."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("pyspark", reason="the extra `spark` is not installed")
pytest.importorskip("grpc", reason="what Spark Connect needs is not installed")
pytestmark = pytest.mark.xdist_group("spark")

ROOT = Path(__file__).resolve().parents[2]
CAPTURE = ROOT / "examples" / "captures" / "npm-w10-plain.pcap"
PROGRAM = """
import sys
import warnings
from pathlib import Path
warnings.simplefilter("ignore")
from pyspark.sql import functions as F
import wirespark
from wireproto import lumberjack as lj
from tests.pipeline.conftest import CONFIG
capture, target = sys.argv[1:]
spark = wirespark.session("connect", remote="local[1]", config=CONFIG)
assert "connect" in type(spark).__module__
table = spark.read.format("wire").options(protocol="lumberjack", index="false").load(capture)
assert table.where("_message = 'Data'").count() == 10
cells = spark.createDataFrame([(bytearray(lj.encode(lj.Window(5))),)], "data binary")
name = "lumberjack.Window"
read = wirespark.from_wire("data", name)
row = cells.select(read.size, wirespark.to_wire(read, name), F.size(wirespark.frames("data", "lumberjack"))).collect()[0]
assert (row[0], bytes(row[1]), row[2]) == (5, lj.encode(lj.Window(5)), 1)
assert wirespark.convert(spark, capture, target + "/tables", protocol="lumberjack").rows == 12
wirespark.tables(spark, target + "/tables")
added = Path(target) / "added.writer.bin"
added.write_bytes(lj.encode(lj.Data(7, [])))
for run in (lambda: wirespark.convert(spark, added, target + "/tables", protocol="lumberjack"), lambda: wirespark.compact(spark, target + "/tables")):
    run()
    assert spark.table("data").count() == 11
source = Path(target) / "many"
source.mkdir()
for number in range(4200):
    (source / f"{number}.writer.bin").write_bytes(lj.encode(lj.Data(number, [lj.Pair("line", "x" * 1100)])))
runs = [wirespark.convert(spark, source, target + "/lines", protocol="lumberjack", split="1KiB") for _ in range(2)]
assert [(run.parts, run.resumed, run.rows) for run in runs] == [(4200, 0, 4200), (4200, 4200, 4200)]
assert len(list(Path(target, "lines", "_receipts").glob("*.index"))) == 2
table.write.format("wire").option("protocol", "lumberjack").mode("append").save(target + "/streams")
assert wirespark.check(table, "lumberjack").count() == 0
assert wirespark.pairs(table, "lumberjack").count() == 10
print("all of it")
"""


def test_all_of_it_over_connect(tmp_path: Path) -> None:
    places = [str(ROOT / each) for each in (".", "generator", "generated/python", "pipeline")]
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, str(CAPTURE), str(tmp_path)],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(places)},
        capture_output=True,
        text=True,
        cwd=ROOT,
        check=False,
    )
    assert done.stdout.endswith("all of it\n"), done.stderr[-3000:]
    assert len(list((tmp_path / "streams").glob("*.bin"))) == 2
