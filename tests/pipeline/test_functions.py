"""Functions of columns return the rows of a reading, in every form of call, and the bytes they write can be
read again.
"""

from __future__ import annotations

import random
from typing import TYPE_CHECKING, Any

import pytest

pytest.importorskip("pyspark", reason="the extra `spark` is not installed")
pytestmark = pytest.mark.xdist_group("spark")

import pyarrow as pa  # noqa: E402
from pyspark.sql import functions as F  # noqa: E402
from tests.pipeline.streams import STREAMS, Stream, stream_of  # noqa: E402

from wiregen.runtime.codec.values import MOST_NESTING  # noqa: E402
from wireproto import lumberjack as lj  # noqa: E402
from wireproto import pravega_documented as pravega  # noqa: E402
from wirespark import WireSparkError, frames, from_wire, register_functions, to_wire  # noqa: E402
from wirespark.cells import decoded_cells, decoded_frames, decoded_messages  # noqa: E402
from wirespark.options import Wishes, has_numba  # noqa: E402

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

KERNELS = ["off", *(["on"] if has_numba() else [])]


def cells_of(stream: Stream) -> list[bytes]:
    begins = (0, *stream.ends[:-1])
    return [stream.data[start:end] for start, end in zip(begins, stream.ends, strict=True)]


def reads(n: int) -> list[bytes]:
    return [
        pravega.encode(pravega.SegmentRead(f"s/{k % 7}", k * 10, k % 2 == 0, False, b"x" * (k % 50)))
        for k in range(n)
    ]


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("protocol", STREAMS)
def test_cells_are_the_rows_of_their_frames(protocol: str, kernel: Any) -> None:
    """Also beside cells that are null, cut, changed, empty, or hold two frames."""
    dice = random.Random(protocol)
    stream = stream_of(protocol, 1, 150)
    wishes = Wishes(protocol=protocol, role=stream.role, kernel=kernel)
    cells: list[bytes | None] = []
    for cell in cells_of(stream):
        cells.append(cell)
        if dice.random() < 0.1:
            cells.append(dice.choice([None, b"", cell[:-1], cell + cell, dice.randbytes(9)]))
    found = decoded_cells(pa.array(cells, pa.binary()), wishes).to_pylist()
    alone = [decoded_cells(pa.array([cell], pa.binary()), wishes).to_pylist()[0] for cell in cells]
    assert found == alone
    assert [row is None for row in found] == [cell is None for cell in cells]
    assert all(row is None or (row["_message"] is None) == (row["_error"] is not None) for row in found)


@pytest.mark.parametrize("kernel", KERNELS)
def test_a_slice_of_an_array_is_read(kernel: Any) -> None:
    wishes = Wishes(protocol="pravega_documented", role="server", kernel=kernel)
    cells = pa.array([None, *reads(300), None], pa.binary())
    whole: Any = decoded_messages(cells, wishes, "SegmentRead")
    assert decoded_messages(cells.slice(17, 200), wishes, "SegmentRead").equals(whole.slice(17, 200))
    assert whole.null_count == 2 and whole[5].as_py()["offset"] == 40


def test_frames_of_a_cell_tile_it() -> None:
    wishes = Wishes(protocol="lumberjack", role="writer")
    good = lj.encode(lj.Window(3))
    lists = decoded_frames(
        pa.array([good * 2 + b"\0\0" + good * 2, None, b""], pa.binary()), wishes
    ).to_pylist()
    assert [(row["_offset"], row["_size"], row["_message"]) for row in lists[0]] == [
        (0, 6, "Window"),
        (6, 6, "Window"),
        (12, 2, None),
        (14, 6, "Window"),
        (20, 6, "Window"),
    ]
    assert lists[1:] == [None, []]


# ---- on Spark


@pytest.fixture
def cells(spark: SparkSession) -> DataFrame:
    ack = pravega.encode(pravega.ReadSegment("s", 1, 2, "t"))
    rows = [(n, data) for n, data in enumerate([*reads(100), ack, b"nothing", None])]
    return spark.createDataFrame(
        [(n, None if d is None else bytearray(d)) for n, d in rows], "id int, data binary"
    )


