"""Values as JSON records: `{"message": …, "header": …, "fields": …}`, the shape that every decoded line has.

What a record says is complete: `record_values` makes an equal value of it. Fields that are not part of the API never show.
"""

from __future__ import annotations

import json
import math
import struct
from collections.abc import Mapping
from typing import Any

from ..codec.errors import EncodeError
from ..codec.fragment import Part
from ..codec.options import Options
from ..codec.text import encode_text
from ..reference.access import MISSING, attribute, declared_name, extra, is_a, is_named, unknown_of
from ..reference.layout import Fields, Layout
from ..reference.scalars import enum_name
from ..schema.declarations import Field
from ..schema.protocol import Schema
from ..schema.shapes import content
from ..schema.types import (
    Bits,
    Boolean,
    Bytes,
    CodingReference,
    EnumReference,
    Float,
    FrameReference,
    Integer,
    List,
    Match,
    Region,
    StructReference,
    Text,
    Type,
    UnionReference,
    Uuid,
    Varint,
)
from .types import (
    arm_names,
    fitting,
    flat_fields,
    is_nullable,
    is_trailing,
    is_wide,
    leaf_arms,
    unsure_names,
)
from .values import ValueMaker

__all__ = [
    "frame_from_record",
    "frame_record",
    "message_fields",
    "message_from_fields",
    "part_record",
    "value_record",
]

_DEEPEST_VIEW = 64
_FAULTS = (TypeError, ValueError, AttributeError, OverflowError, RecursionError, struct.error)


def frame_record(plan: Schema, frame: Any, *, variant: str | None = None) -> dict[str, Any]:
    """Return the record of a frame, message or preamble. What a partial one lacks is left out.

    Raises:
        EncodeError: A value is not of its field's type.
    """
    try:
        return _Recorder(plan, variant).outermost(frame)
    except _FAULTS as error:
        raise _unshowable(declared_name(frame), error) from None


def message_fields(plan: Schema, name: str, message: Any, *, variant: str | None = None) -> dict[str, Any]:
    """Return the `fields` of the record of a message, a struct or a preamble of that name."""
    recorder = _Recorder(plan, variant)
    try:
        return recorder.fields(recorder.declared(name), message, name)
    except _FAULTS as error:
        raise _unshowable(name, error) from None


def value_record(plan: Schema, type_: Type, value: Any, *, variant: str | None = None) -> Any:
    """Return the record of a value of that type."""
    return _Recorder(plan, variant).value(type_, value)


def part_record(plan: Schema, frame: Any, *, variant: str | None = None) -> dict[str, Any]:
    """Return what a line says of a frame that is a piece: `part`, and of the last one `joined`; {} of any other."""
    recorder = _Recorder(plan, variant)
    part: Part | None = getattr(frame, "part", None) if plan.joins and recorder.is_frame(frame) else None
    if part is None:
        return {}
    record: dict[str, Any] = {"part": recorder.part(part)}
    type_ = plan.joins[part.join].type
    if part.last and type_ is not None:
        record["joined"] = recorder.value(type_, part.joined)
    return record


def frame_from_record(
    plan: Schema, record: Any, *, role: str | None = None, variant: str | None = None
) -> Any:
    """Return the FrameValue (or a Record, of a preamble) that a record stands for. `role`: who sends it.

    Numbers are not compared with their ranges here: writing does that.

    Raises:
        EncodeError: The record is not of the protocol's shape.
    """
    try:
        return ValueMaker(plan, Options(role, variant=variant)).outermost(record)
    except RecursionError:
        raise EncodeError("too_deep", expected="fewer values inside values") from None


def message_from_fields(plan: Schema, name: str, fields: Any) -> Any:
    """Return the Record of the message of that name; it has no frame, and numbers are not compared with their ranges.

    Raises:
        EncodeError: They are not its fields.
    """
    try:
        return ValueMaker(plan, Options()).message(name, fields)
    except RecursionError:
        raise EncodeError("too_deep", expected="fewer values inside values") from None


def _unshowable(name: str, error: Exception) -> EncodeError:
    if isinstance(error, EncodeError):
        return error
    return EncodeError(
        "invalid_value", path=name[:64], expected="values of the fields' types", found="others"
    )


