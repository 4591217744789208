"""One Spark session for each worker. The packages of the tests bring a Java, so that none is a failure."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from pyspark.sql import SparkSession
    from tests.pipeline.objects import Objects

CONFIG = {
    "spark.ui.enabled": "false",
    "spark.driver.memory": "1g",
    "spark.driver.extraJavaOptions": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC",
    "spark.sql.shuffle.partitions": "2",
    "spark.ui.showConsoleProgress": "false",
    "spark.driver.host": "127.0.0.1",
    "spark.driver.bindAddress": "127.0.0.1",
}


@pytest.fixture(scope="session", autouse=True)
def defaults(tmp_path_factory: pytest.TempPathFactory) -> None:
    """Give processes that make a session of their own the same settings, which start Java in half the time."""
    folder = tmp_path_factory.mktemp("spark")
    (folder / "spark-defaults.conf").write_text("".join(f"{key} {value}\n" for key, value in CONFIG.items()))
    os.environ["SPARK_CONF_DIR"] = str(folder)


@pytest.fixture(scope="session")
def spark() -> Iterator[SparkSession]:
    pytest.importorskip("pyspark", reason="the extra `spark` is not installed")
    import wirespark

    session = wirespark.session("tests", master="local[2]", config=CONFIG)
    session.sparkContext.setLogLevel("ERROR")
    yield session
    session.stop()


@pytest.fixture(scope="module")
def objects() -> Iterator[Objects]:
    """A server of S3 of this file's own, in the environment."""
    pytest.importorskip("pyarrow", reason="the extra `spark` is not installed")
    from tests.pipeline.objects import served_objects

    with served_objects() as found:
        yield found
