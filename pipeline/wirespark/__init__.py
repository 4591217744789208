"""wirespark: the protocols of a generated tree on Spark, from captured traffic to tables.

spark = wirespark.session()
spark.read.format("wire").option("protocol", "lumberjack").load("traffic.pcap")
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from wirespark.catalogue import tables
    from wirespark.compacting import Compaction, compact
    from wirespark.conversion import Summary, convert
    from wirespark.errors import WireSparkError
    from wirespark.functions import frames, from_wire, register_functions, to_wire
    from wirespark.java import provide_java
    from wirespark.jobs import check, decode, latencies, levels, pairs, profile
    from wirespark.schemas import arrow_schema, spark_schema
    from wirespark.spark_session import register, session, ship
    from wirespark.table_coverage import coverage
    from wirespark.writing import in_order

_PLACES = {
    "Compaction": "compacting",
    "Summary": "conversion",
    "WireSparkError": "errors",
    "arrow_schema": "schemas",
    "check": "jobs",
    "compact": "compacting",
    "convert": "conversion",
    "coverage": "table_coverage",
    "decode": "jobs",
    "frames": "functions",
    "from_wire": "functions",
    "in_order": "writing",
    "latencies": "jobs",
    "levels": "jobs",
    "pairs": "jobs",
    "profile": "jobs",
    "provide_java": "java",
    "register": "spark_session",
    "register_functions": "functions",
    "session": "spark_session",
    "ship": "spark_session",
    "spark_schema": "schemas",
    "tables": "catalogue",
    "to_wire": "functions",
}
__all__ = [
    "Compaction",
    "Summary",
    "WireSparkError",
    "arrow_schema",
    "check",
    "compact",
    "convert",
    "coverage",
    "decode",
    "frames",
    "from_wire",
    "in_order",
    "latencies",
    "levels",
    "pairs",
    "profile",
    "provide_java",
    "register",
    "register_functions",
    "session",
    "ship",
    "spark_schema",
    "tables",
    "to_wire",
]


def __getattr__(name: str) -> object:
    """Return a public name, and import its module only now.

    A worker needs one part, and reading a schema does not need Spark.
    """
    if name not in _PLACES:
        raise AttributeError(f"{__name__} has no {name}")
    return getattr(importlib.import_module(f"wirespark.{_PLACES[name]}"), name)