class _Recorder:
    """Makes the records of one protocol."""

    def __init__(self, plan: Schema, variant: str | None) -> None:
        self._schema = Layout(plan, Options(variant=variant))
        self._plan = plan
        self._views = plan.views

    def declared(self, name: str) -> Fields:
        schema = self._schema
        if name in schema.messages:
            return schema.messages[name].fields
        return schema.preambles[name].fields if name in schema.preambles else schema.structs[name]

    # ---- messages and frames ----

    def is_frame(self, value: Any) -> bool:
        return _known(value, self._schema.frames) is not None

    def outermost(self, value: Any) -> dict[str, Any]:
        name = _known(value, self._schema.frames)
        if name is not None:
            return self._frame(name, value)
        name = _known(value, self._schema.preambles)
        if name is not None:
            return {"message": name, "header": {}, "fields": self.fields(self.declared(name), value, name)}
        return {**self._message(value), "header": {}}

    def _frame(self, name: str, frame: Any) -> dict[str, Any]:
        fields, body = self._schema.frames[name].fields, self._schema.frames[name].message
        message = extra(frame, "message", None, name)
        piece = self._piece(name, message)
        if piece is not None:
            outside = tuple(field for field in fields if field.name != piece[1])
            data = bytes(attribute(message, "data", name)).hex()
            return {
                "message": piece[0],
                "header": self.fields(outside, frame, name),
                "fields": {"data": data},
            }
        if body is None:
            return {"message": name, "header": {}, "fields": self.fields(fields, frame, name)}
        header = self.fields(fields, frame, name, without=body)
        record = {"message": None, "fields": {}} if message is None else self._message(message)
        return {
            **{key: record[key] for key in record if key != "fields"},
            "header": header,
            "fields": record["fields"],
        }

    def _piece(self, frame: str, message: Any) -> tuple[str, str] | None:
        """Return the join and the block, where a frame carries a piece of a block."""
        for (owner, block), join in self._schema.divided.items():
            if owner == frame and is_named(message, join):
                return join, block
        return None

    def _message(self, message: Any) -> dict[str, Any]:
        unknown = unknown_of(message, self._schema.messages, "")
        if unknown is not None:
            return {"message": "Unknown", "code": unknown.code, "fields": {"data": unknown.data.hex()}}
        name = _known(message, self._schema.messages)
        if name is None:
            raise EncodeError("invalid_value", expected="a message", found=declared_name(message)[:64])
        return {"message": name, "fields": self.fields(self.declared(name), message, name)}

    def part(self, part: Part) -> dict[str, Any]:
        """Return the JSON of what a frame is a piece of."""
        join = self._plan.joins[part.join]
        types = self._key_types({setting.target for setting in (*join.parts, *join.lasts)})
        key = {name: self.value(types[name], value) for name, value in zip(join.keys, part.key, strict=True)}
        return {"join": part.join, "key": key, "index": part.index, "last": part.last}

    def _key_types(self, targets: set[str]) -> dict[str, Type]:
        """Return the types of all fields that a key may be, by name; those of the pieces win over the frames'."""
        schema = self._schema
        owners = [frame.fields for frame in schema.frames.values()]
        owners += [schema.messages[name].fields for name in targets if name in schema.messages]
        owners += [schema.frames[name].fields for name in targets if name in schema.frames]
        return {field.name: field.type for fields in owners for field in flat_fields(fields)}

    # ---- fields ----

    def fields(self, fields: Fields, owner: Any, name: str, *, without: str | None = None) -> dict[str, Any]:
        """Return what shows of a record's fields, in wire order."""
        shown = [field for field in flat_fields(fields) if not field.is_hidden and field.name != without]
        trailing = [field.name for field in shown if is_trailing(field)]
        absent = extra(owner, "absent", 0, name) if trailing else 0
        gone = trailing[len(trailing) - absent :]
        views = self._views.get(name, {})
        unsure = unsure_names(fields)
        found: dict[str, Any] = {}
        for field in shown:
            value = attribute(owner, field.name, name)
            if (
                field.name in gone
                or value is MISSING
                or (value is None and (field.name in unsure or not self._is_null(field)))
            ):
                continue
            found[field.name] = self.value(field.type, value)
            if views.get(field.name) == "json":
                _add_view(found, field.name, value)
        return found

    def _is_null(self, field: Field) -> bool:
        """Say whether None is a value of the field, and not its absence."""
        return field.condition is None and is_nullable(field.type)

    def value(self, type_: Type, value: Any) -> Any:
        """Return the JSON of a value."""
        if value is None:
            return None
        match type_:
            case Integer() | Varint() | CodingReference():
                return str(int(value)) if is_wide(self._plan, type_) else int(value)
            case EnumReference(name):
                return self._member(name, value)
            case Boolean():
                return bool(value)
            case Bits():
                return bool(value) if type_.is_flag else int(value)
            case Float():
                return _float(value, type_)
            case Uuid():
                return str(value)
            case Bytes():
                return bytes(value).hex()
            case Text():
                return _text(value, type_)
            case _:
                return self._compound(type_, value)

    def _member(self, enum: str, value: Any) -> Any:
        name = enum_name(self._plan, enum, value)
        return self.value(self._plan.enums[enum].type, value) if name is None else name

    def _compound(self, type_: Type, value: Any) -> Any:
        match type_:
            case List(item):
                return [self.value(item, each) for each in value]
            case StructReference(name):
                return self.fields(self._schema.structs[name], value, name)
            case UnionReference(name):
                return self._variety(name, value)
            case FrameReference():
                known = _known(value, self._schema.frames)
                return {**self._message(value), "header": {}} if known is None else self._frame(known, value)
            case Match():
                return self._arm(type_, value)
            case Region(inside):
                return self.value(inside, value)
            case _:
                return self._message(value)

    def _variety(self, union: str, value: Any) -> dict[str, Any]:
        for variety in self._plan.unions[union].varieties:
            name, spans = variety.name, variety.spans
            if is_named(value, name):
                record: dict[str, Any] = {name: self.fields(variety.fields, value, name)}
                if len(spans) > 1 or spans[0].low != spans[0].high:
                    record["code"] = extra(value, "code", None, name)
                return record
        raise EncodeError("invalid_value", expected=f"a {union}", found=declared_name(value)[:64])

    def _arm(self, type_: Match, value: Any) -> Any:
        """Return the JSON of a choice: told apart by a name where JSON alone would not tell."""
        arms = fitting(self._schema, leaf_arms(type_), value)
        if not arms:
            raise EncodeError("invalid_value", expected="a choice", found=declared_name(value)[:64])
        arm = next((arm for arm in arms if is_wide(self._plan, content(arm))), arms[0])
        shown = self.value(arm, value)
        name = arm_names(type_).get(content(arm))
        return shown if name is None else {name: shown}


