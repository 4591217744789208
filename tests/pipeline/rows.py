"""Rows of tables held against the lines of `wiregen decode`: two ways to say the same, told apart by the schema alone."""

from __future__ import annotations

import json
import math
import struct
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from wirespark.batches import Slice, slice_columns
from wirespark.columns import Columns
from wirespark.options import Wishes
from wirespark.table_rows import wide_table

__all__ = ["check_fields", "check_row", "rows_of", "table_rows"]

BESIDE = ("number", "raw")


def rows_of(
    data: bytes, wishes: Wishes, folder: Path, *, batch_size: int = 1 << 20, **place: Any
) -> list[dict[str, Any]]:
    """Return the rows of a stream, or of a slice of it, as the wide table has them."""
    path = folder / "stream.bin"
    path.write_bytes(data)
    part = Slice(path=str(path), **({"role": wishes.role} | place))
    return [row for columns in slice_columns(part, wishes, batch_size) for row in table_rows(columns, wishes)]


def table_rows(columns: Columns, wishes: Wishes) -> list[dict[str, Any]]:
    table = wide_table(columns, wishes.package)
    table.validate(full=True)
    rows: list[dict[str, Any]] = table.to_pylist()
    return rows


def check_row(row: dict[str, Any], line: dict[str, Any], wishes: Wishes) -> None:
    """Check that a row of the wide table has the values of a line."""
    assert (row["_offset"], row["_size"], row["_from"]) == (line["offset"], line["size"], line.get("from"))
    if "error" in line:
        assert row["_message"] is None and all(
            row[name] is None for name in wishes.package.messages if name in row
        )
        told = {
            key: line["error"].get(key)
            for key in ("code", "rule", "path", "at", "inner_at", "expected", "found", "recoverable")
        }
        assert {key: row["_error"][key] for key in told} == told
        return
    assert row["_error"] is None
    check_record(row, line, wishes)


def check_record(row: dict[str, Any], record: dict[str, Any], wishes: Wishes) -> None:
    """Check the message and the header of a row."""
    package = wishes.package
    name = record["message"]
    assert row["_message"] == name
    if name == "Unknown" and name not in package.schema.messages:
        assert (row["_code"], row["Unknown"]) == (
            record["code"],
            {"code": record["code"], "data": bytes.fromhex(record["fields"]["data"])},
        )
    elif name is not None and len(package.messages[name]):
        check_fields(package.messages[name], row[name], record["fields"])
    others = [other for other in package.messages if other != name and other in row]
    assert [other for other in others if row[other] is not None] == []
    headers = {frame: schema for frame, schema in package.columns.HEADERS.items() if len(schema)}
    if record.get("header") and row.get("_header") is not None:
        shown = (
            [row["_header"]]
            if len(package.columns.HEADERS) == 1
            else [each for each in row["_header"].values() if each]
        )
        schema = next(schema for schema in headers.values() if {*schema.names} >= {*shown[0]})
        check_fields(schema, shown[0], record["header"])


def check_fields(schema: Any, row: dict[str, Any], fields: dict[str, Any]) -> None:
    """Check the columns of a record's fields, which bear the fields' names."""
    seen = set()
    for group in groups(schema):
        name = group[0].name
        given = next((each for each in fields if name in (each, f"{each.lstrip('_')}_", f"{each}_")), name)
        seen.add(given)
        check_value(group, [row[column.name] for column in group], fields.get(given))
    assert {key for key in fields if not key.endswith("_json")} <= seen


def check_value(group: list[Any], values: list[Any], told: Any) -> None:
    """Check a column, and those next to it, against the JSON of a value."""
    column, value = group[0], values[0]
    wire = wire_of(column)
    if told is None:
        assert all(each is None for each in values)
    elif str(column.type).startswith("list"):
        check_list(group, values, told)
    elif wire == "json":
        assert json.loads(value) == told
    elif wire == "member":
        assert (values[0] or str(values[1])) == str(told)
    elif wire == "nothing":
        assert value is True
    elif hasattr(column.type, "fields"):
        check_struct(column, wire, value, told)
    else:
        assert plain(values, column) == told_plain(told, column)


def check_list(group: list[Any], values: list[Any], told: list[Any]) -> None:
    items = [column.with_type(column.type.value_type) for column in group]
    assert len(values[0]) == len(told)
    for n, each in enumerate(told):
        check_value(items, [None if column is None else column[n] for column in values], each)


