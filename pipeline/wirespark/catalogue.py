"""The tables of a target in a Spark session: as DataFrames with views, or as tables of a catalogue."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple
from weakref import WeakKeyDictionary

from wirespark.errors import WireSparkError
from wirespark.output import DAY
from wirespark.stored_tables import TableSource, placed_schema
from wirespark.target_storage import TargetStorage, target_storage_of

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

__all__ = ["refresh", "tables"]

_PREFIX = "message="


class _Place(NamedTuple):
    """The folder of a view, or of a table of the catalogue."""

    folder: Path
    is_view: bool


_made: WeakKeyDictionary[SparkSession, dict[str, dict[str, _Place]]] = WeakKeyDictionary()
"""The views and tables of each target on a disk that were made in a session, by their names."""


def tables(
    spark: SparkSession, target: str | Path, *, prefix: str = "", database: str | None = None
) -> dict[str, DataFrame]:
    """Return the tables that `convert` wrote below a folder, by name: `data_appended`, …, `_frames`.

    Each becomes a temporary view of its name after `prefix`. With `database` it becomes a table there instead,
    which stays in the session's catalogue: its data are the files of the target, and dropping it removes none.
    Columns have their comments.

    Spark keeps lists of the files of a target on a disk. `convert` and `compact` renew those of views and tables in their own
    session. Call this again after those of other sessions, and after a conversion that brought messages of which there were
    none. DataFrames that were taken before may have old lists.

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
        if folder is None:
            _register_stored(spark, own, storage, table)
        else:
            _register(spark, own, folder)
            _remember(spark, storage, own, _Place(folder, is_view=False))
        return spark.table(own)
    if folder is None:
        rows = spark.read.format(TableSource.name()).options(target=storage.address, table=table).load()
    else:
        rows = spark.read.option("mergeSchema", "false").parquet(str(folder))
    rows.createOrReplaceTempView(name)
    if folder is not None:
        _remember(spark, storage, f"`{name}`", _Place(folder, is_view=True))
    return rows


def _register_stored(spark: SparkSession, name: str, storage: TargetStorage, table: str) -> None:
    schema = placed_schema(storage, table)  # before the table is dropped: its requests may fail
    spark.sql(f"drop table if exists {name}")
    spark.catalog.createTable(name, source=TableSource.name(), schema=schema)


def _register(spark: SparkSession, name: str, folder: Path) -> None:
    spark.sql(f"drop table if exists {name}")
    place = str(folder).replace("\\", "\\\\").replace("'", "\\'")
    spark.sql(f"create table {name} using parquet location '{place}'")
    _find_days(spark, name, folder)


def _find_days(spark: SparkSession, name: str, folder: Path) -> None:
    if any(folder.glob(f"{DAY}=*")):
        spark.catalog.recoverPartitions(name)


def _remember(spark: SparkSession, storage: TargetStorage, name: str, place: _Place) -> None:
    """Remember that a name stands for a folder of this target, and not of another one as before."""
    made = _made.setdefault(spark, {})
    for known in made.values():
        known.pop(name, None)
    made.setdefault(_identity(storage), {})[name] = place


def refresh(spark: SparkSession, target: str | Path) -> None:
    """Let the views and tables that `tables` made of a target in this session have the files that are there now."""
    made = _made.get(spark)
    if not made:
        return
    for name, place in made.get(_identity(target_storage_of(str(target))), {}).items():
        # It was dropped, or is something else now, or the session has ended: no conversion fails, or hides its own error, for that.
        with suppress(Exception):
            if not place.is_view:
                _find_days(spark, name, place.folder)
            spark.catalog.refreshTable(name)


def _identity(storage: TargetStorage) -> str:
    return os.path.realpath(storage.address)
