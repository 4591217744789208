"""wirespark: the protocols of a generated tree on Spark, from captured traffic to tables.

spark = wirespark.session()
spark.read.format("wire").option("protocol", "lumberjack").load("traffic.pcap")
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from wirespark.conversion import Summary, convert
    from wirespark.errors import WireSparkError
    from wirespark.java import provide_java
    from wirespark.schemas import arrow_schema, spark_schema
    from wirespark.sessions import register, session, ship

_PLACES = {
    "Summary": "conversion",
    "WireSparkError": "errors",
    "arrow_schema": "schemas",
    "convert": "conversion",
    "provide_java": "java",
    "register": "sessions",
    "session": "sessions",
    "ship": "sessions",
    "spark_schema": "schemas",
}
__all__ = [
    "Summary",
    "WireSparkError",
    "arrow_schema",
    "convert",
    "provide_java",
    "register",
    "session",
    "ship",
    "spark_schema",
]


def __getattr__(name: str) -> object:
    """Return what is asked for, loaded only then: a worker needs a part, and a look at a schema needs no Spark."""
    if name not in _PLACES:
        raise AttributeError(f"{__name__} has no {name}")
    return getattr(importlib.import_module(f"wirespark.{_PLACES[name]}"), name)
