"""Jars of Maven Central with their dependencies, fetched by the Ivy that PySpark brings into the cache that Spark uses."""

from __future__ import annotations

import subprocess
import tempfile
from functools import cache
from pathlib import Path

import pytest

__all__ = ["class_path"]

_CACHE = Path.home() / ".ivy2.5.2" / "cache"
"""Spark's `spark.jars.packages` looks here first: a jar is fetched once for both."""
_LONGEST = 600  # seconds


@cache
def class_path(coordinate: str) -> str:
    """Return the class path of `group:module:version`; skip the test if Java, a jar or the network is missing."""
    pyspark = pytest.importorskip("pyspark", reason="the extra `spark` is not installed")
    from wirespark import WireSparkError, provide_java

    try:
        java = provide_java()
    except WireSparkError as error:
        pytest.skip(str(error))
    [ivy] = (Path(pyspark.__file__).parent / "jars").glob("ivy-*.jar")
    with tempfile.TemporaryDirectory() as folder:
        found = Path(folder, "found")
        settings = ("-cache", str(_CACHE), "-confs", "default", "-cachepath", str(found))
        try:
            done = subprocess.run(
                [java, "-jar", str(ivy), *settings, "-dependency", *coordinate.split(":")],
                capture_output=True,
                text=True,
                timeout=_LONGEST,
                check=False,
            )
        except subprocess.TimeoutExpired:
            pytest.skip(f"{coordinate} did not arrive within {_LONGEST} s")
        if done.returncode or not found.is_file():
            reason = next((line for line in done.stdout.splitlines() if "not found" in line), "Ivy failed")
            pytest.skip(f"{coordinate} cannot be fetched: {reason.strip(': ')}")
        return found.read_text(encoding="utf-8").strip()
