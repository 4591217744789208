"""A Spark session for one job, and the package of the protocol that the user named, which its workers are given."""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Final

from wiregen.cli.failure import Failure
from wiregen.cli.protocols import configuration, stop

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

__all__ = ["opened"]

_PACKAGE: Final = "wiregen_built"
_QUIET: Final = {
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.log.level": "ERROR",
}


@contextmanager
def opened(protocol: str, master: str | None, remote: str | None) -> Iterator[tuple[SparkSession, str]]:
    """Open a session that knows the protocol, and hand it out with the protocol's name there; it ends with the block."""
    with tempfile.TemporaryDirectory(prefix="wiregen-spark-") as folder:
        name = _build(protocol, Path(folder))
        sys.path.insert(0, str(Path(folder, "python")))
        spark = _session(master, remote)
        try:
            yield spark, name
        finally:
            spark.stop()
            sys.path.remove(str(Path(folder, "python")))


def _session(master: str | None, remote: str | None) -> SparkSession:
    try:
        from wirespark import WireSparkError, session
    except ImportError:
        raise Failure("the pipeline is not installed", "pip install 'wiregen[spark,spark-java]'") from None
    try:
        return session(
            "wiregen",
            packages=(_PACKAGE,),
            master=master,
            remote=remote,
            config=_QUIET if remote is None else {},
        )
    except WireSparkError as error:
        message, _, way_out = str(error).partition(": ")
        raise Failure(message, way_out) from None


def _build(protocol: str, folder: Path) -> str:
    """Write the package of a protocol below a folder, and return what it is imported by; exit where its file is wrong."""
    from wiregen.build import build
    from wiregen.diagnostics import Report
    from wiregen.frontend import find_protocol
    from wiregen.source import Sources
    from wiregen.writer import write

    report, sources = Report(), Sources()
    config = configuration(report)
    path = find_protocol(protocol, config, report)
    if path is None:
        stop(report, sources)
    config = replace(
        config,
        sources=(path.resolve().parent,),
        output=folder,
        package=_PACKAGE,
        backends=("native", "columns"),
        protocols=None,
        plugins=(),
    )
    outputs = build(config, (path.stem,), sources, report)
    if report.has_errors:
        stop(report, sources)
    write(outputs, folder)
    name = next((output.path.parent.name for output in outputs if output.path.name == "_plan.py"), path.stem)
    return f"{_PACKAGE}.{name}"
