"""Functions of columns: frames in cells to structs, structs to frames, and stretches of streams to arrays of frames.

All of them run on whole batches. Their names and options are those of Spark's `from_avro`, `to_avro` and the like.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import pyarrow as pa

from wirespark.array_casting import bare, bare_type
from wirespark.cells import (
    among_nulls,
    cell_type,
    decoded_cells,
    decoded_frames,
    decoded_messages,
    frames_type,
)
from wirespark.encoding import encoder_of
from wirespark.errors import WireSparkError
from wirespark.options import Wishes, check_names, wishes_of
from wirespark.packages import package_of
from wirespark.untyped import ArrowArray, ArrowType

if TYPE_CHECKING:
    from pyspark.sql import Column, SparkSession

__all__ = ["frames", "from_wire", "register_functions", "to_wire"]

_READ = ("from", "backend", "mode", "variant", "strict", "limits", "errorbytes", "kernel")
_WRITE = ("from", "mode", "variant", "backend")
Options = Mapping[str, str] | None


def from_wire(data: Column | str, what: str, options: Options = None) -> Column:
    """Return a column of structs from a column of bytes, each of which is one frame.

    `what` is a protocol, or one of its messages, as in `pravega.SegmentRead`. The structs of a protocol have
    all columns of a row of `format("wire")`, with the error of bad bytes. The structs of a message have its
    fields, and are null if the frame is another one or bad. The mode is PERMISSIVE or FAILFAST. Each frame is
    decoded without the state of earlier ones.

    Raises:
        WireSparkError: The protocol, the message or an option is unknown.
    """
    function: Column = _from_wire(what, options)(data)
    return function


def to_wire(data: Column | str, what: str, options: Options = None) -> Column:
    """Return a column of bytes from a column of structs, as `from_wire` returns them.

    Fields that may be null may be missing.

    In the mode PERMISSIVE a struct that cannot be encoded becomes null; otherwise the query fails. A message
    by itself gets the default header.

    Raises:
        WireSparkError: The protocol, the message or an option is unknown.
    """
    function: Column = _to_wire(what, options)(data)
    return function


def frames(data: Column | str, protocol: str, options: Options = None) -> Column:
    """Return a column of arrays from a column of bytes: all frames and errors in a stretch of one role's stream.

    Spark's `inline` turns the arrays into rows.

    Raises:
        WireSparkError: The protocol or an option is unknown.
    """
    function: Column = _frames(protocol, options)(data)
    return function


def register_functions(spark: SparkSession, *names: str, options: Options = None) -> None:
    """Make functions for SQL, for each protocol or message named: `from_wire_pravega`, `to_wire_pravega`, `frames_pravega`.

    A message's are `from_wire_pravega_SegmentRead` and `to_wire_pravega_SegmentRead`. Beside them `frames` is a table function:
    `select t.id, f._message from t, lateral frames(t.payload, 'pravega') f`.
    """
    from wirespark.table_function import frames_function

    given = dict(options or {})
    writing = {name: text for name, text in given.items() if name.lower() in _WRITE}
    for name in names:
        place = _place_of(name)
        suffix = name.replace(".", "_")
        spark.udf.register(f"from_wire_{suffix}", _from_wire(name, given))
        spark.udf.register(f"to_wire_{suffix}", _to_wire(name, writing))
        if place.message is None:
            spark.udf.register(f"frames_{suffix}", _frames(name, given))
    spark.udtf.register("frames", frames_function())


# ---- what is named


@dataclass(frozen=True, slots=True, kw_only=True)
class _Place:
    protocol: str
    message: str | None


def _place_of(what: str) -> _Place:
    """Return the protocol and the message that a name refers to.

    Raises:
        WireSparkError: The protocol or the message is unknown.
    """
    try:
        package_of(what)
        return _Place(protocol=what, message=None)
    except WireSparkError:
        protocol, _, message = what.rpartition(".")
        if not protocol:
            raise
    known = package_of(protocol).messages
    if message not in known:
        raise WireSparkError(f"{protocol} has no message {message!r}: its messages are {', '.join(known)}")
    return _Place(protocol=protocol, message=message)


def _wishes(place: _Place, options: Options) -> Wishes:
    given = check_names(dict(options or {}), _READ)
    wishes = wishes_of({**given, "protocol": place.protocol})
    if wishes.mode == "DROPMALFORMED":
        raise WireSparkError("a function cannot drop rows: set its mode to PERMISSIVE or FAILFAST")
    if wishes.role is None and place.message is not None:
        known = wishes.package.schema.messages.get(place.message)
        return replace(wishes, role=known.role if known else None)
    return wishes


# ---- functions of whole batches


def _from_wire(what: str, options: Options) -> Callable[[Column | str], Column]:
    place = _place_of(what)
    wishes, message = _wishes(place, options), place.message
    if message is None:
        return _arrow(lambda cells: decoded_cells(cells, wishes), cell_type(wishes))
    schema = wishes.package.messages[message]
    if not len(schema):
        raise WireSparkError(
            f"{what} has no fields: give the name of the protocol, and use the column `_message`"
        )
    return _arrow(lambda cells: decoded_messages(cells, wishes, message), pa.struct(list(schema)))


def _frames(protocol: str, options: Options) -> Callable[[Column | str], Column]:
    place = _place_of(protocol)
    if place.message is not None:
        raise WireSparkError(
            f"{protocol} is a message, but a stream contains all messages: give the name of the protocol"
        )
    wishes = _wishes(place, options)
    return _arrow(lambda cells: decoded_frames(cells, wishes), pa.list_(frames_type(wishes)))


def _to_wire(what: str, options: Options) -> Callable[[Column | str], Column]:
    place = _place_of(what)
    given = check_names(dict(options or {}), _WRITE)
    wishes = wishes_of({k: v for k, v in given.items() if k != "backend"} | {"protocol": place.protocol})
    is_lenient = given.get("mode", "FAILFAST").upper() == "PERMISSIVE"
    writing = _Writing(
        place=place,
        backend=given.get("backend", "native"),
        variant=wishes.variant,
        role=wishes.role,
        is_lenient=is_lenient,
    )
    encoder_of(place.protocol, writing.backend, writing.variant, writing.role)
    return _arrow(writing.encoded, pa.binary())


@dataclass(frozen=True, slots=True, kw_only=True)
class _Writing:
    """The options of encoding; `is_lenient`: structs that cannot be encoded become null."""

    place: _Place
    backend: str
    variant: str | None
    role: str | None
    is_lenient: bool

    def encoded(self, structs: ArrowArray) -> ArrowArray:
        encoder = encoder_of(self.place.protocol, self.backend, self.variant, self.role)
        given = structs.drop_null() if structs.null_count else structs
        if self.place.message is not None:
            found = encoder.messages(self.place.message, given)
        else:
            columns = {field.name: given.field(number) for number, field in enumerate(given.type)}
            found = encoder.frames(columns, len(given))
        write = self._or_null(encoder.bytes_of) if self.is_lenient else encoder.bytes_of
        data = pa.array([write(each, None) for each in found], pa.binary())
        return data if not structs.null_count else among_nulls(data, structs)

    @staticmethod
    def _or_null(write: Callable[..., bytes]) -> Callable[..., bytes | None]:
        def written(frame: object, role: str | None) -> bytes | None:
            try:
                return write(frame, role)
            except WireSparkError:
                return None

        return written


def _arrow(
    function: Callable[[ArrowArray], ArrowArray], type_: ArrowType
) -> Callable[[Column | str], Column]:
    """Return a user-defined function on Arrow arrays, of that type."""
    from pyspark.sql.pandas.functions import arrow_udf

    from wirespark.spark_types import spark_type

    def run(cells: pa.Array) -> pa.Array:
        return bare(function(cells))

    made: Callable[[Column | str], Column]
    made = arrow_udf(run, spark_type(bare_type(type_)))  # type: ignore[call-overload]
    return made
