"""The tables of a target in a Spark session: as DataFrames with views, or as tables of a catalogue."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from wirespark.errors import WireSparkError
from wirespark.stored_tables import TableSource, placed_schema
from wirespark.target_storage import TargetStorage, target_storage_of

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
    storage = target_storage_of(str(target))
    found: dict[str, DataFrame] = {}
    for table in sorted(storage.tables()):
        name = prefix + table.removeprefix(_PREFIX)
        found[name] = _table(spark, storage, table, name, database)
    if not found:
        raise WireSparkError(f"{target} has no tables: give the target of a conversion")
    return found


def _table(
    spark: SparkSession, storage: TargetStorage, table: str, name: str, database: str | None
) -> DataFrame:
    """Return a table, which has its view or its place in the catalogue then."""
    folder = storage.folder(table)
    if folder is None:
        spark.dataSource.register(TableSource)
    if database is not None:
        own = f"{database}.`{name}`"
        spark.sql(f"drop table if exists {own}")
        if folder is None:
            spark.catalog.createTable(own, source=TableSource.name(), schema=placed_schema(storage, table))
        else:
            _register(spark, own, folder)
        return spark.table(own)
    if folder is None:
        rows = spark.read.format(TableSource.name()).options(target=storage.address, table=table).load()
    else:
        rows = spark.read.option("mergeSchema", "false").parquet(str(folder))
    rows.createOrReplaceTempView(name)
    return rows


def _register(spark: SparkSession, name: str, folder: Path) -> None:
    place = str(folder).replace("\\", "\\\\").replace("'", "\\'")
    spark.sql(f"create table {name} using parquet location '{place}'")
    if any(folder.glob("date=*")):
        spark.catalog.recoverPartitions(name)