def _known(value: Any, declarations: Mapping[str, object]) -> str | None:
    name = declared_name(value)
    return name if name in declarations else None


# ---- plain values ----


def _float(value: float, type_: Float) -> Any:
    """Return the shortest decimal that is this float; of NaN and the infinities their bytes."""
    order = ">" if type_.endian == "big" else "<"
    if not math.isfinite(value):
        return {"hex": struct.pack(order + ("f" if type_.size == 4 else "d"), value).hex()}
    return float(value) if type_.size == 8 else _shortest(float(value))


def _shortest(value: float) -> float:
    try:
        data = struct.pack(">f", value)
    except OverflowError:
        return value
    candidates = (float(f"{value:.{digits}g}") for digits in range(6, 10))
    return next((short for short in candidates if _packs_to(short, data)), value)


def _packs_to(value: float, data: bytes) -> bool:
    try:
        return struct.pack(">f", value) == data
    except OverflowError:
        return False


def _text(value: str, type_: Text) -> Any:
    """Return text; where it is not of its encoding, the bytes that it stands for."""
    if type_.encoding != "utf8" or not type_.is_lenient:
        return str(value)
    try:
        value.encode()
    except UnicodeEncodeError:
        try:
            return {"hex": encode_text(value, type_.encoding, type_.is_lenient, type_.endian).hex()}
        except UnicodeEncodeError:
            pass
    return str(value)


# ---- views ----


def _add_view(found: dict[str, Any], name: str, value: Any) -> None:
    """Put the JSON that a field holds beside it; what is not JSON, or nested too deep, has none."""
    key = f"{name}_json"
    if key in found:
        return
    try:
        text = value if is_a(value, str) else bytes(value).decode()
        view = json.loads(text, parse_constant=_refuse, parse_float=_finite)
    except (ValueError, RecursionError):
        return
    if _is_shallow(view):
        found[key] = view


def _refuse(name: str) -> Any:
    raise ValueError(name)


def _finite(text: str) -> float:
    number = float(text)
    if not math.isfinite(number):
        raise ValueError("a float beyond all floats")
    return number


def _is_shallow(view: Any) -> bool:
    """Say whether writing the view as JSON is safe."""
    level = [view]
    for _ in range(_DEEPEST_VIEW):
        containers = [item for item in level if isinstance(item, dict | list)]
        if not containers:
            return True
        level = [part for item in containers for part in (item.values() if isinstance(item, dict) else item)]
    return False
