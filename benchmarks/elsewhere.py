"""The four messages in the tools that one would otherwise take: construct, and protobuf's C runtime for the same values."""

from __future__ import annotations

from functools import cache
from typing import Any

import construct as c
from google.protobuf import descriptor_pb2, descriptor_pool, message_factory
from google.protobuf.internal import api_implementation

assert api_implementation.Type() == "upb", "protobuf's C runtime is what generated code is measured against"

_KINDS = descriptor_pb2.FieldDescriptorProto
_TYPES = {
    "string": _KINDS.TYPE_STRING,
    "bytes": _KINDS.TYPE_BYTES,
    "bool": _KINDS.TYPE_BOOL,
    "sint32": _KINDS.TYPE_SINT32,
    "int64": _KINDS.TYPE_INT64,
    "uint32": _KINDS.TYPE_UINT32,
    "uint64": _KINDS.TYPE_UINT64,
    "fixed32": _KINDS.TYPE_FIXED32,
}
_SCHEMA = {
    "SegmentRead": "string segment, int64 offset, bool at_tail, bool end_of_segment, bytes data, int64 request_id",
    "Pair": "string key, string value",
    "Data": "fixed32 sequence, *Pair pairs",
    "OnNext": "uint64 subscriber, bytes element",
    "Null": "",
    "Value": "sint32 integer, Null null, string text",
    "PutRequest": "uint32 correlation_id, bool is_partial, string region_name, Value key, Value callback_arg, Value value",
}
_FRAMES = {"SegmentRead": 10, "Data": 68, "OnNext": 7, "PutRequest": 3}


@cache
def protobuf(name: str) -> type[Any]:
    """Return a message class; `Frame` has a oneof of the four messages."""
    return message_factory.GetMessageClass(_pool().FindMessageTypeByName(f"bench.{name}"))


@cache
def _pool() -> descriptor_pool.DescriptorPool:
    file = descriptor_pb2.FileDescriptorProto(name="bench.proto", package="bench", syntax="proto3")
    for name, fields in _SCHEMA.items():
        message = file.message_type.add(name=name)
        if name == "Value":
            message.oneof_decl.add(name="kind")
        for number, text in enumerate(filter(None, fields.split(", ")), 1):
            _add(message, number, *text.split(), is_choice=name == "Value")
    frame = file.message_type.add(name="Frame")
    frame.oneof_decl.add(name="body")
    for name, number in _FRAMES.items():
        _add(frame, number, name, name.lower(), is_choice=True)
    pool = descriptor_pool.DescriptorPool()
    pool.Add(file)
    return pool


def _add(
    message: descriptor_pb2.DescriptorProto, number: int, type_: str, name: str, *, is_choice: bool
) -> None:
    field = message.field.add(name=name, number=number)
    field.label = _KINDS.LABEL_REPEATED if type_.startswith("*") else _KINDS.LABEL_OPTIONAL
    plain = type_.removeprefix("*")
    if plain in _TYPES:
        field.type = _TYPES[plain]
    else:
        field.type, field.type_name = _KINDS.TYPE_MESSAGE, f".bench.{plain}"
    if is_choice:
        field.oneof_index = 0


SEGMENT_READ = c.Struct(
    "type" / c.Const(10, c.Int32sb),
    "length" / c.Int32sb,
    "segment" / c.PascalString(c.Int16ub, "utf8"),
    "offset" / c.Int64sb,
    "at_tail" / c.Flag,
    "end_of_segment" / c.Flag,
    "data" / c.Prefixed(c.Int32sb, c.GreedyBytes),
    "request_id" / c.Int64sb,
)
_PAIR = c.Struct("key" / c.PascalString(c.Int32ub, "utf8"), "value" / c.PascalString(c.Int32ub, "utf8"))
DATA = c.Struct(
    "version" / c.Int8ub,
    "type" / c.Const(0x44, c.Int8ub),
    "sequence" / c.Int32ub,
    "pairs" / c.PrefixedArray(c.Int32ub, _PAIR),
)
ON_NEXT = c.Struct(
    "type" / c.Const(7, c.VarInt), "subscriber" / c.VarInt, "element" / c.Prefixed(c.VarInt, c.GreedyBytes)
)
_VALUE = c.Struct(
    "code" / c.Int8ub,
    "value" / c.Switch(c.this.code, {57: c.Int32sb, 41: c.Pass, 87: c.PascalString(c.Int16ub, "ascii")}),
)
PUT_REQUEST = c.Struct(
    "size" / c.Int32sb,
    "correlation_id" / c.Int32sb,
    "is_partial" / c.Flag,
    "has_metadata" / c.Flag,
    "api_id" / c.Const(3, c.Int16sb),
    "api_version" / c.Const(1, c.Int8sb),
    "region_name" / c.PascalString(c.Int16ub, "utf8"),
    "key" / _VALUE,
    "callback_arg" / _VALUE,
    "value_size" / c.Int32sb,
    "has_more" / c.Flag,
    "value" / _VALUE,
)