def test_one_message_in_python(cells: DataFrame) -> None:
    found = cells.select("id", from_wire("data", "pravega_documented.SegmentRead").alias("m")).orderBy("id")
    rows = found.select("m.offset", "m.data").collect()
    assert [row["offset"] for row in rows] == [*range(0, 1000, 10), None, None, None]
    assert bytes(rows[49]["data"]) == b"x" * 49


def test_all_messages_in_python(cells: DataFrame) -> None:
    wide = cells.select("id", from_wire(F.col("data"), "pravega_documented").alias("m")).orderBy("id")
    rows = wide.select("m._message", "m._error.code", F.col("m").isNull().alias("none")).collect()
    assert [row["_message"] for row in rows[99:]] == ["SegmentRead", "ReadSegment", None, None]
    assert [row["none"] for row in rows[99:]] == [False, False, False, True]
    assert rows[101]["code"] is not None


def test_what_was_read_is_written_again(cells: DataFrame) -> None:
    good = cells.where("id <= 100")
    wide = good.select(
        "data", to_wire(from_wire("data", "pravega_documented"), "pravega_documented").alias("back")
    )
    assert wide.where("data = back").count() == 101
    reads_ = good.where("id < 100")
    name = "pravega_documented.SegmentRead"
    assert reads_.where(F.col("data") == to_wire(from_wire("data", name), name)).count() == 100


def test_a_struct_made_by_hand_is_written(spark: SparkSession) -> None:
    row = spark.range(1).select(
        to_wire(F.struct(F.lit(7).alias("size")), "lumberjack.Window").alias("native"),
        to_wire(F.struct(F.lit(7).alias("size")), "lumberjack.Window", {"backend": "msgpack"}).alias(
            "msgpack"
        ),
        to_wire(F.struct(F.lit(-7).alias("size")), "lumberjack.Window", {"mode": "permissive"}).alias("none"),
    )
    from wireproto.lumberjack import msgpack

    found = row.collect()[0]
    assert bytes(found["native"]) == lj.encode(lj.Window(7))
    assert bytes(found["msgpack"]) == msgpack.encode(lj.Window(7))
    assert found["none"] is None


def test_sql(spark: SparkSession, cells: DataFrame) -> None:
    register_functions(spark, "lumberjack", "pravega_documented.SegmentRead")
    cells.createOrReplaceTempView("cells")
    query = "select sum(from_wire_pravega_documented_SegmentRead(data).offset) from cells"
    assert spark.sql(query).collect()[0][0] == 49500
    window = "to_wire_lumberjack(named_struct('Window', named_struct('size', 5)))"
    query = (
        f"select f._offset, f.Window.size from lateral frames({window} || {window}, 'lumberjack', 'writer') f"
    )
    assert [tuple(row) for row in spark.sql(query).collect()] == [(0, 5), (6, 5)]
    query = f"select inline(frames_lumberjack({window} || {window}))"
    assert [row["_offset"] for row in spark.sql(query).collect()] == [0, 6]


def test_stretches_in_python(spark: SparkSession) -> None:
    data = lj.encode(lj.Window(5)) * 3
    table = spark.createDataFrame([(bytearray(data),)], "data binary")
    found = table.select(F.inline(frames("data", "lumberjack", {"from": "writer"}))).collect()
    assert [(row["_offset"], row["Window"]["size"]) for row in found] == [(0, 5), (6, 5), (12, 5)]


def test_failfast_fails(cells: DataFrame) -> None:
    with pytest.raises(Exception, match="a cell is not a frame"):
        cells.select(from_wire("data", "pravega_documented", {"mode": "FAILFAST"})).collect()


@pytest.mark.parametrize(
    ("what", "options", "message"),
    [
        pytest.param("lumber", {}, "no protocol 'lumber'", id="no protocol"),
        pytest.param("lumberjack.Dato", {}, "no message 'Dato'", id="no message"),
        pytest.param("lumberjack", {"colour": "red"}, "unknown option 'colour'", id="no option"),
        pytest.param("lumberjack", {"mode": "dropmalformed"}, "cannot drop rows", id="no mode"),
        pytest.param(
            "geode",
            {"limit.depth": f"{MOST_NESTING + 1}"},
            f"depth is at most {MOST_NESTING}, not {MOST_NESTING + 1}",
            id="too deep",
        ),
    ],
)
def test_wrong_names_are_refused_at_once(what: str, options: dict[str, str], message: str) -> None:
    with pytest.raises(WireSparkError, match=message):
        from_wire("data", what, options)
