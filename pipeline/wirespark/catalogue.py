"""The tables of a target in a Spark session: as DataFrames with views, or as tables of a catalogue."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from wirespark.errors import WireSparkError
from wirespark.receipts import tables_in

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

__all__ = ["tables"]

_PREFIX = "message="


def tables(
    spark: SparkSession, target: str | Path, *, prefix: str = "", database: str | None = None
) -> dict[str, DataFrame]:
    """Return the tables that `convert` wrote below a folder, by name: `data_appended`, …, `_frames`.

    Each becomes a temporary view of its name after `prefix`. With `database` it becomes a table there instead,
    which stays in the session's catalogue: its data are the files of the target, and dropping it removes none.
    Columns have their comments. Call it again after a conversion that brought messages or days of which there
    were none.

    Raises:
        WireSparkError: The folder has no tables.
    """
    found: dict[str, DataFrame] = {}
    for folder in sorted({_table_of(folder) for folder in tables_in(Path(target).absolute())}):
        if not any(folder.rglob("*.parquet")):
            continue
        name = prefix + folder.name.removeprefix(_PREFIX)
        rows = spark.read.option("mergeSchema", "false").parquet(str(folder))
        if database is None:
            rows.createOrReplaceTempView(name)
        else:
            _register(spark, f"{database}.`{name}`", folder)
            rows = spark.table(f"{database}.`{name}`")
        found[name] = rows
    if not found:
        raise WireSparkError(f"{target} has no tables: give the target of a conversion")
    return found


def _table_of(folder: Path) -> Path:
    return folder.parent if folder.name.startswith("date=") else folder


def _register(spark: SparkSession, name: str, folder: Path) -> None:
    spark.sql(f"drop table if exists {name}")
    place = str(folder).replace("\\", "\\\\").replace("'", "\\'")
    spark.sql(f"create table {name} using parquet location '{place}'")
    if any(folder.glob("date=*")):
        spark.catalog.recoverPartitions(name)
