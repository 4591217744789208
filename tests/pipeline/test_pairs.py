"""Requests and answers: by steps and by lists of sessions, with those that nobody answered."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any
from uuid import UUID

import pytest

pytest.importorskip("pyspark", reason="the extra `spark` is not installed")
pytestmark = pytest.mark.xdist_group("spark")

import pyarrow as pa  # noqa: E402
from tests.pipeline.test_jobs import events, of_kind  # noqa: E402

import wirespark  # noqa: E402
from wireproto import geode  # noqa: E402
from wireproto import lumberjack as lj  # noqa: E402
from wireproto import pravega as pv  # noqa: E402
from wireproto import reactive_streams as rs  # noqa: E402
from wirespark.columns import Origin  # noqa: E402
from wirespark.conversations import events_of  # noqa: E402
from wirespark.jobs import session_wishes  # noqa: E402
from wirespark.objects import recording_of  # noqa: E402
from wirespark.stream_rows import StreamRow  # noqa: E402
from wirespark.table_rows import wide_table  # noqa: E402

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

ROOT = Path(__file__).resolve().parents[2]
PRAVEGA = ROOT / "examples" / "captures" / "pravega-write-read.pcap.gz"


def said(protocol: str, *lines: tuple[str, Any], **options: str) -> list[dict[str, Any]]:
    """Return the events of a connection in which a line is said each second: who says it, and the frame."""
    wishes = session_wishes(protocol, options)
    tables = [
        wide_table(
            recording_of(wishes).columns(
                [StreamRow(n, 1, frame, None, n * 1_000_000)], role, 0, origin=Origin(file="f", flow="a")
            ),
            wishes.package,
        )
        for n, (role, frame) in enumerate(lines)
    ]
    found: list[dict[str, Any]] = events_of(pa.Table.from_batches(tables), wishes).to_pylist()
    return found


def answers(found: list[dict[str, Any]]) -> list[tuple[Any, ...]]:
    return of_kind(found, "pair", "request", "request_offset", "_message", "_offset")


def unanswered(found: list[dict[str, Any]]) -> list[tuple[Any, ...]]:
    return [
        (event["request"], event["request_offset"], (event["_time"] - event["request_time"]).total_seconds())
        for event in found
        if event["kind"] == "unanswered"
    ]


def test_every_answer_in_a_recording_of_pravega_has_its_request() -> None:
    """All that the sessions know: a read has no session, since its id is that of many reads."""
    found = events(PRAVEGA, "pravega")
    assert Counter(row[2] for row in answers(found)) == {
        "AppendSetup": 1,
        "DataAppended": 7,
        "Hello": 3,
        "SegmentCreated": 1,
        "TableEntriesDeltaRead": 7,
        "TableEntriesUpdated": 4,
    }
    assert not unanswered(found)


def test_a_setup_in_the_middle_is_a_request_too() -> None:
    """The second SetupAppend begins elsewhere than in the first state, and gives up what waits on the list."""
    writer = UUID(int=7)
    setup: dict[str, Any] = {"writer_id": writer, "segment": "s", "delegation_token": ""}
    done: dict[str, Any] = {"segment": "s", "writer_id": writer}
    found = said(
        "pravega",
        ("client", pv.SetupAppend(request_id=1, **setup)),
        ("server", pv.AppendSetup(request_id=1, last_event_number=-(2**63), **done)),
        ("client", pv.ConditionalAppend(writer, 5, 0, pv.Frame(pv.Event(b"e")), request_id=3)),
        ("client", pv.SetupAppend(request_id=2, **setup)),
        ("server", pv.AppendSetup(request_id=2, last_event_number=-(2**63), **done)),
    )
    assert answers(found) == [("SetupAppend", 0, "AppendSetup", 1), ("SetupAppend", 3, "AppendSetup", 4)]
    assert unanswered(found) == [("ConditionalAppend", 2, 1.0)]


def test_what_a_cancel_crosses_is_still_the_answer() -> None:
    found = said(
        "reactive_streams",
        ("client", rs.ClientHello(0, [])),
        ("server", rs.ServerHello(0, [])),
        ("client", rs.Subscribe("s", 1, 5)),
        ("client", rs.Cancel(1)),
        ("server", rs.Subscribed(1, 4)),
        ("client", rs.Subscribe("s", 2, 5)),
    )
    assert answers(found) == [("Subscribe", 2, "Subscribed", 4)]
    assert unanswered(found) == [("Subscribe", 5, 0.0)]


def test_what_waits_at_the_end_is_as_old_as_the_connection_says() -> None:
    null = geode.GeodeValue.Null()
    get = geode.GetRequest("r", geode.GeodeValue.Integer(1), null)
    found = said(
        "geode",
        ("client", geode.Request(get, correlation_id=1)),
        ("client", geode.Request(get, correlation_id=2)),
        ("server", geode.Response(geode.GetResponse(null), correlation_id=2, status=1)),
    )
    assert answers(found) == [("GetRequest", 1, "GetResponse", 2)]
    assert unanswered(found) == [("GetRequest", 0, 2.0)]


def test_acks_answer_events_and_no_event_answers_an_ack() -> None:
    lines = [("writer", lj.Window(1)), ("writer", lj.Json(1, b"{}")), ("reader", lj.Ack(1))] * 2
    found = said("lumberjack", *lines)
    assert answers(found) == [("Json", 1, "Ack", 2), ("Json", 4, "Ack", 5)]


def test_a_frame_with_several_events_is_one_request() -> None:
    """It is answered when the last of them is acknowledged."""
    frames = [lj.Frame(lj.Json(number, b"{}")) for number in (1, 2, 3)]
    lines = [("writer", lj.Window(3)), ("writer", lj.Compressed(frames))]
    found = said("lumberjack", *lines, ("reader", lj.Ack(2)), ("reader", lj.Ack(3)))
    assert answers(found) == [("Compressed", 1, "Ack", 3)] and not unanswered(found)
    found = said("lumberjack", *lines, ("reader", lj.Ack(2)))
    assert not answers(found) and unanswered(found) == [("Compressed", 1, 1.0)]


OVERLAPPING = (
    ("writer", lj.Window(1)),
    ("writer", lj.Json(1, b"{}")),
    ("writer", lj.Window(2)),
    ("writer", lj.Json(1, b"{}")),
    ("writer", lj.Json(2, b"{}")),
    ("reader", lj.Ack(2)),
)
"""Two windows before their acks, each numbered from 1, as Beats sends them; the Ack of the first one is missing."""


def test_an_option_of_the_sessions_decides_the_window_of_an_ack() -> None:
    assert answers(said("lumberjack", *OVERLAPPING)) == [("Json", n, "Ack", 5) for n in (1, 3, 4)]
    for options in ({"options": "ack_reach=WINDOW"}, {"option.ack_reach": "WINDOW"}):
        found = said("lumberjack", *OVERLAPPING, **options)
        assert not answers(found)
        assert of_kind(found, "violation", "name", "_offset") == [("ack_out_of_window", 5)]


@pytest.mark.parametrize(
    ("options", "said"),
    [
        pytest.param(
            "reach=WINDOW",
            "unknown option of the sessions of lumberjack 'reach': expected one of ack_value, ack_reach, window_use",
            id="no option",
        ),
        pytest.param(
            "ack_reach=FAR", "option ack_reach is 'FAR': give one of ALL, WINDOW", id="no value of the enum"
        ),
        pytest.param(
            "ack_reach", "the option 'ack_reach' has no value: write NAME=VALUE", id="without a value"
        ),
    ],
)
def test_wrong_options_of_sessions(options: str, said: str) -> None:
    with pytest.raises(wirespark.WireSparkError) as caught:
        session_wishes("lumberjack", {"options": options})
    assert str(caught.value) == said


def test_a_protocol_without_options_of_sessions() -> None:
    with pytest.raises(wirespark.WireSparkError, match="unknown option of the sessions of pravega 'x'"):
        session_wishes("pravega", {"option.x": "1"})


def test_jobs_on_spark_take_options_of_the_sessions(spark: SparkSession, tmp_path: Path) -> None:
    for role in ("writer", "reader"):
        frames = [lj.encode(frame) for sender, frame in OVERLAPPING if sender == role]
        (tmp_path / f"x.{role}.bin").write_bytes(b"".join(frames))
    table = spark.read.format("wire").options(protocol="lumberjack", index="false").load(str(tmp_path))
    times = table.selectExpr("* except (_time)", "timestamp_seconds(if(_from = 'reader', 9, 0)) as _time")
    for options, answered in (({}, 3), ({"options": "ack_reach=WINDOW"}, 0)):
        found = wirespark.pairs(times, "lumberjack", **options)
        assert found.where("_message is not null").count() == answered


def test_latencies_and_profiles_on_spark(spark: SparkSession) -> None:
    table = spark.read.format("wire").options(protocol="pravega", index="false").load(str(PRAVEGA))
    pairs = [row for row in wirespark.pairs(table, "pravega").collect() if row["request"] == "AppendBlockEnd"]
    sorted_by_time = sorted(row["latency"] for row in pairs)
    found = {row["request"]: row for row in wirespark.latencies(table, "pravega").collect()}
    row = found["AppendBlockEnd"]
    assert (row["requests"], row["_message"], row["oldest"]) == (7, "DataAppended", None)
    assert (row["fastest"], row["p50"], row["slowest"]) == tuple(sorted_by_time[each] for each in (0, 3, 6))
    assert (row["p90"], row["p99"]) == (sorted_by_time[6],) * 2  # no value between two latencies
    mix = wirespark.profile(table, 3600, by=("flow",)).collect()
    flows = {row["_flow"] for row in mix}
    assert len(flows) == 3 and {row["_file"] for row in mix} == {str(PRAVEGA)}
    assert sum(row["frames"] for row in mix) == table.count()
    rows = wirespark.profile(table, 0.01, by=("flow",)).collect()
    keys = [(row["_flow"], row["time"], row["_from"], row["_message"]) for row in rows]
    assert keys == sorted(keys) and len({key[:2] for key in keys}) > 3


def test_a_profile_of_a_stream(spark: SparkSession, tmp_path: Path) -> None:
    """It goes on, so that its rows have no order."""
    (tmp_path / "x.writer.bin").write_bytes(lj.encode(lj.Window(2)) * 3)
    stream = spark.readStream.format("wire").options(protocol="lumberjack", index="false").load(str(tmp_path))
    times = stream.selectExpr("* except (_time)", "timestamp_seconds(0) as _time")
    writer = wirespark.profile(times).writeStream.outputMode("update").format("memory").queryName("mix")
    query = writer.start()
    try:
        query.processAllAvailable()
        assert [tuple(row) for row in spark.table("mix").select("_message", "frames").collect()] == [
            ("Window", 3)
        ]
    finally:
        query.stop()


@pytest.mark.parametrize(("seconds", "by"), [(0, ()), (1, ("port",)), ("lumberjack", ())])
def test_a_profile_by_what_is_not_there(seconds: Any, by: tuple[str, ...]) -> None:
    with pytest.raises(wirespark.WireSparkError):
        wirespark.profile(None, seconds, by)  # type: ignore[arg-type]  # it is not looked at
