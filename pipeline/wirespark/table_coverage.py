"""Coverage of a protocol by a table: the elements of the schema that its rows contain, and those missing."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, TypeAlias

import pyarrow as pa
import pyarrow.compute as pc

from wirespark.arrow_columns import column_groups, wire_of
from wirespark.jobs import events
from wirespark.nodes import Nodes
from wirespark.packages import Package, package_of
from wirespark.untyped import ArrowArray, ArrowField, ArrowType, Batch

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from wireproto._runtime.schema.sessions import Session

__all__ = ["coverage"]

_SEEN = pa.schema([("kind", pa.string()), ("name", pa.string()), ("seen", pa.int64())])
Seen: TypeAlias = tuple[str, str, int]


def coverage(table: DataFrame, protocol: str, **options: str) -> DataFrame:
    """Return how often each element of the schema occurs in the rows, 0 if it never does.

    `kind` is `message`; `inner` (a message inside of another); `field` (it is present); `member` of an enum, in this field, `unknown` for other
    numbers; `variety` of a union; `step` of a session from one state to another; or `violation`. Elements in
    lists count once for each item. The rows are ordered by kind and name. Inner messages that a table has as JSON
    only, below two levels of a recursive message, are not counted.

    Raises:
        WireSparkError: The protocol or an option is unknown.
    """
    from pyspark.sql import functions as F

    from wirespark.spark_types import struct_type

    happened, package = events(table, protocol, **options), package_of(protocol)
    columns = [name for name in ("_message", "_header", *package.messages) if name in table.columns]

    def count(batches: Iterable[Batch]) -> Iterator[Batch]:
        yield _counted(batches, protocol)

    seen = table.select(*columns).mapInArrow(count, struct_type(_SEEN))
    step = F.concat_ws(" ", "session", "before", F.lit("→"), "after")
    steps = happened.where("kind = 'step'").select("kind", step.alias("name"))
    violations = happened.where("kind = 'violation'").select("kind", "name")
    by_events = steps.unionByName(violations).groupBy("kind", "name").agg(F.count(F.lit(1)).alias("seen"))
    model = table.sparkSession.createDataFrame(list(_model(package)), struct_type(_SEEN))
    everything = model.unionByName(seen).unionByName(by_events)
    counted = everything.groupBy("kind", "name").agg(F.sum("seen").alias("seen"))
    return counted.orderBy("kind", "name")


def _model(package: Package) -> Iterator[Seen]:
    """Yield all elements of the schema, with a count of 0."""
    for name, schema in package.columns.HEADERS.items():
        yield from _fields(package, name, schema, None)
    for name, schema in package.messages.items():
        yield "message", name, 0
        yield from _fields(package, name, schema, None)
    for name, session in package.schema.sessions.items():
        yield from dict.fromkeys(("step", f"{name} {step}", 0) for step in _steps(package.nodes, session))
    for name in package.schema.violations:
        yield "violation", name, 0


def _steps(nodes: Nodes, session: Session) -> Iterator[str]:
    """Yield the steps of the transitions and timers of a session, except those that keep the state."""
    steps = [(row.effect, row.states) for row in session.rows]
    steps += [(timer.effect, timer.states) for timer in session.timers]
    for effect, states in steps:
        match effect:
            case nodes.Go(str(state)):
                yield from (f"{each} → {state}" for each in states or session.states if each != state)


# ---- rows


def _counted(batches: Iterable[Batch], protocol: str) -> Batch:
    package = package_of(protocol)
    seen: Counter[tuple[str, str]] = Counter()
    for batch in batches:
        for kind, name, count in _of_batch(package, batch):
            seen[kind, name] += count
    kinds, names = zip(*seen, strict=True) if seen else ((), ())
    return pa.record_batch([list(kinds), list(names), list(seen.values())], schema=_SEEN)


def _of_batch(package: Package, batch: Batch) -> Iterator[Seen]:
    for name, count in _values(batch["_message"]).items():
        yield "message", name, count
    if "_header" in batch.schema.names:
        yield from _of_headers(package, batch["_header"])
    for name, schema in package.messages.items():
        if name in batch.schema.names and batch[name].null_count < len(batch):
            yield from _fields(package, name, schema, batch[name])


def _of_headers(package: Package, header: ArrowArray) -> Iterator[Seen]:
    headers = package.columns.HEADERS
    for name, schema in headers.items():
        if len(schema):
            own = header if len(headers) == 1 else pc.struct_field(header, name)
            yield from _fields(package, name, schema, own)


def _fields(
    package: Package, path: str, fields: Iterable[ArrowField], record: ArrowArray | None
) -> Iterator[Seen]:
    """Yield the counts of the fields in an array of structs; without an array, a count of 0 for each."""
    for group in column_groups(fields):
        here = f"{path}.{group[0].name}"
        columns = [None if record is None else pc.struct_field(record, field.name) for field in group]
        counts = [0 if column is None else len(column) - column.null_count for column in columns]
        is_member = wire_of(group[0]) == "member"
        yield "field", here, counts[-1] if is_member else sum(counts)
        items = [_items(column) for column in columns]
        if is_member:
            yield from _members(package, here, group[0], items)
        else:
            yield from _inside(package, here, _item_of(group[0]), wire_of(group[0]), items[0])


def _members(package: Package, path: str, field: ArrowField, columns: list[ArrowArray]) -> Iterator[Seen]:
    """Yield the members of an enum. `columns` are their names, null for unknown numbers, and their numbers."""
    enum = package.schema.enums[field.metadata[b"enum"].decode()]
    found = _values(columns[0])
    for member in enum.members:
        yield "member", f"{path} {member.name}", found.get(member.name, 0)
    if enum.is_open:
        n_all = 0 if columns[1] is None else len(columns[1]) - columns[1].null_count
        yield "member", f"{path} unknown", n_all - sum(found.values())


def _inside(package: Package, path: str, type_: ArrowType, wire: str, values: ArrowArray) -> Iterator[Seen]:
    if not pa.types.is_struct(type_):
        return
    if wire == "frame":
        yield from _inner(package, type_, values)
    if wire != "union":
        yield from _fields(package, path, list(type_), values)
        return
    found = _values(None if values is None else pc.struct_field(values, "variety"))
    for variety in list(type_)[2:]:
        if wire_of(variety) in ("number", "raw"):
            continue
        yield "variety", f"{path} {variety.name}", found.get(variety.name, 0)
        own = None if values is None else _items(pc.struct_field(values, variety.name))
        yield from _inside(package, f"{path}.{variety.name}", _item_of(variety), wire_of(variety), own)


def _inner(package: Package, type_: ArrowType, frames: ArrowArray) -> Iterator[Seen]:
    """Yield the messages that frames inside of a message may be, with their counts."""
    found = _values(None if frames is None else pc.struct_field(frames, "message"))
    for field in type_:
        if field.name in package.messages:
            yield "inner", field.name, found.get(field.name, 0)


# ---- arrays


def _item_of(field: ArrowField) -> ArrowType:
    """Return the type of a field's values, or of the items in its lists."""
    type_ = field.type
    while _is_list(type_):
        type_ = type_.value_type
    return type_


def _items(values: ArrowArray) -> ArrowArray:
    """Return the values, or the items of lists of them, without nulls."""
    while values is not None and _is_list(values.type):
        values = values.flatten()
    return values


def _is_list(type_: ArrowType) -> bool:
    return bool(pa.types.is_list(type_) or pa.types.is_large_list(type_))


def _values(column: ArrowArray) -> dict[str, int]:
    if column is None:
        return {}
    counted = pc.value_counts(column.drop_null())
    return dict(zip(counted.field("values").to_pylist(), counted.field("counts").to_pylist(), strict=True))
