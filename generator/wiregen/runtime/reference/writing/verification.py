"""Written bytes are read back, if a condition depends on facts that only a reader has."""

from __future__ import annotations

from ...codec.errors import DecodeError, EncodeError
from ...codec.options import Options
from ...records.frames import frame_record, value_record
from ...records.types import flat_fields, unsure_names
from ...records.values import default_of
from ...schema.declarations import Default, Trailing
from ...schema.protocol import Schema
from ...schema.types import Type
from ..access import declared_name
from ..tree import FrameValue, Record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ..expressions import Value

__all__ = ["refuse_unreadable", "refuse_unreadable_type"]


def refuse_unreadable(schema: Schema, name: str, value: Value, data: bytes, options: Options) -> None:
    """Refuse bytes that decode to an error or to another value, as a condition has another result with all bytes.

    Raises:
        EncodeError: constraint.
    """
    from ..explain import explain

    shown = _completed(schema, value if declared_name(value) == name else FrameValue(name, {}, value))
    role = _sender(schema, name, shown, options)
    sent = Options(role, context=options.context, limits=options.limits, variant=options.variant)
    try:
        node = explain(schema, data, 0, len(data), sent, is_preamble=name in schema.preambles)
    except DecodeError as error:
        raise _unreadable(error) from None
    is_same = _fields(schema, node.value, options) == _fields(schema, shown, options)
    if node.end != len(data) or not is_same:
        raise _another(name)


def refuse_unreadable_type(schema: Schema, type_: Type, value: Value, data: bytes, name: str) -> None:
    """Refuse the bytes of a shape that, in a region of their own, decode to an error or to another value.

    Raises:
        EncodeError: constraint.
    """
    from ..explain import explain_type

    try:
        node = explain_type(schema, type_, data, Options(), name=name)
    except DecodeError as error:
        raise _unreadable(error) from None
    if value_record(schema, type_, node.value) != value_record(schema, type_, value):
        raise _another(name)


def _unreadable(error: DecodeError) -> EncodeError:
    expected = error.expected or "bytes that can be read"
    return EncodeError("constraint", path=error.path, expected=expected)


def _another(name: str) -> EncodeError:
    return EncodeError(
        "constraint", path=name, expected="bytes that are read as the same", found="another value"
    )


def _completed(schema: Schema, value: object) -> Value:
    """Return a value with the defaults of its message's missing fields; only a Record can leave some out."""
    record = value.message if isinstance(value, FrameValue) else value
    declared = schema.messages.get(declared_name(record)) or schema.preambles.get(declared_name(record))
    if declared is None or not isinstance(record, Record):
        return value
    unsure = unsure_names(declared.fields)
    defaults = {
        field.name: default_of(field.value, field.type)
        for field in flat_fields(declared.fields)
        if isinstance(field.value, Default | Trailing) and field.name not in unsure
    }
    whole = Record(record.name, {**defaults, **record.fields}, tail=record.tail, absent=record.absent)
    return FrameValue(value.name, value.fields, whole) if isinstance(value, FrameValue) else whole


def _sender(schema: Schema, name: str, value: object, options: Options) -> str | None:
    """Return the role that sends a preamble or a frame: the given one, else the only one that may."""
    if name in schema.preambles:
        return schema.preambles[name].role
    message = schema.messages.get(declared_name(getattr(value, "message", None)))
    return options.from_role or schema.frames[name].role or (None if message is None else message.role)


def _fields(schema: Schema, value: object, options: Options) -> Value:
    return frame_record(schema, value, variant=options.variant)["fields"]
