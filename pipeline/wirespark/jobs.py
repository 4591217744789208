"""Jobs on traffic.

Each takes the table of `format("wire")` (or the same columns from Parquet) and returns another.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.compute as pc

from wirespark.conversations import EVENTS, events_of
from wirespark.encoding import encoder_of
from wirespark.errors import WireSparkError
from wirespark.options import LIMIT, Wishes, among, check_names, wishes_of
from wirespark.session_options import OPTION, OPTIONS, session_options_of
from wirespark.untyped import Batch

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

__all__ = [
    "Checked",
    "check",
    "checked_in",
    "decode",
    "events",
    "latencies",
    "levels",
    "pairs",
    "profile",
    "session_wishes",
    "violations_in",
]

_KNOWN = ("strict", "variant", "limits")
_DECODED = ("fields", "code", "path")
_SHOWN = ("_header", "_part", "_error")
_GROUPS = ("file", "flow")
_PLACE = ("_file", "_flow", "_from", "_offset", "_time", "_message")


@dataclass(frozen=True, slots=True, kw_only=True)
class Checked:
    """The numbers of rows that were checked, and of the files that have them."""

    n_rows: int
    n_files: int


def events(table: DataFrame, protocol: str, **options: str) -> DataFrame:
    """Return all events of the rows in the protocol's sessions, by connection: see `conversations.EVENTS`.

    `options` are `strict`, `variant`, `limits`, and `options`, those of the sessions: `ack_reach=WINDOW, …`. All
    jobs on sessions take them.

    Raises:
        WireSparkError: The protocol or an option is unknown, or a value is invalid.
    """
    from pyspark.sql import functions as F

    from wirespark.spark_types import struct_type

    wishes = session_wishes(protocol, options)

    def run(rows: pa.Table) -> pa.Table:
        return events_of(rows.drop_columns(["_connection"]), wishes)

    # The name up to its first dot: both sides of `x.client.bin` and `x.server.bin` are one connection.
    name = F.regexp_replace("_file", r"\.[^/]*$", "")
    grouped = table.withColumn("_connection", F.coalesce(F.concat("_file", F.lit(" "), "_flow"), name))
    return grouped.groupBy("_connection").applyInArrow(run, struct_type(EVENTS))


def session_wishes(protocol: str, options: Mapping[str, str]) -> Wishes:
    """Return the options of a job on sessions, with those of the sessions.

    Raises:
        WireSparkError: The protocol or an option is unknown, or a value is invalid.
    """
    given = check_names(options, (*_KNOWN, OPTIONS), (LIMIT, OPTION))
    wishes = wishes_of({**given, "protocol": protocol})
    return replace(wishes, session_options=session_options_of(given, wishes.package))


def check(table: DataFrame, protocol: str, **options: str) -> DataFrame:
    """Return the violations of the sessions: the rule, the state, and the row."""
    return violations_in(events(table, protocol, **options))


def violations_in(found: DataFrame) -> DataFrame:
    """Return the violations among events."""
    violations = found.where("kind = 'violation'")
    return violations.selectExpr(*_PLACE, "name", "rule", "session", "key", "before as state", "lenient")


def checked_in(found: DataFrame) -> Checked:
    """Return the numbers of rows and files of which these are the events."""
    from pyspark.sql import functions as F

    counted = found.where("kind = 'rows'").agg(F.sum("level"), F.count_distinct("_file"))
    [(n_rows, n_files)] = counted.collect()
    return Checked(n_rows=n_rows or 0, n_files=n_files)


def pairs(table: DataFrame, protocol: str, **options: str) -> DataFrame:
    """Return all requests of all sessions, each with the row that answers it and the seconds between them.

    A request is a message that opens an instance of a session in which the other side is next; the next step of
    that side answers it. Or it is put on a list of a session (such as unacknowledged items), and its answer
    removes it, or the last item of a request that put several there. Without an answer, `_message` and `latency` are null, and `age` has the seconds to the last row of
    the connection, or to the row that gave the request up.
    """
    found = events(table, protocol, **options).where("kind in ('pair', 'unanswered')")
    seconds = "(unix_micros(_time) - unix_micros(request_time)) / 1e6D"
    latency, age = (
        f"case when kind = '{kind}' then {seconds} end as {name}"
        for kind, name in (("pair", "latency"), ("unanswered", "age"))
    )
    request = ("request", "request_from", "request_offset", "request_time")
    return found.selectExpr("_file", "_flow", "session", "key", *request, *_PLACE[2:], latency, age)


def latencies(table: DataFrame, protocol: str, **options: str) -> DataFrame:
    """Return how long answers took, in seconds, by session, request and answer.

    `p50`, `p90` and `p99` are percentiles of the nearest rank: the least latency that so many percent of the answers
    do not exceed. Requests without an answer have a row of their own, in which `_message` is null and `oldest` is
    the largest age.
    """
    from pyspark.sql import functions as F

    grouped = pairs(table, protocol, **options).groupBy("session", "request", "_message")
    # `percentile` interpolates between two latencies.
    shares = [
        F.expr(f"percentile_disc({share / 100}) within group (order by latency)").alias(f"p{share}")
        for share in (50, 90, 99)
    ]
    return grouped.agg(
        F.count(F.lit(1)).alias("requests"),
        F.min("latency").alias("fastest"),
        *shares,
        F.max("latency").alias("slowest"),
        F.max("age").alias("oldest"),
    ).orderBy("session", "request", "_message")


def levels(table: DataFrame, protocol: str, **options: str) -> DataFrame:
    """Return the rows at which numbers of the sessions change: windows, credits, lengths of lists."""
    found = events(table, protocol, **options).where("kind = 'level'")
    return found.selectExpr(*_PLACE, "session", "key", "name", "level")


def profile(table: DataFrame, seconds: float = 1.0, by: Sequence[str] = ()) -> DataFrame:
    """Return the mix of messages over time.

    It has rows, bytes and sizes by sender, message and interval of `seconds`. `by`: `file`, `flow`, or both, to
    have them for each file or connection. The rows are in order of these, then of time, sender and message;
    those of a stream are in none.

    Raises:
        WireSparkError: `seconds` is not a positive number, or `by` has another word.
    """
    from pyspark.sql import functions as F

    try:
        is_positive = seconds > 0
    except TypeError:
        raise WireSparkError(
            f"an interval is a number of seconds, not {seconds!r}: a profile takes no protocol, as in profile(table)"
        ) from None
    if not is_positive:
        raise WireSparkError(f"an interval is longer than 0 seconds, not {seconds}")
    for word in by:
        among(word, "column of `by`", _GROUPS)
    # A flow is a name in its file.
    places = [f"_{word}" for word in _GROUPS if word in by or (word == "file" and "flow" in by)]
    begin = F.timestamp_seconds(F.floor(F.col("_time").cast("double") / seconds) * seconds)
    grouped = table.groupBy(*places, begin.alias("time"), "_from", "_message")
    size = F.col("_size")
    mix = grouped.agg(
        F.count(F.lit(1)).alias("frames"),
        F.sum(size).alias("bytes"),
        F.min(size).alias("smallest"),
        F.avg(size).alias("mean"),
        F.max(size).alias("largest"),
    )
    return mix if table.isStreaming else mix.orderBy(*places, "time", "_from", "_message")


def decode(table: DataFrame, protocol: str, **options: str) -> DataFrame:
    """Return a row for each frame with its fields as JSON, for any message.

    They are the `fields` of the lines of `wiregen decode`.

    Raises:
        WireSparkError: The protocol or an option is unknown.
    """
    from pyspark.sql import functions as F

    wishes = wishes_of({**check_names(options, _KNOWN), "protocol": protocol})
    place = [name for name in (*_PLACE[:4], "_size", *_PLACE[4:]) if name in table.columns]
    own = [name for name in (*_SHOWN, *wishes.package.messages) if name in table.columns]
    nulls = [F.lit(None).cast("string").alias(name) for name in _DECODED]

    def run(batches: Iterable[Batch]) -> Iterator[Batch]:
        for batch in batches:
            fields = pa.array(field_texts(batch, wishes), pa.string())
            faults = [pc.struct_field(batch["_error"], name) for name in ("code", "path")]
            columns = [*(batch[name] for name in place), fields, *faults]
            yield pa.RecordBatch.from_arrays(columns, names=[*place, *_DECODED])

    rows = table.select(*dict.fromkeys((*place, *own)))
    return rows.mapInArrow(run, table.select(*place, *nulls).schema)


def field_texts(batch: Batch, wishes: Wishes) -> list[str | None]:
    """Return the fields of each row as JSON, or None for an error."""
    package = wishes.package
    is_frame = pc.and_(batch["_message"].is_valid(), batch["_error"].is_null())
    kept = batch.filter(is_frame)
    rows = {name: kept[name] for name in kept.schema.names}
    frames = encoder_of(wishes.protocol, "native", wishes.variant).frames(rows, len(kept))
    record = package.runtime("records.frames").frame_record
    texts = iter(
        [json.dumps(record(package.schema, frame, variant=wishes.variant)["fields"]) for frame in frames]
    )
    return [next(texts) if is_one else None for is_one in is_frame.to_pylist()]