def check_struct(column: Any, wire: str, value: dict[str, Any], told: Any) -> None:
    inner = list(column.type)
    if wire == "union":
        check_variety(inner, value, told)
    elif wire == "choice" and isinstance(told, dict) and value.get(str(told.get("message"))) is not None:
        check_value([column.type.field(told["message"])], [value[told["message"]]], told)
    elif wire in ("frame", "choice") and isinstance(told, dict) and {"message"} <= {*told} & {*value}:
        check_message(inner, value, told)
    elif wire == "choice":
        check_choice(inner, value, told)
    elif wire == "" and isinstance(told, dict) and set(told) == {"message", "fields"}:
        check_fields(inner, value, told["fields"])
    else:
        check_fields(inner, value, told["fields"] if set(told) >= {"message", "fields"} else told)


def check_variety(inner: list[Any], value: dict[str, Any], told: dict[str, Any]) -> None:
    name = next(key for key in told if key != "code")
    assert value["variety"] == name
    assert "code" not in told or value["code"] == int(told["code"])
    for group in groups(inner[2:]):
        given = [value[column.name] for column in group]
        if group[0].name.rstrip("_") != name.rstrip("_"):
            assert all(each is None for each in given)
        elif hasattr(group[0].type, "fields") and wire_of(group[0]) == "" and is_record(group[0], told[name]):
            check_fields(group[0].type, given[0], told[name])
        elif wire_of(group[0]) == "nothing":
            assert given == [True]
        else:
            check_value(group, given, told[name].get("value"))


def is_record(column: Any, told: dict[str, Any]) -> bool:
    """Say whether a variety has fields, and not one value without a name."""
    return set(told) != {"value"} or (column.type.names == ["value"] and not isinstance(told["value"], dict))


def check_message(inner: list[Any], value: dict[str, Any], told: dict[str, Any]) -> None:
    assert value["message"] == told["message"]
    for group in groups(inner[1:]):
        name = group[0].name
        if name == told["message"]:
            given = told["fields"] if wire_of(group[0]) != "json" else told
            whole = (
                {key: told[key] for key in ("message", "fields")} if wire_of(group[0]) == "json" else given
            )
            check_value(group, [value[column.name] for column in group], whole)
        elif name in told.get("header", {}):
            check_value(group, [value[column.name] for column in group], told["header"][name])


def check_choice(inner: list[Any], value: dict[str, Any], told: Any) -> None:
    set_ = [
        group
        for group in groups(inner)
        if value[group[0].name] is not None or any(value[c.name] is not None for c in group)
    ]
    assert len(set_) == 1
    column = set_[0][0]
    is_union = wire_of(column) == "union" and hasattr(column.type, "fields")
    own = [each.name.rstrip("_") for each in list(column.type)[2:]] if is_union else []
    if isinstance(told, dict) and len(told) == 1:
        ((key, inside),) = told.items()
        names_union = isinstance(inside, dict) and any(each.rstrip("_") in own for each in inside)
        if names_union or key.rstrip("_") not in ("hex", *own):
            told = inside
    check_value(set_[0], [value[column.name] for column in set_[0]], told)


def plain(values: list[Any], column: Any) -> Any:
    """Return a plain value as it can be compared; invalid text as its bytes."""
    if len(values) == 2 and values[0] is None:
        return "raw", values[1]
    value = values[0]
    if isinstance(value, float):
        return float_bits(value, column)
    return value if isinstance(value, str | bytes | bool) else int(value)


def told_plain(told: Any, column: Any) -> Any:
    kind = str(column.type)
    if kind == "binary":
        return bytes.fromhex(told)
    if kind in ("float", "double"):
        return float_bits(told_float(told), column)
    if kind == "string":
        return told_text(told)
    return told if kind == "bool" else int(told)


def told_float(told: Any) -> float:
    """Return a float; if JSON has only its bytes, the float of these in some byte order."""
    if not isinstance(told, dict):
        return float(told)
    raw = bytes.fromhex(told["hex"])
    values: Iterator[float] = (
        struct.unpack(order + ("f" if len(raw) == 4 else "d"), raw)[0] for order in "><"
    )
    return next(value for value in values if not math.isfinite(value))


def float_bits(value: float, column: Any) -> Any:
    return "nan" if math.isnan(value) else struct.pack(">f" if str(column.type) == "float" else ">d", value)


def told_text(told: Any) -> Any:
    if isinstance(told, dict):
        return "raw", bytes.fromhex(told["hex"])
    try:
        told.encode()
    except UnicodeEncodeError:
        return "raw", None
    return told


def groups(schema: Any) -> Iterator[list[Any]]:
    found: list[list[Any]] = []
    for column in schema:
        if found and wire_of(column) in BESIDE:
            found[-1].append(column)
        else:
            found.append([column])
    yield from found


def wire_of(column: Any) -> str:
    return str((column.metadata or {}).get(b"wire", b"").decode())
