"""The failures that docs/operations.md describes: a disk that is full, an executor that is killed; and its program."""

from __future__ import annotations

import errno
import os
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

pytest.importorskip("pyspark", reason="the extra `spark` is not installed")
pytestmark = pytest.mark.xdist_group("spark")

from pyspark.errors import PySparkException  # noqa: E402
from tests.pipeline.recipes import ROOT, run  # noqa: E402
from tests.pipeline.rows import rows_of  # noqa: E402
from tests.pipeline.streams import stream_of  # noqa: E402
from tests.pipeline.test_convert import check_target, reader_of, run_all  # noqa: E402

from wirespark.errors import WireSparkError, as_it_was_said  # noqa: E402
from wirespark.options import Wishes  # noqa: E402

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

IS_SOAK = os.environ.get("HYPOTHESIS_PROFILE") == "soak"
LIMITED = """
import resource
import sys
from pathlib import Path
from tests.pipeline.test_convert import reader_of, run_all
reader = reader_of(Path(sys.argv[1]), Path(sys.argv[2]), "reactive_streams", split="16KiB")
resource.setrlimit(resource.RLIMIT_FSIZE, (int(sys.argv[3]), resource.RLIM_INFINITY))
run_all(reader)
"""
CLUSTER = """
import os
import signal
import sys
import threading
import time
from pathlib import Path
import wirespark

def executors():
    for entry in Path("/proc").glob("[0-9]*"):
        try:
            command = (entry / "cmdline").read_bytes()
        except OSError:
            continue
        if b"CoarseGrainedExecutorBackend" in command and spark.sparkContext.applicationId.encode() in command:
            yield int(entry.name)

def kill_one():
    while not any(Path("tables").glob("*/*.parquet")):
        time.sleep(0.01)
    victims.append(min(executors()))
    os.kill(victims[0], signal.SIGKILL)

victims = []
spark = wirespark.session(master="local-cluster[2,1,1024]", config={"spark.executor.memory": "1g"})
thread = threading.Thread(target=kill_one)
thread.start()
summary = wirespark.convert(spark, "stream.writer.bin", "tables", protocol="lumberjack", split="64KiB", kernel="off")
thread.join()
print("killed", len(victims), "rows", summary.rows)
"""


SUBMITTED = f"""
table = spark.read.format("wire").option("protocol", "lumberjack").load("{ROOT}/examples/captures/npm-w10-plain.pcap")
print("rows", table.count(), table.select(wirespark.to_wire("Window", "lumberjack.Window")).distinct().count())
"""


def stored_stream(tmp_path: Path, protocol: str, n_frames: int) -> tuple[Path, list[dict[str, Any]]]:
    """Return a file with the bytes of one role, and its rows."""
    made = stream_of(protocol, 5, n_frames)
    path = tmp_path / f"stream.{made.role}.bin"
    path.write_bytes(made.data)
    return path, rows_of(made.data, Wishes(protocol=protocol, role=made.role), tmp_path)


def test_a_full_disk_fails_the_task_and_a_later_run_goes_on(tmp_path: Path) -> None:
    """The limit is one of the size of files: it gives the error of a write that a full disk gives."""
    pytest.importorskip("resource", reason="this system has no limits of processes")
    path, rows = stored_stream(tmp_path, "reactive_streams", 1000)
    target = tmp_path / "target"
    places = [str(ROOT / each) for each in (".", "generator", "generated/python", "pipeline", "examples")]
    done = subprocess.run(
        [sys.executable, "-c", LIMITED, str(path), str(target), "4000"],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(places)},
        capture_output=True,
        text=True,
        cwd=ROOT,
        check=False,
    )
    assert done.returncode and "File too large" in done.stderr, done.stderr
    assert not list(target.rglob("*.parquet")) and not list(target.rglob("*.tmp"))
    run_all(reader_of(path, target, "reactive_streams", split="16KiB"))
    check_target(target, rows)


@pytest.mark.skipif(not IS_SOAK, reason="it takes a cluster of three Javas: `make soak` starts it")
@pytest.mark.skipif(sys.platform != "linux", reason="it finds executors below /proc")
def test_an_executor_that_is_killed_costs_no_row(tmp_path: Path, evidence: Callable[..., None]) -> None:
    path, rows = stored_stream(tmp_path, "lumberjack", 2000)
    n_copies = 20
    path.rename(tmp_path / "one.bin")
    (tmp_path / "stream.writer.bin").write_bytes((tmp_path / "one.bin").read_bytes() * n_copies)
    (tmp_path / "one.bin").unlink()
    output = run(CLUSTER, tmp_path)
    assert output.endswith(f"killed 1 rows {len(rows) * n_copies}\n")
    evidence("executor_kills", count=1, failures=0, rows=len(rows) * n_copies)


def test_the_program_of_the_page_is_submitted(tmp_path: Path) -> None:
    """Java is not started by wirespark: the packages are on its path, and workers receive the code."""
    import pyspark

    text = (ROOT / "docs" / "operations.md").read_text(encoding="utf-8")
    [block] = re.findall(r"^```python\n(.*?)^```", text, re.DOTALL | re.MULTILINE)
    (tmp_path / "job.py").write_text(block + SUBMITTED, encoding="utf-8")
    places = [str(ROOT / each) for each in ("generator", "generated/python", "pipeline")]
    done = subprocess.run(
        [str(Path(pyspark.__file__).parent / "bin" / "spark-submit"), "job.py"],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(places), "PYSPARK_PYTHON": sys.executable},
        capture_output=True,
        text=True,
        cwd=tmp_path,
        check=False,
    )
    assert "rows 12 2\n" in done.stdout, done.stderr[-3000:]


RAISED = """
An exception was thrown from the Python worker. Please see the stack trace below.
Traceback (most recent call last):
  File "convert_source.py", line 1, in read
{}

\tat org.apache.spark.api.python.BasePythonRunner.handlePythonException(PythonRunner.scala:1)
org.apache.spark.SparkException: Job aborted
"""


@pytest.mark.parametrize(
    ("raised", "said"),
    [
        ("OSError: [Errno 28] No space left on device", "No space left on device"),
        (
            "OSError: [Errno 28] Error writing bytes to file. Detail: [errno 28] No space left on device",
            "No space left on device",
        ),
        ("PermissionError: [Errno 13] Permission denied: '/x'", "Permission denied, '/x'"),
        ("KeyError: 1\n\nDuring handling, another one:\n\nFileNotFoundError: x is gone", "x is gone"),
    ],
)
def test_an_error_of_the_system_is_told_in_one_sentence(raised: str, said: str) -> None:
    with pytest.raises(WireSparkError) as caught, as_it_was_said():
        raise PySparkException(RAISED.format(raised))
    assert str(caught.value) == f"a task failed ({said}): repair the cause, and run it again"


@pytest.mark.parametrize(
    "raised", ["KeyError: 1", "OSError: x\n\nDuring it:\n\nValueError: y", "y.E: OSError: x"]
)
def test_a_bug_stays_one(raised: str) -> None:
    with pytest.raises(PySparkException), as_it_was_said():
        raise PySparkException(RAISED.format(raised))


def test_an_error_of_the_system_in_a_task_is_told(spark: SparkSession) -> None:
    def full(batches: Any) -> Any:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    with (
        pytest.raises(WireSparkError, match=r"^a task failed \(No space left on device\): [^\n]+$"),
        as_it_was_said(),
    ):
        spark.range(1).mapInArrow(full, "id long").collect()
