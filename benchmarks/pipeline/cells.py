"""Functions of columns: frames in cells to structs, and back; next to functions of rows, and the cost of
handing cells over in Spark.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.parquet as pq
from pyspark.sql import functions as F
from pyspark.sql.pandas.functions import arrow_udf
from pyspark.sql.types import BinaryType
from rounds import Group

import wirespark
from wireproto import pravega_documented as pravega

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

PROTOCOL = "pravega_documented"
NAME = f"{PROTOCOL}.SegmentRead"


def group(spark: SparkSession, folder: Path, n_cells: int) -> Group:
    source = spark.read.parquet(str(write_cells(folder / "cells", n_cells)))
    read = wirespark.from_wire("cell", NAME)
    source.select(read.alias("read")).write.parquet(str(folder / "read"))
    structs = spark.read.parquet(str(folder / "read"))
    schema = structs.schema["read"].dataType
    tables = {
        "from_wire": source.select(read),
        "from_wire, any message": source.select(wirespark.from_wire("cell", PROTOCOL)),
        "decode, row by row": source.select(F.udf(_decode, schema, useArrow=False)("cell")),
        "decode, row by row out of Arrow": source.select(F.udf(_decode, schema, useArrow=True)("cell")),
        "structs as they are": structs.select(arrow_udf(_same, schema)("read")),
        "to_wire": structs.select(wirespark.to_wire("read", NAME)),
        "encode, row by row": structs.select(F.udf(_encode, BinaryType(), useArrow=False)("read")),
        "encode, row by row out of Arrow": structs.select(
            F.udf(_encode, BinaryType(), useArrow=True)("read")
        ),
        "cells as they are": source.select(arrow_udf(_same, BinaryType())("cell")),
    }
    ways = {name: _gone(table) for name, table in tables.items()}
    return Group(title=f"{n_cells} cells", unit="1000 rows", amount=n_cells, ways=ways)


def _gone(table: DataFrame) -> Callable[[], object]:
    return lambda: table.write.format("noop").mode("overwrite").save()


def _same(cells: pa.Array) -> pa.Array:
    return cells


def write_cells(folder: Path, n_cells: int) -> Path:
    """Write files of cells, a frame in each, and return where they are."""
    folder.mkdir()
    cells = [
        pravega.encode(pravega.SegmentRead(f"scope/stream/{n % 100}", n, n % 2 == 0, False, b"x" * (n % 100)))
        for n in range(n_cells)
    ]
    for number in range(2):
        table = pa.table({"cell": pa.array(cells[number::2], pa.binary())})
        pq.write_table(table, folder / f"{number}.parquet")
    return folder


def _decode(cell: Any) -> Any:
    found: Any = pravega.decode_message(bytes(cell))
    return (found.segment, None, found.offset, found.tail_, found.end_of_segment, found.data)


def _encode(row: Any) -> bytes:
    return pravega.encode(
        pravega.SegmentRead(row.segment, row.offset, row.tail, row.end_of_segment, bytes(row.data))
    )
